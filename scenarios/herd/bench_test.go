package herd

import (
	"strconv"
	"testing"

	"zksim/scenarios"
)

func BenchmarkMeasure(b *testing.B) {
	for i := range All {
		v := &All[i]
		for _, n := range []int{1000, 10_000} {
			if v.Fits(n) {
				b.Run(v.Name+"/"+strconv.Itoa(n), func(b *testing.B) {
					r := scenarios.NewRunner()
					defer r.Close()
					for b.Loop() {
						if _, err := Measure(b.Context(), r, v, n, 1); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
