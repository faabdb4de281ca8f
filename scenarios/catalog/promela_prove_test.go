package catalog_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

func init() {
	catalog.OurSearches = append(catalog.OurSearches, catalog.OurSearch{Name: "prove", Judge: exhaust, Bounded: true})
}

// exhaust judges a scenario by all schedules: one that must hold with at most one fault
// and by the checkers that need no order of events, with what half a minute allows
// but at least without faults, a broken one by those that must find its flaw.
func exhaust(t *testing.T, s *engine.Scenario, _ uint64) []string {
	x, wanted, most, limit := *s, prove.OfState, 1, 30*time.Second
	if s.Broken() {
		wanted, most = func(c checkers.Checker) bool { return slices.Contains(s.Caught, c.Name()) }, -1
		limit *= 3
	}
	x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers), func(c checkers.Checker) bool { return !wanted(c) })
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r, err := prove.Prove(ctx, prove.Scope{Scenario: &x, Servers: 1, Order: 1, Faults: s.Faults, Most: most,
		SlowWakes: s.Broken()},
		prove.Options{Reductions: prove.Every})
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
