package model

import (
	"maps"
	"slices"
)

func calm(m map[string]int) (n int, names []string) {
	// order-free: a sum does not depend on the order, and this reason is
	// so long that it takes two lines
	for _, v := range m {
		n += v
	}
	for k := range m { // order-free: every entry goes
		delete(m, k)
	}
	for range m {
		n++
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		names = append(names, k)
	}
	return n, append(names, slices.Sorted[string](maps.Keys[map[string]int](m))...)
}
