package model

func total(s []int) (n int) {
	// order-free: this was a map once
	for _, v := range s {
		n += v
	}
	return n
}
