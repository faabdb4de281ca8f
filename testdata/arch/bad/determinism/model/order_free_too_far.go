package model

func product(m map[string]int) int {
	// order-free: a product does not depend on the order
	n := 1
	for _, v := range m {
		n *= v
	}
	return n
}
