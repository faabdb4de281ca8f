package catalog

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"zksim/checkers"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// drawn is a chooser whose choices come from a generator: a number from firstFault
// on picks a fault if one is possible, a lower one a normal transition. After the
// last it is fair and without faults, so that a shorter list of choices is a
// shorter schedule and still a complete run.
type drawn struct {
	choices []int
	next    int
	fair    sim.Replay
}

func (d *drawn) Choose(w *sim.World) (sim.Transition, bool, error) {
	if d.next == len(d.choices) {
		return d.fair.Choose(w)
	}
	list := w.Normal()
	if len(list) == 0 {
		return sim.Transition{}, false, nil
	}
	k := d.choices[d.next]
	d.next++
	if faults := w.Faults(); k >= firstFault && len(faults) > 0 {
		k, list = k-firstFault, faults
	}
	return list[k%len(list)], true, nil
}

const firstFault = 20

// expectant is a rapid.TB for a check that should fail.
type expectant struct {
	*testing.T
	failed bool
	output string
}

type ended struct{}

func (e *expectant) Failed() bool                    { return e.failed }
func (e *expectant) Logf(format string, args ...any) { e.output += fmt.Sprintf(format, args...) + "\n" }
func (e *expectant) Log(args ...any)                 { e.output += fmt.Sprintln(args...) }
func (e *expectant) Fail()                           { e.failed = true }
func (e *expectant) FailNow()                        { e.failed = true; panic(ended{}) }
func (e *expectant) Error(args ...any)               { e.Log(args...); e.Fail() }
func (e *expectant) Fatal(args ...any)               { e.Log(args...); e.FailNow() }
func (e *expectant) Errorf(f string, args ...any)    { e.Logf(f, args...); e.Fail() }
func (e *expectant) Fatalf(f string, args ...any)    { e.Logf(f, args...); e.FailNow() }

// setRapid sets flags of rapid until the test ends.
func setRapid(t *testing.T, flags map[string]string) {
	t.Helper()
	for name, value := range flags {
		f := flag.Lookup("rapid." + name)
		old := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Value.Set(old) })
	}
}

// falsify runs a rapid check and reports whether it failed.
func falsify(t *testing.T, prop func(*rapid.T)) (failed bool) {
	t.Helper()
	e := &expectant{T: t}
	defer func() {
		if r := recover(); r != nil && r != (ended{}) {
			panic(r)
		}
		failed = e.failed
	}()
	rapid.Check(e, prop)
	return e.failed
}

// drawnRun is the run of a scenario by drawn choices.
func drawnRun(t *rapid.T, r *engine.Runner, s *engine.Scenario) engine.Result {
	p := engine.Schedule{Scenario: s.Name, Servers: 1, Faults: s.Faults}
	if len(s.Servers) > 0 {
		p.Servers = rapid.SampledFrom(s.Servers).Draw(t, "servers")
	}
	p.Order = rapid.Uint64Max(64).Draw(t, "order")
	// A list of lists, because those of rapid have six elements on average.
	choices := slices.Concat(rapid.SliceOf(rapid.SliceOf(rapid.IntRange(0, firstFault+12))).Draw(t, "choices")...)
	res, err := r.Explore(s, p, &drawn{choices: choices})
	if err != nil {
		t.Fatal(err)
	}
	r.Names(&res)
	res.Schedule.Names = res.Schedule.Names[:min(len(choices), len(res.Schedule.Names))]
	return res
}

func TestRapidFindsBrokenMutantsAndShrinksTheirSchedules(t *testing.T) {
	setRapid(t, map[string]string{"checks": "60000", "seed": "1", "nofailfile": "true", "shrinktime": "3s"})
	for _, name := range []string{"plain-create", "ignore-exists", "name-sort", "leak-on-error", "keep-held",
		"cancel-leak", "watch-only", "wedged", "same-session"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapidCatches(t, Named("lock/"+name))
		})
	}
}

// short bounds the schedules that rapid's shrinking leaves; 24 is the longest
// seen. The steps after it, until the end of the run, are nobody's choice.
const short = 40

func rapidCatches(t *testing.T, s *engine.Scenario) {
	r := engine.NewRunner()
	defer r.Close()
	var least engine.Schedule
	failed := falsify(t, func(t *rapid.T) {
		res := drawnRun(t, r, s)
		if v := res.Verdict; s.Catches(v) {
			least = res.Schedule // the last failure is the smallest
			least.Checker = v.Checker
			t.Fatalf("%s", v.Checker)
		}
	})
	if !failed {
		t.Fatal("rapid has not found the flaw")
	}
	if len(least.Names) > short {
		t.Errorf("shrunk to %d steps, want at most %d: %q", len(least.Names), short, least.Names)
	}
	res, err := r.Replay(s, least)
	if err != nil || res.Verdict.Checker != least.Checker {
		t.Errorf("replayed: %v, %+v; want %s", err, res.Verdict, least.Checker)
	}
	t.Logf("%s, %d servers, %d steps: %s", least.Checker, least.Servers, len(least.Names), strings.Join(least.Names, ", "))
}

func TestCorrectLocksHoldWhateverRapidChooses(t *testing.T) {
	checks := "2000"
	if testing.Short() {
		checks = "300"
	}
	setRapid(t, map[string]string{"checks": checks, "nofailfile": "true"})
	for _, name := range []string{"lock", "workers", "single-node"} {
		s := Named("lock/" + name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := engine.NewRunner()
			defer r.Close()
			rapid.Check(t, func(t *rapid.T) {
				if res := drawnRun(t, r, s); res.Verdict.Level != checkers.OK {
					t.Fatalf("%+v\n%s", res.Verdict, strings.Join(res.Schedule.Names, "\n"))
				}
			})
		})
	}
}
