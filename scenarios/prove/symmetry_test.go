package prove

import (
	"testing"

	"zksim/scenarios/catalog"
)

// TestSymmetryChangesNoVerdict compares searches of every scenario whose clients are
// alike, with several orders of the names that clients make.
func TestSymmetryChangesNoVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	orders := uint64(4)
	compared := 0
	with := Every
	with.Symmetry = true
	for i := range catalog.All {
		s := small(t, catalog.All[i].Name)
		if s.Alike() == nil || smallest(s) == 3 {
			continue
		}
		for order := range orders {
			sc := Scope{Scenario: s, Servers: 1, Order: order + 1, Faults: plan(t, "lose-reply=1 disconnect=1"), Most: 0}
			a, b := brief(t, sc, Every), brief(t, sc, with)
			if a.Outcome == Inconclusive || b.Outcome == Inconclusive {
				break
			}
			if why := a.Differs(&b); why != "" {
				t.Errorf("%s, order %d: %s\n%v\n%v", s.Name, sc.Order, why, &a, &b)
			}
			compared++
		}
	}
	if compared < 2 {
		t.Errorf("only %d scenarios were compared", compared)
	}
}

// brief searches few states.
func brief(t *testing.T, sc Scope, r Reductions) Certificate {
	t.Helper()
	res, err := Prove(t.Context(), sc, Options{Reductions: r, States: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	return res.Certificate
}
