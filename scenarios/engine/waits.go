package engine

import (
	"regexp"

	"zksim/internal/stacks"
	"zksim/model/history"
	"zksim/sim"
)

// Waits notes in the history of a run where the code of each client that waits at the end does so. It makes the run
// again: the schedule must have the names of all its steps. It fails if that is not possible.
func Waits(s *Scenario, schedule Schedule, h *history.History) error {
	if s.Outside != nil || s.Elsewhere != nil || len(h.Waiting) == 0 {
		return nil
	}
	r := NewRunner()
	defer r.Close()
	f := &waitFinder{world: r.world, runs: map[uint64]doer{}}
	r.world.Watch, r.world.Strict = f, true
	r.world.OnStep = func() {
		if r.world.Step() == len(schedule.Names) {
			f.stacks = labelled()
		}
	}
	if _, err := r.Replay(s, schedule); err != nil {
		return err
	}
	for i := range h.Waiting {
		x := &h.Waiting[i]
		for goroutine, pcs := range f.stacks { // order-free: no two do the same
			if f.runs[goroutine] == (doer{int(x.Client), x.Where}) {
				x.Calls = callsOf(pcs)
			}
		}
	}
	return nil
}

// waitFinder knows what each goroutine of client code does. It implements [sim.Watch].
type waitFinder struct {
	world  *sim.World
	runs   map[uint64]doer
	stacks map[uint64][]uintptr // at the end of the run
}

// doer is a client and the name of its coroutine.
type doer struct {
	client int
	task   string
}

// Runs implements [sim.Watch].
func (f *waitFinder) Runs(goroutine uint64, client int) {
	label(goroutine)
	f.runs[goroutine] = doer{client, f.world.Clients()[client-1].Task()}
}

// Resume implements [sim.Watch].
func (*waitFinder) Resume(int) {}

// Park implements [sim.Watch].
func (*waitFinder) Park(int, uint64, int) {}

// literal matches the names of function literals. They depend on what the compiler has inlined, so they are left out:
// the same run would have other names with -race.
var literal = regexp.MustCompile(`\.func\d`)

// ofHarness matches functions, with their files, that call client code, or that client code calls to be recorded.
var ofHarness = regexp.MustCompile(`^zksim/scenarios/(engine|workload)\.|^func .*/scenarios/(engine|workload)/[^/]*$`)

// callsOf returns the calls of client code on a stack as text, the innermost first, without those of the harness.
func callsOf(pcs []uintptr) (calls []string) {
	for _, x := range clientFrames(pcs) {
		if literal.MatchString(x.Function) {
			x.Function = "func"
		}
		if !ofHarness.MatchString(x.Function + " " + x.File) {
			calls = append(calls, stacks.Frame{Func: x.Function, File: stacks.Short(x.File), Line: x.Line}.String())
		}
	}
	return calls
}
