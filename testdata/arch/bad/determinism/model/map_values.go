package model

import "maps"

func values(m map[string]int) (last int) {
	for v := range maps.Values(m) {
		last = v
	}
	return last
}
