package faults

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEveryWayToShareFaultsCounts charges faults to rules at random. It compares which rules may strike once more with
// a list of everything that can be left of the budgets. Rules with one aim need not allow the same, because one that
// was added later has counted fewer requests.
func TestEveryWayToShareFaultsCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		in := &Injector{}
		ways := [][]int{nil}
		for range 1 + r.IntN(4) {
			budget := r.IntN(4)
			in.rules = append(in.rules, rule{Rule: Rule{Aim: Aim{Nth: r.IntN(3)}, Budget: budget}, left: budget})
			ways[0] = append(ways[0], budget)
		}
		for {
			var by []int
			for i := range in.rules {
				if r.IntN(2) == 0 {
					by = append(by, i)
				}
			}
			next := charged(ways, by)
			if free := slices.ContainsFunc(by, in.free); free != (len(next) > 0) {
				t.Fatalf("of budgets %v, may one of the rules %v strike: %v, expected %v", ways, by, free, !free)
			}
			if len(next) == 0 {
				break
			}
			in.charge(by)
			ways = next
		}
	}
}

// charged returns what can be left of budgets after a fault that counts for one of these rules.
func charged(ways [][]int, by []int) (all [][]int) {
	for _, way := range ways {
		for _, i := range by {
			if way[i] > 0 {
				next := slices.Clone(way)
				next[i]--
				all = append(all, next)
			}
		}
	}
	slices.SortFunc(all, slices.Compare)
	return slices.CompactFunc(all, slices.Equal)
}
