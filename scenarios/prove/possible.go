package prove

import (
	"slices"

	"zksim/sim"
)

// possible returns what can happen in a state, in groups as of a point; none at the
// end of the run, an empty one if all that can happen is mirrored. It returns false if that is
// not known, and there is no world in that state to look at. They are valid until the next call.
func (w *worker) possible(x *state, world *sim.World) (groups [][]sim.Transition, ok bool) {
	if !w.scope.Offline && slices.ContainsFunc(x.clients, func(c *sim.Part) bool { return !c.Begun() }) {
		if world == nil {
			return nil, false
		}
		if first := world.Opening(); len(first) > 0 {
			return [][]sim.Transition{first}, true
		}
	}
	all, strikes, ok := w.gather(x, world)
	if !ok {
		return nil, false
	}
	if len(all) == 0 || x.servers.Mortal() || w.scope.Servers > 1 {
		if world == nil {
			return nil, false
		}
		all = w.happening(all[:0], world)
	}
	w.busy = len(all) > 0 && all[0].Kind != sim.Tick && all[0].Kind != sim.Calm
	hasty := w.busy && int(w.ticks()) < w.scope.Ticks
	if hasty && slices.ContainsFunc(w.moves, func(m *moves) bool { return m.timed }) {
		if world == nil {
			return nil, false
		}
		all = append(all, world.Ticks()...)
	}
	if w.alike != nil && len(all) > 0 {
		all = slices.DeleteFunc(all, func(t sim.Transition) bool { return w.mirrored(x, t) })
		if len(all) == 0 {
			return [][]sim.Transition{nil}, true
		}
	}
	if strikes && int(w.used()) < w.most {
		for k := range w.moves {
			for _, t := range w.faults[k] {
				all = append(all, t.Transition)
			}
		}
	} else if strikes {
		w.withheld.Store(true)
		strikes = false
	}
	w.list = all
	if len(all) == 0 {
		return nil, true
	}
	groups = w.groups[:0]
	var mine uint64 // bit i: client i+1 is in a group
	if w.reduce.Persistent && len(all) > 1 && !(w.scope.Servers > 1 && int(w.used()) < w.most) {
		groups, mine = w.persistent(groups, all, strikes, hasty)
	}
	w.rest = w.rest[:0]
	for _, t := range all {
		if t.Client == 0 || mine>>(t.Client-1)&1 == 0 {
			w.rest = append(w.rest, t)
		}
	}
	if len(w.rest) > 0 {
		groups = append(groups, w.rest)
	}
	if w.reverse {
		for _, g := range groups {
			slices.Reverse(g)
		}
	}
	w.groups = groups
	return groups, true
}

// happening appends what can happen, but for what servers apply to which nobody is connected, if that makes no
// difference yet: while all clients that live are connected, nobody can connect to these servers, so it can as well
// happen later. It has to happen before time goes on.
func (w *worker) happening(list []sim.Transition, world *sim.World) []sim.Transition {
	list = append(list, world.Busy()...)
	if !w.reduce.Idle || w.distant && int(w.used()) < w.most {
		return list
	}
	var used uint64 // bit i: somebody is connected to server i
	for _, c := range world.Clients() {
		if c.Connected() {
			used |= 1 << c.Server()
		} else if c.Alive() {
			return list
		}
	}
	idle := func(t sim.Transition) bool { return t.Kind == sim.Replicate && used>>t.Arg&1 == 0 }
	if !slices.ContainsFunc(list, func(t sim.Transition) bool { return !idle(t) }) {
		return list
	}
	return slices.DeleteFunc(list, idle)
}

// gather returns the normal moves of all clients, and whether there are faults; the moves of each are in
// w.moves and w.faults.
func (w *worker) gather(x *state, world *sim.World) (all []sim.Transition, strikes, ok bool) {
	all, w.moves = w.list[:0], w.moves[:0]
	for k := range x.clients {
		m := w.movesOf(x, k, world)
		if m == nil {
			return nil, false, false
		}
		w.moves = append(w.moves, m)
		for _, t := range m.normal {
			all = append(all, t.Transition)
		}
		w.faults[k] = w.faults[k][:0]
		for _, t := range m.faults {
			left, known := w.left(x, t.Transition, world)
			if !known {
				return nil, false, false
			}
			if left {
				w.faults[k], strikes = append(w.faults[k], t), true
			}
		}
	}
	return all, strikes, true
}

// movesOf returns what can happen to client k; nil if that is not known and there is no world.
func (w *worker) movesOf(x *state, k int, world *sim.World) *moves {
	key := x.movesKey(k, w.fine)
	mortal := x.servers.Mortal() || w.scope.Servers > 1
	if m, ok := w.memo.moves.get(key); ok && !mortal && !w.again {
		return m
	}
	if world == nil {
		return nil
	}
	c := world.Clients()[k]
	m := &moves{secluded: c.Secluded(), timed: c.Timed()}
	for _, t := range world.Busy() {
		if int(t.Client) == k+1 && t.Kind != sim.Tick {
			m.normal = append(m.normal, move{t, w.isLocal(world, t)})
		}
	}
	strikes := world.Faults()
	if !w.fine { // those that are used up are there in other states
		strikes = w.injector.Permitted(world, c, nil)
	}
	for _, t := range strikes {
		if int(t.Client) == k+1 {
			m.faults = append(m.faults, move{t, w.isLocal(world, t)})
		}
	}
	if mortal {
		return m
	}
	return w.memo.moves.put(key, m)
}

// left reports whether there are faults left of the kind of t; known is false if nobody knows and there
// is no world to look at.
func (w *worker) left(x *state, t sim.Transition, world *sim.World) (left, known bool) {
	key := x.restKey(t)
	left, known = w.memo.left.get(key)
	if !known && world != nil {
		left, known = w.memo.left.put(key, w.runner.Left(t)), true
	}
	return left, known
}

// mirrored reports whether t serves a client for the first time while one that is
// alike and comes before it has not been served: the run with the two exchanged is
// explored.
func (w *worker) mirrored(x *state, t sim.Transition) bool {
	if t.Kind != sim.Serve || x.clients[t.Client-1].Served() {
		return false
	}
	for id := 1; id < int(t.Client); id++ {
		if w.alike[id] == w.alike[t.Client] && !x.clients[id-1].Served() {
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
// For a run that begins with steps of others contains a step of the set in the end, since nothing
// disables these, and that step can as well be taken first (persistent sets: Godefroid, Partial-Order
// Methods for the Verification of Concurrent Systems, 1996). No run is put off for ever, since no
// cycle of states has steps of such sets only: messages come from steps of others, faults are counted,
// and so is how often code goes on of its own accord; where its steps interleave, it forgets nothing.
// A session's end may move time on, and so may a tick that has an alternative; then it makes a
// difference to steps that set timers, and these are treated like those that write to the history.
// With several servers, what others do can make a fault possible that strikes c.
func (w *worker) persistent(groups [][]sim.Transition, all []sim.Transition, strikes, hasty bool) ([][]sim.Transition, uint64) {
	var clients uint64
	for k, m := range w.moves {
		if !m.secluded || hasty && m.timed || k > 63 || slices.ContainsFunc(m.normal, move.crosses) || strikes && slices.ContainsFunc(w.faults[k], move.crosses) {
			continue
		}
		set := w.sets[k][:0]
		for _, t := range m.normal {
			if w.alike == nil || slices.Contains(all, t.Transition) { // is not mirrored
				set = append(set, t.Transition)
			}
		}
		if len(set) == 0 {
			continue
		}
		if strikes {
			for _, t := range w.faults[k] {
				set = append(set, t.Transition)
			}
		}
		w.sets[k] = set
		clients |= 1 << k
		groups = append(groups, set)
	}
	slices.SortStableFunc(groups, func(a, b []sim.Transition) int { return len(a) - len(b) })
	return groups, clients
}

// crosses reports whether the move changes more than its client and the connection of that.
func (m move) crosses() bool { return !m.local }
