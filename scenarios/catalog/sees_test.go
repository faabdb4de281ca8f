package catalog

import (
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// TestVerdictsDependOnNothingThatMonitorsDoNotSee takes histories of all scenarios, and leaves out the
// events that a checker's monitor is not shown: the level of its verdict stays.
func TestVerdictsDependOnNothingThatMonitorsDoNotSee(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	r := engine.NewRunner()
	defer r.Close()
	levels := map[checkers.Level]int{}
	for i := range All {
		s := &All[i]
		for seed := range uint64(seeds) {
			h := r.Seed(s, seed+1).History
			for _, c := range s.Checkers {
				x, ok := c.(checkers.Monitored)
				if !ok {
					continue
				}
				m, want := x.Monitor(), c.Check(h).Level
				levels[want]++
				other := *h
				other.Events = slices.DeleteFunc(slices.Clone(h.Events),
					func(e history.Event) bool { return !checkers.Sees(m, e.Kind) })
				if got := c.Check(&other).Level; got != want {
					t.Fatalf("%s, seed %d: %s says %v, and %v without the events that it does not see", s.Name, seed+1, c.Name(), want,
						got)
				}
			}
		}
	}
	if levels[checkers.Violated] < 100 || levels[checkers.OK] < 1000 {
		t.Errorf("only verdicts %v", levels)
	}
}
