package prove

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"zksim/faults"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/sim"
)

// memo remembers what steps do, so that the code need not run again in a position that is known. What a client does on
// a message depends only on that client, with all connections of its code, and the time. What a server makes of a
// request depends on the servers, the request and the time. What else can happen to a client depends on the client and
// the servers. (LTSmin does the same where the steps of a model say which variables they read and write: Blom, van de
// Pol and Weber, CAV 2010.)
//
// It is an optimization, not a reduction: the states are the same. Some of the hits are verified by running the code
// after all.
type memo struct {
	servers table[*sim.Servers]
	clients table[*sim.Part]
	steps   table[*step]
	cuts    table[*sim.Servers] // the servers after the connection of a client has ended
	rests   table[uint64]       // the faults left after one of them
	unspent table[[]bool]       // whether each rule of the plan may strike once more, by the rest of a state
	moves   table[*moves]
	pasts   cache[memory] // what an observer remembers, by what it remembered before and hears, see tell
	exact   bool          // the effect of a step may depend on the faults left, or change them
	hosts   int           // number of processes, if their code may have several connections; else 0

	stores table[*sim.Stored] // of several servers, by their fingerprints
}

// state is a state of a run in parts.
type state struct {
	servers *sim.Servers
	clients []*sim.Part // c1 first
	now     int64       // virtual time
	rest    uint64
	past    uint64 // what the checkers remember, as in pastOf
	guarded uint64 // what the guarded resource remembers

	// Not part of the state:
	memories []memory // of each observer
	base     int64    // txns applied by all servers, in the run that the state was read in
}

// differs names the part in which two states differ, "" if they do not.
func (x *state) differs(y *state) string {
	for i, p := range x.clients {
		if p != y.clients[i] {
			return fmt.Sprintf("the part of c%d", i+1)
		}
	}
	switch {
	case x.servers != y.servers:
		return "the part of the servers"
	case x.now != y.now:
		return "the time"
	case x.rest != y.rest:
		return "the rest"
	case x.past != y.past:
		return "what a checker remembers"
	case x.guarded != y.guarded:
		return "the guarded resource"
	}
	return ""
}

// known reports whether x holds a state at all.
func (x *state) known() bool { return x.servers != nil }

// keep returns a copy of x that shares no memory with it and has the given, equal memories.
func (x *state) keep(memories []memory) state {
	y := *x
	y.clients, y.memories = slices.Clone(x.clients), memories
	return y
}

// fingerprint returns a hash of the state: two halves with different salts.
func (x *state) fingerprint() (p fingerprint) {
	for i := range p {
		salt := uint64(i)
		h := hash.Hash(x.past + salt).Uint64(x.guarded).Uint64(x.servers.Hash()).Int(x.now).Uint64(x.rest)
		for _, c := range x.clients {
			h = h.Uint64(c.Fingerprint(x.servers, salt))
		}
		p[i] = uint64(h)
	}
	return p
}

// step is the effect of a transition on the state it starts from.
type step struct {
	more    bool         // it depends on more: the rest is under the next key
	servers *sim.Servers // after it; nil: as before, except for a cut
	cut     bool         // the connection ends, and with it the client's watches
	change  *sim.Change  // of its client; nil: see client
	client  *sim.Part    // its client after it; nil: as before, unless a request of it was served
	process []*sim.Part  // all connections of its process after it; nil: see client
	now     int64
	rest    uint64
	guarded uint64
	moved   []*sim.Moved // what the servers have done to other clients, or to any client if it is a step of servers
	effect
}

// effect is what is known about a step besides the states.
type effect struct {
	told   []history.Event // events that it writes to the history
	heard  []uint64        // hash of those that each observer sees, as in past.heard
	length int32           // steps of the run
}

// ofServers reports whether a step involves only servers.
func ofServers(t sim.Transition) bool {
	return t.Kind == sim.Replicate || t.Kind == sim.Thaw || t.Kind == sim.StepDown
}

// side adds to h the servers and, if there are several, what they know of the clients.
func (x *state) side(h hash.Hash) hash.Hash {
	h = h.Uint64(x.servers.Hash())
	if x.servers.Several() {
		for _, c := range x.clients {
			h = h.Uint64(c.End())
		}
	}
	return h
}

// keys returns the keys of a step from x, to be looked up one after the other while the step depends on more. There are
// none for a step of time, for a fault that strikes no client, for an election, which changes more of the clients than
// their ends, and for a choice after which the code of another client goes on.
func (m *memo) keys(x *state, t sim.Transition) (keys [3]uint64, ok bool) {
	if t.Client == 0 && !ofServers(t) || t.Kind == sim.Tick || elects(t) || x.servers.Mortal() || x.awaited(t) {
		return keys, false
	}
	own := hash.Hash(t.Kind).Int(int64(t.Client)).Int(int64(t.Arg)).Uint64(x.guarded).Int(x.now)
	if x.servers.Several() {
		own = own.Uint64(x.servers.Deposed()).Int(x.servers.Respite(x.now))
	}
	if m.exact {
		own = own.Uint64(x.rest)
	}
	if t.Client == 0 {
		return [3]uint64{uint64(x.side(own))}, true
	}
	if m.joint(t) {
		for i := range m.process(x, int(t.Client)-1) {
			own = own.Uint64(x.clients[i].Key())
		}
		return [3]uint64{uint64(own), uint64(x.side(own).Int(3))}, true
	}
	c := x.clients[t.Client-1]
	alone := own.Uint64(c.Key()).Int(2)
	core := c.Core()
	if c.Leaves() {
		core = c.Key()
	}
	keys = [...]uint64{uint64(own.Uint64(core)), uint64(alone), uint64(x.side(alone).Int(3))}
	switch {
	case t.Kind == sim.Deliver:
		keys[0] = uint64(own.Uint64(core).Uint64(c.First()))
	case t.Kind == sim.Serve:
		request, _ := c.Next()
		keys[0] = uint64(x.side(own.Uint64(request)))
	case t.Kind == sim.Connect:
		if x.servers.Deposed() != 0 { // a deposed leader may lack the session; its requests go on without the client
			core = c.Key()
		}
		// else what was left of an earlier connection is gone
		keys[0] = uint64(own.Uint64(core).Uint64(x.servers.Of(c)).Uint64(x.servers.Stance()))
	case ends(t) && !c.Connected():
		keys[0] = uint64(x.side(own.Uint64(c.Caller()).Int(c.Ends())))
	}
	return keys, true
}

// awaited reports whether t is a choice for which the code of another client waits, as when an election has cut off
// both.
func (x *state) awaited(t sim.Transition) bool {
	if t.Kind != sim.Choose {
		return false
	}
	for i, c := range x.clients {
		if c.Ready() && i+1 != int(t.Client) {
			return true
		}
	}
	return false
}

// joint reports whether the code that runs in a step may have several connections. Then the step depends on all of
// them, and changes them.
func (m *memo) joint(t sim.Transition) bool {
	return m.hosts > 0 && t.Client > 0 && t.Kind != sim.Serve
}

// process returns the indexes of all connections of the process that has connection k.
func (m *memo) process(x *state, k int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := k % m.hosts; i < len(x.clients) && yield(i); i += m.hosts {
		}
	}
}

// ends reports whether a step ends a session.
func ends(t sim.Transition) bool {
	return t.Kind == sim.Expire || t.Kind >= sim.FirstFault && faults.Ends(t.Kind)
}

// elects reports whether a step makes another server lead.
func elects(t sim.Transition) bool { return t.Kind >= sim.FirstFault && faults.Elects(t.Kind) }

// cutKey returns the key of the servers after the connection of a client has ended.
func (x *state) cutKey(client uint32) uint64 {
	return uint64(hash.Hash(client).Uint64(x.servers.Hash()).Int(int64(x.clients[client-1].Server())))
}

// restKey returns the key of the faults left after one of them. Whom it strikes makes no difference: unless m.exact, no
// rule counts requests, and only one has that fault.
func (x *state) restKey(t sim.Transition) uint64 {
	return uint64(hash.Hash(t.Kind).Uint64(x.rest))
}

// find returns what t does from x; nil if it is unknown.
func (m *memo) find(x *state, t sim.Transition) *step {
	keys, ok := m.keys(x, t)
	for _, key := range keys {
		if s, known := m.steps.get(key); !ok || !known || !s.more {
			return s
		}
	}
	return nil
}

// recall sets y to the state that t leads to from x, except for what the checkers remember, and returns the other
// effects of the step; nil if it is unknown. It reuses the memory of y and part.
func (m *memo) recall(x *state, t sim.Transition, y *state, part *sim.Part) *effect {
	s := m.find(x, t)
	if s == nil {
		return nil
	}
	k := int(t.Client) - 1
	clients, memories := append(y.clients[:0], x.clients...), append(y.memories[:0], x.memories...)
	*y = *x
	y.clients, y.memories, y.now, y.guarded = clients, memories, s.now, s.guarded
	ok := true
	if s.servers != nil {
		y.servers = s.servers
	} else if s.cut {
		y.servers, ok = m.cuts.get(x.cutKey(t.Client))
	}
	if m.exact {
		y.rest = s.rest
	} else if t.Kind >= sim.FirstFault && ok {
		y.rest, ok = m.rests.get(x.restKey(t))
	}
	if !ok {
		return nil
	}
	if s.process != nil {
		for i := range m.process(x, k) {
			y.clients[i] = s.process[i/m.hosts]
		}
	} else if s.change != nil {
		s.change.Apply(x.clients[k], part)
		y.clients[k] = m.part(part)
	} else if s.client != nil {
		y.clients[k] = s.client
	}
	m.move(y, s.moved, part)
	return &s.effect
}

// move applies what the servers have done to the clients of a state. It uses the memory of part.
func (m *memo) move(y *state, all []*sim.Moved, part *sim.Part) {
	for _, x := range all {
		y.clients[x.Client].Move(part, x)
		y.clients[x.Client] = m.part(part)
	}
}

// served records the effect of a step of servers that a replica has found.
func (m *memo) served(x *state, t sim.Transition, after *sim.Stepped, e effect) {
	keys, ok := m.keys(x, t)
	if !ok {
		return
	}
	s := &step{now: x.now, rest: x.rest, guarded: x.guarded, moved: after.Moved,
		effect: e}
	if s.servers = m.servers.put(after.Servers.Hash(), after.Servers); s.servers == x.servers {
		s.servers = nil
	}
	m.steps.put(keys[0], s)
}

// part returns the stored part that is equal to p, and stores a copy if there is none.
func (m *memo) part(p *sim.Part) *sim.Part {
	if x, ok := m.clients.get(p.Key()); ok {
		return x
	}
	return m.clients.put(p.Key(), p.Clone())
}

// learn records that t leads from x to y. With local, the step changes only its client and the connection of that
// client. With fine, faults may strike any request.
func (m *memo) learn(x, y *state, t sim.Transition, e effect, local, fine bool) {
	keys, ok := m.keys(x, t)
	if !ok || t.Client == 0 || y.servers.Mortal() {
		return
	}
	k := int(t.Client) - 1
	before, after := x.clients[k], y.clients[k]
	s := &step{client: after, now: y.now, rest: y.rest, guarded: y.guarded, effect: e}
	if y.servers != x.servers {
		s.servers = y.servers
	}
	joint := m.joint(t)
	for i, c := range y.clients {
		if i == k || joint && (i-k)%m.hosts == 0 || c == x.clients[i] && y.base == x.base {
			continue
		}
		moved, ok := x.clients[i].Moved(c, y.base-x.base, false)
		if !ok {
			return
		}
		s.moved = append(s.moved, moved)
	}
	fault := t.Kind >= sim.FirstFault
	if !m.exact && fault {
		m.rests.put(x.restKey(t), y.rest)
	} else if !m.exact && x.rest != y.rest {
		return
	}
	if joint {
		m.learnJoint(keys, x, y, k, s, local && t.Kind != sim.Connect) // what a connect finds depends on the servers
		return
	}
	if s.cut = local && before.Connected() && !after.Connected(); s.cut {
		m.cuts.put(x.cutKey(t.Client), y.servers)
		s.servers = nil
	}
	alone := (local || t.Kind == sim.Connect) && s.servers == nil && len(s.moved) == 0
	change, anyhow := before.Change(after, t.Kind == sim.Deliver, fault && !fine)
	own, answered := before.Moved(after, y.base-x.base, true)
	last := 0 // index of the key that says what t does
	switch {
	case t.Kind == sim.Serve && answered:
		s.client, s.moved = nil, append(s.moved, own)
	case t.Kind == sim.Connect && alone:
	case alone && anyhow:
		s.change = change
	case alone:
		last = 1
	case ends(t) && !before.Connected() && after == before:
		s.client = nil
	default:
		last, s.cut, s.servers = 2, false, y.servers
	}
	for _, key := range keys[:last] {
		m.steps.put(key, &step{more: true})
	}
	m.steps.put(keys[last], s)
}

// learnJoint records a step s of code that may have several connections, k among them. It depends on the servers unless
// it is alone and leaves them and the connections as they were.
func (m *memo) learnJoint(keys [3]uint64, x, y *state, k int, s *step, alone bool) {
	alone = alone && s.servers == nil && len(s.moved) == 0
	for i := range m.process(x, k) {
		s.process = append(s.process, y.clients[i])
		alone = alone && x.clients[i].Connected() == y.clients[i].Connected()
	}
	if alone {
		m.steps.put(keys[0], s)
		return
	}
	m.steps.put(keys[0], &step{more: true})
	m.steps.put(keys[1], s)
}

// chance bounds the probability that any two different things had the same hash of 64 bits, if hashes are uniform. The
// things are the parts of states, the positions in which something is remembered, and what the checkers remember.
func (m *memo) chance() (p float64) {
	for _, n := range [...]int{m.servers.size(), m.clients.size(), m.steps.size(), m.cuts.size(), m.rests.size(),
		m.unspent.size(), m.moves.size(), m.pasts.size(), m.stores.size()} {
		p += pairs(n, 64)
	}
	return p
}

// pairs bounds the probability that any two of n things have the same hash of that many bits.
func pairs(n, bits int) float64 { return float64(n) * float64(n) / math.Exp2(float64(bits)+1) }

// stored implements World.Share.
func (m *memo) stored(print uint64, fresh func() *sim.Stored) *sim.Stored {
	if x, ok := m.stores.get(print); ok {
		return x
	}
	return m.stores.put(print, fresh())
}

// moves are the steps that can happen to a client in a state, with faults as if enough were left.
type moves struct {
	normal, faults []sim.Transition
	timed          bool // there is a timer
}

// movesKey returns the key of the moves of client k. With fine, faults may strike any request.
func (m *memo) movesKey(x *state, k int, fine bool) uint64 {
	c := x.clients[k]
	h := hash.Hash(c.Head())
	if fine {
		h = hash.Hash(c.Key()).Uint64(x.rest)
	}
	if m.hosts > 0 { // code that is stopped, or has something to do, counts for all of its connections
		for i := range m.process(x, k) {
			h = h.Uint64(x.clients[i].Key())
		}
	}
	return uint64(h.Uint64(x.servers.Of(c)).Uint64(x.servers.Stance()))
}

// aloneKey returns the key of the faults that strike no client.
func (x *state) aloneKey() uint64 { return uint64(hash.Hash(x.servers.Stance()).Int(-1)) }
