package prove

import (
	"testing"
	"time"

	"zksim/scenarios"
)

// small returns a scenario of the list with two clients and one round.
func small(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	for i := range scenarios.All {
		if s := &scenarios.All[i]; s.Name == name {
			x, err := s.Sized(2, min(s.Rounds, 1))
			if err != nil {
				t.Fatal(err)
			}
			return &x
		}
	}
	t.Fatal("no scenario " + name)
	return nil
}

func smallest(s *scenarios.Scenario) int {
	if len(s.Servers) > 0 && s.Servers[0] == 3 {
		return 3
	}
	return 1
}

// TestReductionsLoseNoOutcomeOfRecipes compares searches on every scenario, correct or
// broken, that a plain search closes in a moment.
func TestReductionsLoseNoOutcomeOfRecipes(t *testing.T) {
	all, limit, least := combinations(), 600*time.Millisecond, 5
	if testing.Short() {
		all, limit, least = []Reductions{Every}, 300*time.Millisecond, 0
	}
	closed, outcomes := 0, 0
	for i := range scenarios.All {
		s := small(t, scenarios.All[i].Name)
		if i%3 > 0 || (smallest(s) == 3 || i%4 > 0) && testing.Short() {
			continue
		}
		sc := Scope{Scenario: s, Servers: smallest(s), Order: 1, Most: -1}
		for _, text := range []string{"none", "disconnect=1", "expire=1 crash=1", "pause=1 cancel=1"} {
			if sc.Faults = plan(t, text); text == "none" {
				sc.Faults = nil
			}
			sc.Most = 1
			n := sound(t, sc, limit, all...)
			if n == 0 {
				break // more faults take longer
			}
			closed++
			outcomes += n
		}
	}
	if closed < least {
		t.Errorf("only %d searches were closed", closed)
	}
	t.Logf("%d searches, %d outcomes", closed, outcomes)
}
