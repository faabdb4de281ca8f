package prove

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"zksim/checkers"
	"zksim/scenarios"
	"zksim/sim"
)

// point is a state that was reached for the first time: how, and what is to be
// explored after it.
type point struct {
	parent *point
	by     sim.Transition
	faults int32  // on the way
	class  uint64 // the state as code sees it

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
	began  atomic.Int64 // time of the run in progress, in nanoseconds; 0: none

	prefix []sim.Transition
	at     int  // in prefix
	next   edge // being taken
	stack  []edge
	all    []sim.Transition
	turn   uint64

	readings int    // of the clock, before the step
	class    uint64 // of the latest state
}

// Why a run ends before its time: its state was reached before, it is at the limit of
// steps, or what goes on here goes on elsewhere with the clients exchanged.
var (
	errKnown = errors.New("known")
	errDeep  = errors.New("deep")
	errTwins = errors.New("twins")
)

func newWorker(s *search) *worker {
	w := &worker{search: s, runner: scenarios.NewRunner(), past: newPast(s.remembering(), s.reduce.Monitors)}
	w.runner.Detail = sim.Detail{Zxids: !s.reduce.Zxids, Clock: s.needs.Clock, Ended: !s.reduce.Ended, Forget: s.reduce.Forget && !s.scope.Interleave}
	return w
}

// work explores until there is nothing left.
func (w *worker) work() {
	defer w.runner.Close()
	for {
		edges, more := w.pool.take()
		if !more {
			return
		}
		w.stack = append(w.stack[:0], edges...)
		for len(w.stack) > 0 && !w.pool.halt.Load() {
			w.explore(w.pop())
			if n := len(w.stack) / 2; n > 0 && w.pool.hungry.Load() {
				w.pool.give(w.stack[:n]) // the oldest, which lead to the most
				w.stack = slices.Delete(w.stack, 0, n)
			}
		}
		w.pool.give(w.stack)
	}
}

// pop takes an edge from the stack: the latest, and every other time any, since what is
// far apart in the search is more likely to be different.
func (w *worker) pop() edge {
	last := len(w.stack) - 1
	if w.turn++; w.turn%2 == 0 {
		i := int(checkers.Print(w.turn).Word(uint64(last)) % checkers.Print(last+1))
		w.stack[i], w.stack[last] = w.stack[last], w.stack[i]
	}
	return w.top()
}

// top takes the latest edge from the stack.
func (w *worker) top() edge {
	last := len(w.stack) - 1
	e := w.stack[last]
	w.stack = w.stack[:last]
	return e
}

// explore takes one edge and goes on.
func (w *worker) explore(e edge) {
	w.began.Store(time.Now().UnixNano())
	defer w.began.Store(0)
	w.next, w.at = e, 0
	w.prefix = e.path(w.prefix[:0])
	w.past.reset(w.scenario.Clients)
	res, err := w.runner.Explore(w.scenario, w.schedule, w)
	w.runs.Add(1)
	if err == nil {
		w.complete(&res)
	}
}

// path appends the steps from the start to the end of e.
func (e edge) path(steps []sim.Transition) []sim.Transition {
	if e.from == nil {
		return steps
	}
	for p := e.from; p.parent != nil; p = p.parent {
		steps = append(steps, p.by)
	}
	slices.Reverse(steps)
	return append(steps, e.by)
}

// complete judges a run that has come to its end.
func (w *worker) complete(res *scenarios.Result) {
	w.ends.Add(1)
	if w.past.found.Level == checkers.Violated { // the run was cut short there: what judges its end may err
		res.Verdict = w.past.found
	}
	v := res.Verdict
	if w.audit != nil {
		w.check(w.runner.World(), " ends", uint64(checkers.Print(v.Level).Text(v.Checker)))
	}
	if w.outcome != nil {
		w.outcome(res)
	}
	switch {
	case v.Level == checkers.Unknown:
		w.doubt("a checker could not decide: " + v.Message)
	case v.Level == checkers.Violated && (!w.scenario.Broken() || w.scenario.Catches(v)):
		w.runner.Names(res)
		res.History = nil
		w.refute(res)
	}
}

// Choose implements [sim.Chooser].
func (w *worker) Choose(world *sim.World) (sim.Transition, bool, error) {
	if !w.scope.Interleave {
		if t, ok := world.Prompt(w.scope.SlowWakes); ok {
			if world.Step() >= maxSteps && w.reached(world.Step()) {
				return sim.Transition{}, false, errDeep
			}
			return t, true, nil
		}
	}
	if w.at < len(w.prefix) {
		if w.at == len(w.prefix)-1 {
			w.past.take(world)
			w.readings = world.Readings()
		}
		w.at++
		return w.prefix[w.at-1], true, nil
	}
	visible, violated := w.past.take(world)
	if w.past.unsure != "" {
		w.doubt("a monitor could not decide: " + w.past.unsure)
	}
	if w.next.from != nil {
		w.transitions.Add(1)
		if visible || w.needs.Hurry && w.readings != world.Readings() {
			w.widen(w.next)
		}
	}
	w.readings = world.Readings()
	if violated {
		return sim.Transition{}, false, nil // the verdict on the run will say what
	}
	if clock := world.Clock(); clock != sim.NoClock && !w.need(needs{clock, world.Hurried()}) {
		return sim.Transition{}, false, errKnown
	}
	past := w.past.hash()
	if !w.fenced {
		past = past.Word(w.runner.Guarded())
	}
	state := uint64(past.Word(world.Fingerprint()))
	w.class = state
	if w.audit != nil {
		w.check(world, "", state)
		world.Detail.Forget = false
		state = uint64(past.Word(world.Fingerprint()))
		world.Detail.Forget = true
	}
	if !w.known.add(state) {
		return sim.Transition{}, false, errKnown
	}
	if n := w.states.Add(1); n > w.limit && w.limit > 0 { // this run goes on to its end
		w.full.Store(true)
		w.pool.stop()
	}
	if w.reached(world.Step()) {
		return sim.Transition{}, false, errDeep
	}
	return w.goOn(world)
}

// goOn chooses what happens after a new state, and leaves the rest for later.
func (w *worker) goOn(world *sim.World) (sim.Transition, bool, error) {
	p := &point{parent: w.next.from, by: w.next.by, class: w.class}
	if p.parent != nil {
		p.faults = p.parent.faults
		if p.by.Kind >= sim.FirstFault {
			p.faults++
		}
	}
	switch p.groups = w.possible(world, int(p.faults)); {
	case len(p.groups) == 0:
		return sim.Transition{}, false, nil
	case len(p.groups[0]) == 0:
		return sim.Transition{}, false, errTwins
	}
	w.push(p, 0)
	w.next = w.top()
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

// possible returns what can happen in a state, in groups as of a point; none at the
// end of the run, an empty one if all that can happen is mirrored.
func (w *worker) possible(world *sim.World, used int) [][]sim.Transition {
	if !w.scope.Offline {
		if first := world.Opening(); len(first) > 0 {
			return [][]sim.Transition{first}
		}
	}
	all := append(w.all[:0], world.Busy()...)
	if w.alike != nil && len(all) > 0 {
		all = slices.DeleteFunc(all, func(t sim.Transition) bool { return w.mirrored(world, t) })
		if len(all) == 0 {
			return [][]sim.Transition{nil}
		}
	}
	normal := len(all)
	if strikes := world.Faults(); used < w.most {
		all = append(all, strikes...)
	} else if len(strikes) > 0 {
		w.withheld.Store(true)
	}
	w.all = all
	if len(all) == 0 {
		return nil
	}
	var groups [][]sim.Transition
	if w.reduce.Persistent && len(all) > 1 && !(w.scope.Servers > 1 && used < w.most) {
		groups = w.persistent(world, all, normal)
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(t sim.Transition) bool {
		return slices.ContainsFunc(groups, func(g []sim.Transition) bool { return slices.Contains(g, t) })
	})
	if len(rest) > 0 {
		groups = append(groups, rest)
	}
	if w.reverse {
		for _, g := range groups {
			slices.Reverse(g)
		}
	}
	return groups
}

// mirrored reports whether t serves a client for the first time while one that is
// alike and comes before it has not been served: the run with the two exchanged is
// explored.
func (w *worker) mirrored(world *sim.World, t sim.Transition) bool {
	if t.Kind != sim.Serve {
		return false
	}
	clients := world.Clients()
	if clients[t.Client-1].Served() {
		return false
	}
	for id := 1; id < int(t.Client); id++ {
		if w.alike[id] == w.alike[t.Client] && !clients[id-1].Served() {
			return true
		}
	}
	return false
}

// persistent returns, for each client of which that is true, everything that can
// happen to it now, where none of this can make a difference to what happens to
// others or the other way round; the smallest set first. It is enough to explore
// one of them, unless a step of it writes something to the history whose order
// matters.
//
// For a run that begins with steps of others contains a step of the set in the end,
// since nothing disables these, and that step can as well be taken first
// (persistent sets: Godefroid, Partial-Order Methods for the Verification of
// Concurrent Systems, 1996). No run is put off for ever, since no cycle of states has
// steps of such sets only: messages come from steps of others, faults are counted, and so
// is how often code goes on of its own accord; where its steps interleave, it forgets nothing. A
// session's end may move time on; then it makes a difference to steps that set timers,
// and these are treated like those that write to the history. With several servers,
// what others do can make a fault possible that strikes c.
func (w *worker) persistent(world *sim.World, all []sim.Transition, normal int) [][]sim.Transition {
	var sets [][]sim.Transition
	for _, c := range world.Clients() {
		if !c.Secluded() {
			continue
		}
		var set []sim.Transition
		moves, local := false, true
		for i, t := range all {
			if int(t.Client) != c.ID() {
				continue
			}
			set = append(set, t)
			moves = moves || i < normal
			local = local && (i < normal && world.Local(t) || i >= normal && w.injector.Local(world, t))
		}
		if moves && local {
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(a, b []sim.Transition) int { return len(a) - len(b) })
	return sets
}
