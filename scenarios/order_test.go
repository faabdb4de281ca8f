package scenarios

import (
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
)

// TestVerdictsDependOnNothingButTheOrderThatCheckersName takes histories of all
// scenarios, leaves out the events that a checker says it does not look at, and swaps
// neighbours whose order it says does not matter: the level of its verdict stays.
func TestVerdictsDependOnNothingButTheOrderThatCheckersName(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	r := NewRunner()
	defer r.Close()
	random := rand.New(rand.NewPCG(5, 6))
	levels := map[checkers.Level]int{}
	for i := range All {
		s := &All[i]
		for seed := range uint64(seeds) {
			h := r.Seed(s, seed+1).History
			for _, c := range s.Checkers {
				x, ok := c.(checkers.Ordered)
				if !ok {
					t.Errorf("%s does not say what it depends on", c.Name())
					continue
				}
				order, want := x.Order(), c.Check(h).Level
				levels[want]++
				other := *h
				other.Events = slices.DeleteFunc(slices.Clone(h.Events), func(e history.Event) bool { return !order.Sees(e.Kind) })
				if got := c.Check(&other).Level; got != want {
					t.Fatalf("%s, seed %d: %s says %v, and %v without the events that it does not look at", s.Name, seed+1, c.Name(), want, got)
				}
				for range 10 {
					swapped := *h
					swapped.Events = swap(h.Events, &order, random)
					if got := c.Check(&swapped).Level; got != want {
						t.Fatalf("%s, seed %d: %s says %v, and %v with events swapped", s.Name, seed+1, c.Name(), want, got)
					}
				}
			}
		}
	}
	if levels[checkers.Violated] < 100 || levels[checkers.OK] < 1000 {
		t.Errorf("only verdicts %v", levels)
	}
}

// swap goes over a copy of events a few times and swaps neighbours at random where
// that should make no difference.
func swap(events []history.Event, order *checkers.Order, random *rand.Rand) []history.Event {
	list := slices.Clone(events)
	for range 3 {
		for i := 1; i < len(list); i++ {
			a, b := &list[i-1], &list[i]
			if a.Client != b.Client && !order.Matters(a.Kind, b.Kind) && random.IntN(2) == 0 {
				*a, *b = *b, *a
			}
		}
	}
	return list
}
