package prove

import (
	"cmp"
	"testing"

	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// small returns a scenario of the list with two clients and one round.
func small(t testing.TB, name string) *engine.Scenario {
	t.Helper()
	for i := range catalog.All {
		if s := &catalog.All[i]; s.Name == name {
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

func smallest(s *engine.Scenario) int {
	if len(s.Servers) > 0 && s.Servers[0] == 3 {
		return 3
	}
	return 1
}

// TestReductionsLoseNoOutcomeOfRecipes compares searches on every scenario, correct or
// broken, that a plain search closes in a moment.
func TestReductionsLoseNoOutcomeOfRecipes(t *testing.T) {
	all, limit, least := combinations(), 4_000, 5
	if testing.Short() {
		all, limit, least = []Reductions{Every}, 1_000, 0
	}
	closed, outcomes := 0, 0
	for i := range catalog.All {
		s := small(t, catalog.All[i].Name)
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

// TestWhatOnlyALargerScopeShows has flaws that need a timer which fires while messages are on
// their way, a goroutine that takes its time when the connection is lost, or a schedule without an end.
func TestWhatOnlyALargerScopeShows(t *testing.T) {
	for _, x := range []struct {
		name    string
		faults  string
		widen   func(*Scope)
		struck  int
		checker string
	}{
		{"commit/own-decision", "", func(sc *Scope) { sc.Ticks = 1 }, 0, "atomicity"},
		{"commit/blind-abort", "", func(sc *Scope) { sc.Ticks = 1 }, 0, "validity"},
		{"commit/blind-vote", "lose-reply=1@op=set", func(sc *Scope) { sc.SlowWakes = true }, 1, "atomicity"},
		{"lock/closed-spin", "learn-late=1", nil, 1, "steps"},
	} {
		sc := Scope{Scenario: small(t, x.name), Servers: 1, Order: 1, Most: -1, Faults: plan(t, cmp.Or(x.faults, "none"))}
		o := Options{Reductions: Every, Doubt: 20}
		if x.widen != nil {
			if r, err := Prove(t.Context(), sc, o); err != nil || r.Outcome != Holds {
				t.Errorf("%s: %v, %v", x.name, &r.Certificate, err)
			}
			x.widen(&sc)
		}
		r, err := Prove(t.Context(), sc, o)
		if err != nil || r.Outcome != Violated || r.Checker != x.checker || r.Struck != x.struck {
			t.Errorf("%s: %v, %v", x.name, &r.Certificate, err)
			continue
		}
		runner := engine.NewRunner()
		again, err := runner.Replay(sc.Scenario, r.Counterexample.Schedule)
		runner.Close()
		if err != nil || again.Verdict.Checker != x.checker {
			t.Errorf("%s: replayed: %v, %v", x.name, again.Verdict, err)
		}
		cert := r.Certificate
		if back, err := cert.Scope(catalog.All); err != nil || back.Ticks != sc.Ticks || back.SlowWakes != sc.SlowWakes {
			t.Errorf("%s: the certificate is of %+v, %v", x.name, back, err)
		}
	}
}
