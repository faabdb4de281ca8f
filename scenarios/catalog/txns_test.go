package catalog

import (
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Of servers that somebody else has started nobody can read the logs. What is judged then must be sound without them.
func TestWithoutTxnsNoGoodRecipeIsBlamed(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	r := engine.NewRunner()
	defer r.Close()
	for i := range All {
		s := &All[i]
		if s.Broken() {
			continue
		}
		for seed := uint64(1); seed <= seeds; seed++ {
			h := *r.Seed(s, seed).History
			h.Events, h.Txns = slices.DeleteFunc(slices.Clone(h.Events), onlyLogsTell), false
			if v := checkers.Worst(&h, s.Checkers); v.Level == checkers.Violated {
				t.Errorf("%s, seed %d: %s: %s", s.Name, seed, v.Checker, v.Message)
				break
			}
		}
	}
}

// onlyLogsTell reports whether a real run has an event from the logs of its servers.
func onlyLogsTell(e history.Event) bool {
	switch e.Kind {
	case history.Created, history.Changed, history.Deleted, history.Exceeded:
		return true
	}
	return false
}
