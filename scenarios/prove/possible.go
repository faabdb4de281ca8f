package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/sim"
)

// possible returns what can happen in a state; nothing at the end of the run. Mirrored says that it returns nothing
// because the runs with clients exchanged are explored elsewhere. ok is false if it is unknown what can happen and
// there is no world in that state to look at. The list is valid until the next call.
func (w *worker) possible(x *state, world *sim.World) (all []sim.Transition, mirrored, ok bool) {
	all = w.list[:0]
	for _, c := range x.clients {
		all = c.AppendChoices(all)
	}
	if len(all) > 0 {
		w.busy = true
		return w.ordered(all), false, true
	}
	if !w.scope.Offline && slices.ContainsFunc(x.clients, func(c *sim.Part) bool { return !c.Begun() }) {
		if world == nil {
			return nil, false, false
		}
		if first := world.Opening(); len(first) > 0 {
			return first, false, true
		}
	}
	all, strikes, ok := w.gather(x, world)
	if !ok {
		return nil, false, false
	}
	if len(all) == 0 || x.servers.Mortal() || w.again {
		if world == nil {
			return nil, false, false
		}
		all = append(all[:0], world.Busy()...)
	}
	all = w.unhurried(all, x)
	w.busy = len(all) > 0 && all[0].Kind != sim.Tick && all[0].Kind != sim.Calm
	hasty := w.busy && int(w.ticks()) < w.scope.Ticks
	if hasty && (x.servers.Mortal() || slices.ContainsFunc(w.moves, func(m *moves) bool { return m.timed })) {
		if world == nil {
			return nil, false, false
		}
		all = append(all, world.Ticks()...)
	}
	if w.alike != nil && len(all) > 0 {
		all = slices.DeleteFunc(all, func(t sim.Transition) bool { return w.mirrored(x, t) })
		if len(all) == 0 {
			return nil, true, true
		}
	}
	if strikes {
		w.note()
	}
	if strikes && int(w.used()) < w.most {
		for _, list := range w.faults {
			all = append(all, list...)
		}
	} else if strikes {
		w.withheld.Store(true)
	}
	return w.ordered(all), false, true
}

// ordered returns the list in the order of the search, and keeps its memory.
func (w *worker) ordered(all []sim.Transition) []sim.Transition {
	if w.reverse {
		slices.Reverse(all)
	}
	w.list = all
	return all
}

// note records which faults are possible.
func (w *worker) note() {
	met := w.met
	for _, list := range w.faults {
		for _, t := range list {
			met |= 1 << (t.Kind - sim.FirstFault)
		}
	}
	if met != w.met {
		w.met = met
		w.feasible.Or(met)
	}
}

// unhurried leaves out the txns that servers without connections apply, if that makes no difference yet. While all
// living clients are connected, none can connect to these servers, so the txns can as well be applied later. It must
// happen before time passes.
func (w *worker) unhurried(list []sim.Transition, x *state) []sim.Transition {
	if !w.reduce.Idle || !x.servers.Several() || w.distant && int(w.used()) < w.most {
		return list
	}
	var used uint64 // bit i: a client is connected to server i
	for _, c := range x.clients {
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

// gather returns the normal moves of all clients, and whether there are faults. The moves of each client are in w.moves
// and w.faults, which ends with the faults that happen to no client.
func (w *worker) gather(x *state, world *sim.World) (all []sim.Transition, strikes, ok bool) {
	all, w.moves = w.list[:0], w.moves[:0]
	for k := range x.clients {
		m := w.movesOf(x, k, world)
		if m == nil {
			return nil, false, false
		}
		w.moves = append(w.moves, m)
		all = append(all, m.normal...)
		w.faults[k] = w.faults[k][:0]
		for _, t := range m.faults {
			if w.left(x, t) {
				w.faults[k], strikes = append(w.faults[k], t), true
			}
		}
	}
	w.faults[len(x.clients)] = w.faults[len(x.clients)][:0]
	if !x.servers.Several() {
		return all, strikes, true
	}
	alone := w.strokes(x, world)
	if alone == nil {
		return nil, false, false
	}
	for _, t := range alone.faults {
		if w.left(x, t) {
			w.faults[len(x.clients)], strikes = append(w.faults[len(x.clients)], t), true
		}
	}
	return append(all, x.servers.Moves()...), strikes, true
}

// strokes returns the faults that strike no client, as if enough were left; nil if they are unknown and there is no
// world.
func (w *worker) strokes(x *state, world *sim.World) *moves {
	key := x.aloneKey()
	if known, ok := w.memo.moves.get(key); ok || world == nil {
		return known
	}
	return w.memo.moves.put(key, &moves{faults: w.injector.PermittedAlone(world, nil)})
}

// movesOf returns what can happen to client k; nil if that is unknown and there is no world. If it is known and there
// is a world, it compares them at some steps.
func (w *worker) movesOf(x *state, k int, world *sim.World) *moves {
	key := w.memo.movesKey(x, k, w.fine)
	alone := !x.servers.Mortal() && !w.again && !x.clients[k].Orphaned()
	var known *moves
	ok := false
	if alone {
		known, ok = w.memo.moves.get(key)
	}
	if world == nil || ok && world.Step()%w.doubtful != 0 {
		return known
	}
	c := world.Clients()[k]
	m := &moves{timed: c.Timed()}
	for _, t := range world.Busy() {
		if int(t.Client) == k+1 && t.Kind != sim.Tick {
			m.normal = append(m.normal, t)
		}
	}
	strikes := world.Faults()
	if !w.fine { // faults that are used up here exist in other states
		strikes = w.injector.Permitted(world, c, nil)
	}
	for _, t := range strikes {
		if int(t.Client) == k+1 {
			m.faults = append(m.faults, t)
		}
	}
	if ok && (!slices.Equal(m.normal, known.normal) || !slices.Equal(m.faults, known.faults) || m.timed != known.timed) {
		panic(unstable(fmt.Sprintf("what can happen to c%d, after %s", k+1, strings.Join(world.Schedule(), ", "))))
	}
	if !alone {
		return m
	}
	return w.memo.moves.put(key, m)
}

// left reports whether the plan still allows the fault t, if the state permits it.
func (w *worker) left(x *state, t sim.Transition) bool {
	unspent, _ := w.memo.unspent.get(x.rest)
	process := 0 // the process that owns the connection: a rule covers all connections of one
	if t.Client > 0 {
		process = (int(t.Client)-1)%w.scenario.Clients + 1
	}
	for i, r := range w.scope.Faults {
		if unspent[i] && faults.KindOf(r.Fault) == t.Kind && (r.Aim.Client == 0 || r.Aim.Client == process) {
			return true
		}
	}
	return false
}

// mirrored reports whether t serves a client for the first time while an earlier client that is alike has not been
// served. The run with the two exchanged is explored.
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
