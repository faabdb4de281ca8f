package model

func nested(m map[int]map[int]int) (last int) {
	for _, inner := range m { // order-free: this line only
		for k := range inner {
			last = k
		}
	}
	return last
}
