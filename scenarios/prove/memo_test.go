package prove

import (
	"testing"

	"zksim/scenarios/catalog"
)

// TestWhatIsRememberedMakesNoDifference searches, in all scenarios, with a memo and by running the
// code for every transition, in the same order.
func TestWhatIsRememberedMakesNoDifference(t *testing.T) {
	limit := 3500
	if testing.Short() {
		limit = 1000
	}
	for i := range catalog.All {
		s := small(t, catalog.All[i].Name)
		sc := Scope{Scenario: s, Servers: smallest(s), Order: 1, Faults: s.Faults, Most: 2, SlowWakes: i%3 == 0,
			Offline: i%5 == 0, Ticks: i % 4 / 3}
		if i%2 == 0 {
			sc.Faults = plan(t, "disconnect=2 expire=1 pause=1")
		}
		var results [2]Result
		for k := range results {
			r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 1, States: limit, Rerun: k == 1, Doubt: 20})
			if err != nil {
				t.Error(err)
			}
			results[k] = r
		}
		a, b := &results[0], &results[1]
		if d := a.Differs(&b.Certificate); d != "" {
			t.Errorf("%s: %s", s.Name, d)
		}
		if a.Last != b.Last {
			t.Errorf("%s: %+v with a memo, and %+v", s.Name, a.Last, b.Last)
		}
	}
}
