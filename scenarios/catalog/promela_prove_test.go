package catalog_test

import (
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

func init() {
	catalog.OurSearches = append(catalog.OurSearches, catalog.OurSearch{Name: "prove", Judge: exhaust, Bounded: true})
}

// exhaust judges a scenario by all schedules: one that must hold with at most one fault
// and by the checkers that need no order of events, up to a number of states
// but at least without faults, a broken one by those that must find its flaw.
func exhaust(t *testing.T, s *engine.Scenario, _ uint64) []string {
	x, wanted, most, states := *s, prove.OfState, 1, 200_000
	if s.Broken() {
		wanted, most = func(c checkers.Checker) bool { return slices.Contains(s.Caught, c.Name()) }, -1
		states *= 10
	}
	x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers), func(c checkers.Checker) bool { return !wanted(c) })
	r, err := prove.Prove(t.Context(), prove.Scope{Scenario: &x, Servers: 1, Order: 1, Faults: s.Faults, Most: most,
		SlowWakes: s.Broken()},
		prove.Options{Reductions: prove.Every, States: states})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Certificate.String())
	switch r.Outcome {
	case prove.Violated:
		return []string{r.Checker}
	case prove.Inconclusive:
		if len(r.Levels) == 0 {
			t.Errorf("no verdict: %s", r.Why)
		}
	}
	return nil
}
