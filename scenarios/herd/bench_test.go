package herd_test

import (
	"strconv"
	"testing"

	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

func BenchmarkMeasure(b *testing.B) {
	for i := range variants.All {
		v := &variants.All[i]
		for _, n := range []int{1000, 10_000} {
			if v.Fits(n) {
				b.Run(v.Name+"/"+strconv.Itoa(n), func(b *testing.B) {
					r := engine.NewRunner()
					defer r.Close()
					for b.Loop() {
						if _, err := herd.Measure(b.Context(), r, v, n, 1); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
