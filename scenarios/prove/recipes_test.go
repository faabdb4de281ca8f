package prove

import (
	"cmp"
	"os"
	"testing"

	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// small returns a scenario of the list with two clients and one round.
func small(t testing.TB, name string) *engine.Scenario {
	t.Helper()
	s := catalog.Named(name)
	x, err := s.Sized(2, min(s.Rounds, 1))
	if err != nil {
		t.Fatal(err)
	}
	return &x
}

// whole is whether tests over the catalogue take all of it, and several times as many states.
var whole = os.Getenv("ZKSIM_WHOLE") == "1"

// budget returns how much a test does with -short, usually, and if whole.
func budget(few, usual, all int) int {
	switch {
	case whole:
		return all
	case testing.Short():
		return few
	}
	return usual
}

// examined returns the scenarios of the catalogue, each small: those of correct recipes and, unless whole, every
// fourth mutant, since most of its code is that of a correct recipe.
func examined(t testing.TB) []*engine.Scenario {
	t.Helper()
	var list []*engine.Scenario
	mutants := 0
	for i := range catalog.All {
		if catalog.All[i].Broken() {
			if mutants++; mutants%4 > 0 && !whole {
				continue
			}
		}
		list = append(list, small(t, catalog.All[i].Name))
	}
	return list
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
	all, limit, least := combinations(), budget(1_000, 2_000, 4_000), 5
	if testing.Short() {
		all, least = []Reductions{Every}, 0
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
