package prove

import (
	"errors"
	"slices"
	"sync/atomic"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// point is a state that was reached for the first time: how it was reached, and what is to be explored from it.
type point struct {
	parent *point
	by     sim.Transition
	faults int32  // on the way
	ticks  int32  // on the way, that had an alternative
	busy   bool   // a tick from here has an alternative
	length int32  // steps of the run up to here
	class  uint64 // the state as code sees it

	state    state           // if known and needed
	print    fingerprint     // of the state, when every path is run again
	memories []memory        // of the state, if something was told
	told     []history.Event // by the step to here
	whole    bool            // ... or by all steps up to here
	last     *point          // the latest point on the way, including this one, whose step told something
	bare     bool            // from a checkpoint: neither the state nor what was told is known
	left     atomic.Int32    // edges not explored yet
}

// edge is a step to be explored.
type edge struct {
	from *point
	by   sim.Transition
}

// explored records that an edge has been explored, and frees the state it comes from when no edge needs it any more.
func (e edge) explored() {
	if p := e.from; p != nil && p.left.Add(-1) == 0 {
		p.state = state{}
	}
}

// worker explores edges, one after the other, and goes on from each until it reaches a known state. It takes the effect
// of a step from the memo, or finds it by a run, which begins with the way to the edge. The worker is the chooser of
// its runs.
type worker struct {
	*search
	runner   *engine.Runner
	replica  *sim.Replica
	past     *past
	injector *faults.Injector // of the plan, with all budgets left

	next  edge // being taken
	stack []edge
	turn  uint64 // of pop
	class uint64 // class of the latest state

	// For the next state:
	scratch state
	sent    sim.Part // shares memory with others
	buffer  sim.Part
	moves   []*moves           // of each client
	faults  [][]sim.Transition // left: of each client, then of none
	list    []sim.Transition
	met     uint64 // faults possible in a state so far, as in search
	busy    bool   // something other than time can go on

	// Of a run:
	prefix   []sim.Transition
	at       int    // in prefix
	before   *state // the state from which next is taken
	expected *state // the state that next is said to lead to; nil: unknown
	recalled int    // steps so far with a known effect
	entered  bool   // that state is new and already recorded
	more     bool   // next has not been taken, because its effect is known
	begin    int    // the run's step at which next was taken
	idle     int    // latest steps with a known effect
	foreseen *state // the state that the latest of these leads to, except what the checkers remember; nil: unknown
	local    bool   // next changes only its client
}

// Reasons why a run ends early: its state is known, it is at the limit of steps, the run with the clients exchanged is
// explored elsewhere, or it has become idle. Or it is over.
var (
	errOver     = errors.New("over")
	errKnown    = errors.New("known")
	errDeep     = errors.New("deep")
	errMirrored = errors.New("mirrored")
	errIdle     = errors.New("idle")
)

func newWorker(s *search) *worker {
	w := &worker{search: s, runner: engine.NewRunner(), past: newPast(s.scenario, s.reduce.Monitors),
		injector: &faults.Injector{},
		faults:   make([][]sim.Transition, s.scenario.Clients*(1+s.scenario.Dials)+1)}
	w.injector.Reset(s.scope.Faults)
	w.past.sentences = s.sentences
	w.past.lenient = s.scenario.Broken() && !slices.Contains(s.scenario.Caught, checkers.Always{}.Name())
	w.runner.Detail = sim.Detail{DenseZxids: s.reduce.Zxids, Forget: s.reduce.Forget && !s.scope.Interleave}
	if s.scope.Servers > 1 {
		w.runner.World().Share = s.memo.stored
	}
	w.replica = sim.NewReplica(s.scenario.Clients*(1+s.scenario.Dials), s.scope.Servers, w.runner.Detail,
		w.runner.World().Share)
	return w
}

// work explores until nothing is left.
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
				w.pool.give(w.stack[:n]) // the oldest, which lead to most states
				w.stack = slices.Delete(w.stack, 0, n)
			}
		}
		w.pool.give(w.stack)
	}
}

// pop takes an edge from the stack: the latest, and every other time any edge, because distant parts of the search are
// more likely to differ. This makes the stack grow, and with it everything that leads to its edges, so from a long
// stack pop always takes the latest.
func (w *worker) pop() edge {
	last := len(w.stack) - 1
	if w.turn++; w.turn%2 == 0 && last < manyEdges {
		i := int(hash.Mix(w.turn) % uint64(last+1))
		w.stack[i], w.stack[last] = w.stack[last], w.stack[i]
	}
	return w.top()
}

// manyEdges is the length at which a stack is long.
const manyEdges = 4096

// top takes the latest edge from the stack.
func (w *worker) top() edge {
	last := len(w.stack) - 1
	e := w.stack[last]
	w.stack = w.stack[:last]
	return e
}

// explore takes one edge and goes on.
func (w *worker) explore(e edge) {
	w.runs.Add(1)
	w.next, w.more = e, true
	for w.more {
		w.more, w.expected, w.entered = false, nil, false
		if e := w.next; w.recall() {
			e.explored()
		} else {
			w.run()
		}
	}
}

// recall takes the next edge if its effect is known. If not, it says where the edge leads, or that it leads to a new
// state, if that is known.
func (w *worker) recall() bool {
	e := w.next
	if e.from == nil || !e.from.state.known() || w.again {
		return false
	}
	y := &w.scratch
	s := w.memo.recall(&e.from.state, e.by, y, &w.sent)
	if s == nil && (w.serve(&e.from.state, e.by) || w.cut(&e.from.state, e.by)) {
		s = w.memo.recall(&e.from.state, e.by, y, &w.sent)
	}
	if s == nil {
		return false
	}
	if !w.tell(e.from, y, s) {
		return false
	}
	w.hops.note(&e.from.state, y, e.by)
	if w.recalled++; w.recalled%w.doubtful == 0 {
		w.expected = y
		return false
	}
	length := e.from.length + s.length
	if length >= maxSteps { // the run must be judged
		w.expected = y
		return false
	}
	if w.enter(y, int(length)) != nil {
		return true
	}
	list, mirrored, ok := w.possible(y, nil)
	switch {
	case !ok:
		w.expected, w.entered = y, true
		return false
	case !mirrored && len(list) > 0:
		w.goOn(y, list, s.told, length)
	}
	return true
}

// serve finds out what servers make of a request or a txn, without the code of clients, if that is possible.
func (w *worker) serve(x *state, t sim.Transition) bool {
	// A replica knows neither the faults nor which connections belong together.
	if t.Kind != sim.Serve && !ofServers(t) || w.injector.Counts() || w.memo.hosts > 0 {
		return false
	}
	after, ok := w.replica.Step(x.servers, x.clients, t, x.now)
	if !ok {
		return false
	}
	told := slices.DeleteFunc(after.Told, func(e history.Event) bool { return !w.past.sees[e.Kind] })
	w.memo.served(x, t, &after, effect{told: told, heard: w.past.heard(told), length: 1})
	return true
}

// cut finds out the servers after a step that ends a connection, if nothing else about the step is unknown.
func (w *worker) cut(x *state, t sim.Transition) bool {
	if s := w.memo.find(x, t); s == nil || !s.cut {
		return false
	}
	key := x.cutKey(t.Client)
	if _, known := w.memo.cuts.get(key); known {
		return false
	}
	after, ok := w.replica.Disconnect(x.servers, x.clients, int(t.Client))
	if ok {
		w.memo.cuts.put(key, w.memo.servers.put(after.Hash(), after))
	}
	return ok
}

// tell sets what the checkers remember after a step from p that leads to y. It returns false if the step violates one.
func (w *worker) tell(p *point, y *state, e *effect) bool {
	for i, heard := range e.heard {
		if heard == 0 {
			continue
		}
		key := uint64(hash.Hash(i).Uint64(y.memories[i].all).Uint64(heard))
		m, ok := w.memo.pasts.get(key)
		if !ok {
			o := w.past.observers[i]
			o.replayTo(p, i)
			for k := range e.told {
				if w.past.note(o.show(&e.told[k])); w.past.violated() {
					return false
				}
			}
			w.undecided()
			m = w.memo.pasts.put(key, o.memory())
		}
		y.memories[i] = m
	}
	if len(e.heard) > 0 {
		y.past = pastOf(y.memories)
	}
	return true
}

// enter records that a state was reached after that many steps. It returns an error if the run must not go on from
// there.
func (w *worker) enter(x *state, length int) error {
	if w.next.from != nil {
		w.transitions.Add(1)
	}
	if !w.known.add(x.fingerprint()) {
		return errKnown
	}
	if n := w.states.Add(1); n > w.limit && w.limit > 0 { // this run still goes on to its end
		w.full.Store(true)
		w.pool.stop()
	}
	if w.reached(length) {
		return errDeep
	}
	return nil
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

// goOn puts the possible steps of a new state on the stack, except one, which becomes the next edge.
func (w *worker) goOn(x *state, list []sim.Transition, told []history.Event, length int32) {
	p := &point{parent: w.next.from, by: w.next.by, length: length, class: w.class, faults: w.used(), ticks: w.ticks(),
		busy: w.busy}
	if p.faults > 0 {
		w.struck.Store(true)
	}
	if w.traps.hold(x, list) {
		w.goesOn()
	}
	if w.again {
		p.print = x.fingerprint()
	} else {
		p.told = told
		if p.parent != nil && p.parent.bare { // this run runs the code
			p.told, p.whole = slices.Clone(w.past.shown), true
		}
		if p.last = p; len(p.told) == 0 && !p.whole && p.parent != nil {
			p.last = p.parent.last
		} else {
			p.memories = slices.Clone(x.memories)
		}
		p.state = x.keep(p.last.memories)
	}
	p.left.Add(int32(len(list)))
	for _, t := range slices.Backward(list) {
		w.stack = append(w.stack, edge{p, t})
	}
	w.next, w.more = w.top(), true
}

// used returns the number of faults up to the end of the next edge.
func (w *worker) used() (n int32) {
	if p := w.next.from; p != nil {
		n = p.faults
		if w.next.by.Kind >= sim.FirstFault {
			n++
		}
	}
	return n
}

// ticks returns how often time has passed, up to the end of the next edge, although something else could happen.
func (w *worker) ticks() (n int32) {
	if p := w.next.from; p != nil {
		n = p.ticks
		if w.next.by.Kind == sim.Tick && p.busy {
			n++
		}
	}
	return n
}
