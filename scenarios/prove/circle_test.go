package prove

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// spins has c2 look at a znode again and again, if it has read it too early. It keeps nothing of these rounds, so each
// comes back to the same state.
func spins(p *engine.Process) {
	if p.ID == 1 {
		p.Conn.Set("/d", []byte("x"), -1)
		return
	}
	recipes.Forget(p.Env)()
	data, _, _ := p.Conn.Get("/d")
	early := len(data) == 0
	end := recipes.Forget(p.Env)
	for early {
		p.Conn.Exists("/d")
		recipes.Keep(p.Env, &early)
	}
	end(&early)
}

// polls has c2 look at a znode again and again until c1 has written.
func polls(p *engine.Process) {
	if p.ID == 1 {
		stubborn(func() error {
			_, err := p.Conn.Set("/d", []byte("x"), -1)
			return err
		})
		return
	}
	end := recipes.Forget(p.Env)
	for {
		if data, _, _ := p.Conn.Get("/d"); len(data) > 0 {
			break
		}
		recipes.Keep(p.Env)
	}
	end()
}

// both has each wait for the other to write, by looking again and again.
func both(p *engine.Process) {
	end := recipes.Forget(p.Env)
	for {
		if data, _, _ := p.Conn.Get([]string{"/d", "/w"}[p.ID-1]); len(data) > 0 {
			break
		}
		recipes.Keep(p.Env)
	}
	end()
	p.Conn.Set([]string{"/w", "/d"}[p.ID-1], []byte("x"), -1)
}

// TestALoopWithoutAnEndIsFoundThoughItKeepsNothing has loops that end and loops that do not, in no state by themselves.
func TestALoopWithoutAnEndIsFoundThoughItKeepsNothing(t *testing.T) {
	for _, x := range []struct {
		tiny
		want Outcome
	}{
		{tiny{name: "spins", program: spins}, Violated},
		{tiny{name: "polls", program: polls}, Holds},
		{tiny{name: "both", program: both}, Violated},
		{tiny{name: "spins", program: spins, faults: "disconnect=1"}, Violated},
		{tiny{name: "polls", program: polls, faults: "disconnect=1"}, Holds},
	} {
		x.checker = checkers.Steps{}
		sc := x.scope(t)
		sc.Scenario.SafetySteps, sc.Scenario.MaxSteps = 300, 1000
		for _, o := range []Options{{}, {Reverse: true}, {Rerun: true}} {
			o.Reductions = Every
			if r := certify(t, sc, o); r.Outcome != x.want || x.want == Violated && r.Checker != "steps" {
				t.Errorf("%s, %+v: %v", x.name, o, &r.Certificate)
			}
		}
		p, _, err := ProvePortion(t.Context(), sc, Options{Reductions: Every}, 1, 1)
		if err != nil || p.Outcome != Inconclusive {
			t.Errorf("%s, as a portion: %v, %v", x.name, p.Outcome, err)
		}
		o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), States: 5}
		r, err := Prove(t.Context(), sc, o)
		for ; r.Outcome == Inconclusive && err == nil && o.States < 1000; o.States += 5 {
			r, err = Prove(t.Context(), sc, o)
		}
		if r.Outcome != x.want || err != nil {
			t.Errorf("%s, in pieces: %v, %v", x.name, &r.Certificate, err)
		}
	}
}

// circling is a context that is done as soon as a second search looks for loops without an end.
type circling struct{ context.Context }

func (circling) Err() error {
	if strings.Contains(string(debug.Stack()), "circles(") {
		return context.Canceled
	}
	return nil
}

// TestASearchForLoopsThatIsInterruptedIsResumed has the level saved that is closed until then.
func TestASearchForLoopsThatIsInterruptedIsResumed(t *testing.T) {
	x := tiny{name: "spins", program: spins, checker: checkers.Steps{}}
	sc := x.scope(t)
	sc.Scenario.SafetySteps, sc.Scenario.MaxSteps = 300, 1000
	o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	r, err := Prove(circling{t.Context()}, sc, o)
	const want = "; whether some loop has no end is not known"
	if err != nil || r.Outcome != Inconclusive || !strings.HasSuffix(r.Why, want) || r.Last.States == 0 {
		t.Fatalf("%v, %v, expected %s", &r.Certificate, err, want)
	}
	saved, err := (&prover{scope: sc, Options: Options{Reductions: Every, Checkpoint: o.Checkpoint, Stuck: usuallyStuck},
		result: Result{Certificate: Certificate{Claim: sc.claim(Every)}}}).resume()
	if err != nil || saved == nil || len(saved.Edges) > 0 || len(saved.Hops) == 0 {
		t.Fatalf("%+v, %v, expected a level that is closed", saved, err)
	}
	if r, err = Prove(t.Context(), sc, o); err != nil || r.Outcome != Violated || r.Checker != "steps" {
		t.Errorf("%v, %v", &r.Certificate, err)
	}
}
