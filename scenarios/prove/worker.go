package prove

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"zksim/checkers"
	"zksim/scenarios"
	"zksim/sim"
)

// point is a state that was reached for the first time: how, and what is to be
// explored after it.
type point struct {
	parent *point
	by     sim.Transition
	depth  int32
	faults int32 // on the way

	// groups are what is possible here. The first is explored; each further one
	// only if a step of the one before turns out to matter to others.
	groups [][]sim.Transition
	opened atomic.Int32
}

// edge is a step to be explored.
type edge struct {
	from  *point
	by    sim.Transition
	group int32
}

// worker explores edges, one run after the other. It is the chooser of its runs:
// each begins with the way to an edge, takes it, and goes on from there until it
// comes to a state that is known.
type worker struct {
	*search
	runner *scenarios.Runner
	past   *past

	prefix []sim.Transition
	at     int  // in prefix
	next   edge // being taken
	stack  []edge
	normal []sim.Transition
}

// errKnown ends a run at a state that was reached before, errOver one at a limit.
var (
	errKnown = errors.New("known")
	errDeep  = errors.New("deep")
)

func newWorker(s *search) *worker {
	return &worker{search: s, runner: scenarios.NewRunner(), past: newPast(s.scenario)}
}

// explore takes one edge and goes on.
func (w *worker) explore(e edge) {
	w.next, w.at = e, 0
	w.prefix = w.prefix[:0]
	if e.from != nil {
		for p := e.from; p.parent != nil; p = p.parent {
			w.prefix = append(w.prefix, p.by)
		}
		slices.Reverse(w.prefix)
		w.prefix = append(w.prefix, e.by)
	}
	w.past.reset(w.scope.Scenario.Clients)
	res, err := w.runner.Explore(w.scenario, w.schedule, w)
	w.runs.Add(1)
	if err != nil {
		return
	}
	w.complete(&res)
}

// complete judges a run that has come to its end.
func (w *worker) complete(res *scenarios.Result) {
	w.ends.Add(1)
	v := res.Verdict
	switch {
	case v.Level == checkers.Unknown:
		w.doubt(v.Message)
	case v.Level == checkers.Violated && (!w.scenario.Broken() || w.scenario.Catches(v)):
		w.runner.Names(res)
		res.History = nil
		w.refute(res)
	}
	if w.outcome != nil {
		w.outcome(res)
	}
}

// Choose implements [sim.Chooser].
func (w *worker) Choose(world *sim.World) (sim.Transition, bool, error) {
	if !w.scope.Interleave {
		if t, ok := world.Prompt(); ok {
			return t, true, nil
		}
	}
	if w.at < len(w.prefix) {
		if w.at == len(w.prefix)-1 {
			w.past.take(world.History)
		}
		w.at++
		return w.prefix[w.at-1], true, nil
	}
	visible, verdict := w.past.take(world.History)
	if w.next.from != nil {
		w.transitions.Add(1)
		if visible {
			w.widen(w.next)
		}
	}
	if verdict.Level == checkers.Violated {
		return sim.Transition{}, false, nil // judged as a whole when the run has ended
	}
	if world.AsksTime() {
		w.askedTime.Store(true)
	}
	if !w.known.add(stir(world.Fingerprint(), w.past.hash())) {
		return sim.Transition{}, false, errKnown
	}
	if world.Step() >= w.maxDepth {
		w.tooDeep.Store(true)
		return sim.Transition{}, false, errDeep
	}
	p := &point{parent: w.next.from, by: w.next.by, depth: int32(world.Step())}
	if p.parent != nil {
		p.faults = p.parent.faults
		if p.by.Kind >= sim.FirstFault {
			p.faults++
		}
	}
	p.groups = w.groups(world, int(p.faults))
	if len(p.groups) == 0 {
		return sim.Transition{}, false, nil
	}
	w.push(p, 0)
	last := len(w.stack) - 1
	w.next = w.stack[last]
	w.stack = w.stack[:last]
	return w.next.by, true, nil
}

// push puts the edges of a group on the stack, the first on top.
func (w *worker) push(p *point, group int) {
	for _, t := range slices.Backward(p.groups[group]) {
		w.stack = append(w.stack, edge{p, t, int32(group)})
	}
}

// widen opens the next group of the point that e comes from.
func (w *worker) widen(e edge) {
	g := e.group + 1
	if int(g) < len(e.from.groups) && e.from.opened.CompareAndSwap(e.group, g) {
		w.push(e.from, int(g))
	}
}

// groups returns what is possible in a state, none at its end.
func (w *worker) groups(world *sim.World, used int) [][]sim.Transition {
	all := append(w.normal[:0], world.Normal()...)
	if n := len(all); n > 1 && all[n-1].Kind == sim.Tick { // time passes when nothing else happens
		all = all[:n-1]
	}
	normal := len(all)
	if injected := world.Faults(); len(injected) > 0 {
		if used < w.most {
			all = append(all, injected...)
		} else {
			w.capped.Store(true)
		}
	}
	w.normal = all
	if len(all) == 0 {
		return nil
	}
	var groups [][]sim.Transition
	if w.reduce.Persistent && len(all) > 1 {
		groups = w.persistent(world, all, normal)
	}
	if w.reverse {
		slices.Reverse(all)
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(t sim.Transition) bool {
		return slices.ContainsFunc(groups, func(g []sim.Transition) bool { return slices.Contains(g, t) })
	})
	if len(rest) > 0 {
		groups = append(groups, rest)
	}
	return groups
}

// persistent returns, for each client of which that is true, everything that can
// happen to it now, where none of this can make a difference to what happens to
// others or the other way round, the fewest first. It is enough to explore one of
// these sets, unless a step of it writes something to the history whose order
// matters (persistent sets: Godefroid, Partial-Order Methods for the Verification
// of Concurrent Systems, 1996).
//
// A sequence of steps that begins with those of others contains one of the set in
// the end, since nothing disables it; that step can be taken first.
func (w *worker) persistent(world *sim.World, all []sim.Transition, normal int) [][]sim.Transition {
	var groups [][]sim.Transition
	for _, c := range world.Clients() {
		if !c.Secluded() {
			continue
		}
		n, moves := 0, 0
		for i, t := range all {
			switch {
			case int(t.Client) != c.ID():
				continue
			case i < normal && world.Local(t):
				moves++
			case i >= normal && w.injector.Local(world, t):
			default:
				n = math.MinInt
			}
			n++
		}
		if n <= 0 || moves == 0 {
			continue
		}
		g := make([]sim.Transition, 0, n)
		for _, t := range all {
			if int(t.Client) == c.ID() {
				g = append(g, t)
			}
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b []sim.Transition) int { return len(a) - len(b) })
	return groups
}
