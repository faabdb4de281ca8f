package engine_test

import (
	"slices"
	"testing"

	"zksim/scenarios/engine"
)

// TestNumbersAreDrawnBySeedAndClient: what one client draws does not depend on what others have drawn before.
func TestNumbersAreDrawnBySeedAndClient(t *testing.T) {
	draw := func(seed uint64, ids ...int) (list []int) {
		d := engine.Draws{Seed: seed}
		for _, id := range ids {
			list = append(list, d.Choose(&engine.Process{ID: id}, 1000))
		}
		return list
	}
	one, two := draw(7, 1, 1, 1), draw(7, 2, 2, 2)
	both := draw(7, 1, 2, 2, 1, 1, 2)
	if want := []int{one[0], two[0], two[1], one[1], one[2], two[2]}; !slices.Equal(both, want) {
		t.Errorf("%v, expected %v", both, want)
	}
	if slices.Equal(one, two) || slices.Equal(one, draw(8, 1, 1, 1)) || one[0] == one[1] && one[1] == one[2] {
		t.Errorf("c1 %v, c2 %v, c1 with another seed %v", one, two, draw(8, 1, 1, 1))
	}
	var seen [5]int
	for seed := range uint64(500) {
		d := engine.Draws{Seed: seed}
		seen[d.Choose(&engine.Process{ID: 1}, 5)]++
	}
	if slices.Min(seen[:]) < 70 {
		t.Errorf("numbers of 500 seeds: %v", seen)
	}
}
