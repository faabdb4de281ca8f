package engine

import (
	"errors"
	"slices"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// Visit is the state of a run after the transitions of a schedule, and what can happen next.
type Visit struct {
	Trace   *history.Trace
	History *history.History // valid until the runner's next run
	// Normal and Faults are the names of the transitions that are possible.
	Normal, Faults []string
	// Over says that the run has ended: nothing is left to happen, the step limit is reached, or code has panicked. Names
	// after the end are ignored.
	Over    bool
	Verdict checkers.Verdict // on the run so far; unless it is Over, without what only the end can show
}

// Visit runs the transitions of a schedule and stops there, before the end of the run. It fails like Replay.
func (r *Runner) Visit(s *Scenario, schedule Schedule) (*Visit, error) {
	if err := s.accept(&schedule); err != nil {
		return nil, err
	}
	halt := &halt{}
	t := &tracer{Replay: sim.Replay{Names: schedule.Names, Then: halt}, world: r.world}
	t.world.OnStep = t.after
	defer func() { t.world.OnStep = nil }()
	result, err := r.run(s, schedule, t)
	switch {
	case errors.Is(err, errHalted):
		if m := Judging(func() { result.Verdict = s.judge(r.world.History) }); m != nil {
			return nil, m
		}
	case err != nil:
		return nil, schedule.misfit(err)
	case result.Misuse != nil:
		return nil, result.Misuse
	}
	return &Visit{Trace: &t.trace, History: r.world.History, Normal: halt.normal, Faults: halt.faults,
		Over: err == nil, Verdict: result.Verdict}, nil
}

// errHalted ends a run that somebody wants to look at.
var errHalted = errors.New("halted")

// halt is a chooser that ends a run and notes what was possible next.
type halt struct{ normal, faults []string }

// Choose implements [sim.Chooser].
func (h *halt) Choose(w *sim.World) (sim.Transition, bool, error) {
	for _, t := range w.Normal() {
		h.normal = append(h.normal, w.Name(t))
	}
	for _, t := range w.Faults() {
		h.faults = append(h.faults, w.Name(t))
	}
	if len(h.normal) == 0 {
		return sim.Transition{}, false, nil
	}
	calm := w.Name(sim.Transition{Kind: sim.Calm})
	if !w.Calm() && !slices.Contains(h.normal, calm) { // when only that is left, it is there
		h.normal = append(h.normal, calm)
	}
	return sim.Transition{}, false, errHalted
}

// GoOn runs the transitions of a schedule and then random ones of a seed, faults included, to the end of the run. The
// schedule of the result has all their names. GoOn fails like Replay.
func (r *Runner) GoOn(s *Scenario, schedule Schedule, seed uint64) (Result, error) {
	random := &sim.Random{FaultRate: usualFaults}
	random.Seed(seed)
	return r.replay(s, schedule, random)
}

// usualFaults is the chance of a fault in each step of GoOn, 1/8, in units of 1/65536.
const usualFaults = 1 << 13
