package model

func sum(m map[string]int) (n int) {
	// order-free:
	for _, v := range m {
		n += v
	}
	return n
}
