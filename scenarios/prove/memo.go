package prove

import (
	"fmt"
	"slices"

	"zksim/faults"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/sim"
)

// memo remembers what steps do, so that the code need not run again where others have
// been in the same position. What a client does on a message depends on nothing but that
// client and the time; what a server makes of a request, on the servers, the request and the time; what else can
// happen to a client, on the client and the servers. (So does LTSmin, where the steps of a
// model say which variables they read and write: Blom, van de Pol and Weber, CAV 2010.)
//
// It is an optimization and no reduction: the states are the same. A part of the hits is
// looked into by running the code after all.
type memo struct {
	servers table[*sim.Servers]
	clients table[*sim.Part]
	steps   table[*step]
	cuts    table[*sim.Servers] // what the servers are after the connection of a client has ended
	rests   table[uint64]       // what is left of the faults after one of them
	budgets table[[]int]        // what is left of each rule of the plan, by the rest of a state
	moves   table[*moves]
	pasts   table[memory] // what the checkers remember, by what they remembered before and are told, see after
	exact   bool          // what a step does may depend on the faults that are left, or change them
}

// state is a state of a run in parts.
type state struct {
	servers *sim.Servers
	clients []*sim.Part // c1 first
	now     int64       // virtual time
	rest    uint64
	memory
	guarded uint64 // what the guarded resource remembers
}

// memory is what the checkers remember.
type memory struct {
	past uint64 // all of it that matters
	all  uint64 // see past.memory; not a part of the state
}

// differs returns in which part two states differ, "" if in none.
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

// known reports whether x is a state at all.
func (x *state) known() bool { return x.servers != nil }

// clone returns a state that shares no memory with x.
func (x *state) clone() state {
	y := *x
	y.clients = slices.Clone(x.clients)
	return y
}

// fingerprint returns a hash of the state.
func (x *state) fingerprint() uint64 {
	h := hash.Hash(x.past).Uint64(x.guarded).Uint64(x.servers.Hash()).Int(x.now).Uint64(x.rest)
	for _, c := range x.clients {
		h = h.Uint64(c.Fingerprint(x.servers))
	}
	return uint64(h)
}

// step is what a transition does to the state it starts from.
type step struct {
	more    bool         // it depends on more: all else is under the next key
	servers *sim.Servers // after it; nil: as before, but for a cut
	cut     bool         // the connection ends, and with it the client's watches
	change  *sim.Change  // of its client; nil: client says what that is
	client  *sim.Part    // its client after it; nil: as before, unless a request of it was served
	now     int64
	rest    uint64
	guarded uint64
	sent    []sent // to others, or, if a request was served, to anybody
	effect
}

// sent is a message that was sent to a client.
type sent struct {
	client int // index
	what   []uint64
}

// effect is what is known of a step besides the states.
type effect struct {
	told   []history.Event // by what it writes to the history
	said   uint64          // hash of that
	length int32           // steps of the run
}

// keys returns under which keys to look for a step from x, one after the other as long as it
// depends on more; none for a step by nobody, or of time.
func (m *memo) keys(x *state, t sim.Transition) (keys [3]uint64, ok bool) {
	if t.Client == 0 || t.Kind == sim.Tick || x.servers.Mortal() || x.servers.Deposed() {
		return keys, false
	}
	c := x.clients[t.Client-1]
	own := hash.Hash(t.Kind).Int(int64(t.Client)).Int(int64(t.Arg)).Uint64(x.guarded).Int(x.now)
	if m.exact {
		own = own.Uint64(x.rest)
	}
	alone := own.Uint64(c.Key()).Int(2)
	core := c.Core()
	if c.Leaves() {
		core = c.Key()
	}
	keys = [...]uint64{uint64(own.Uint64(core)), uint64(alone), uint64(alone.Uint64(x.servers.Hash()).Int(3))}
	switch {
	case t.Kind == sim.Deliver:
		keys[0] = uint64(own.Uint64(core).Uint64(c.First()))
	case t.Kind == sim.Serve:
		request, _ := c.Next()
		keys[0] = uint64(own.Uint64(request).Uint64(x.servers.Hash()))
	case t.Kind == sim.Connect:
		keys[0] = uint64(own.Uint64(core).Uint64(x.servers.Of(c))) // what was left of an earlier connection is gone
	case ends(t) && !c.Connected():
		keys[0] = uint64(own.Uint64(c.Caller()).Int(c.Ends()).Uint64(x.servers.Hash()))
	}
	return keys, true
}

// ends reports whether a step ends a session.
func ends(t sim.Transition) bool {
	return t.Kind == sim.Expire || t.Kind >= sim.FirstFault && faults.Ends(t.Kind)
}

// cutKey returns the key of what the servers are after the connection of a client has ended.
func (x *state) cutKey(client uint32) uint64 {
	return uint64(hash.Hash(client).Uint64(x.servers.Hash()))
}

// restKey returns the key of what is left of the faults after one of them.
func (x *state) restKey(t sim.Transition) uint64 {
	return uint64(hash.Hash(t.Kind).Int(int64(t.Client)).Uint64(x.rest))
}

// find returns what t does from x; nil if nobody has been there.
func (m *memo) find(x *state, t sim.Transition) *step {
	keys, ok := m.keys(x, t)
	for _, key := range keys {
		if s, known := m.steps.get(key); !ok || !known || !s.more {
			return s
		}
	}
	return nil
}

// recall sets y to the state that t leads to from x, but for what the checkers remember, and returns
// what else it does; nil if nobody has been there. It uses the memory of y, and part.
func (m *memo) recall(x *state, t sim.Transition, y *state, part *sim.Part) *effect {
	s := m.find(x, t)
	if s == nil {
		return nil
	}
	k := int(t.Client) - 1
	clients := append(y.clients[:0], x.clients...)
	*y = *x
	y.clients, y.now, y.guarded = clients, s.now, s.guarded
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
	if s.change != nil {
		s.change.Apply(x.clients[k], part)
		y.clients[k] = m.part(part)
	} else if s.client != nil {
		y.clients[k] = s.client
	}
	for _, z := range s.sent {
		if c := y.clients[z.client]; z.client == k {
			c.Serve(part, z.what...)
		} else {
			c.Push(part, z.what...)
		}
		y.clients[z.client] = m.part(part)
	}
	return &s.effect
}

// part returns the part that is the same as p.
func (m *memo) part(p *sim.Part) *sim.Part {
	if x, ok := m.clients.get(p.Key()); ok {
		return x
	}
	return m.clients.put(p.Key(), p.Clone())
}

// learn notes that t leads from x to y. If it is local, it changes nothing but its client and the
// connection of that; with fine, faults may strike any request.
func (m *memo) learn(x, y *state, t sim.Transition, e effect, local, fine bool) {
	keys, ok := m.keys(x, t)
	if !ok || y.servers.Mortal() || y.servers.Deposed() {
		return
	}
	k := int(t.Client) - 1
	before, after := x.clients[k], y.clients[k]
	s := &step{client: after, now: y.now, rest: y.rest, guarded: y.guarded, effect: e}
	if y.servers != x.servers {
		s.servers = y.servers
	}
	for i, c := range y.clients {
		if i == k || c == x.clients[i] {
			continue
		}
		what, ok := x.clients[i].Pushed(c)
		if !ok {
			return
		}
		s.sent = append(s.sent, sent{i, what})
	}
	fault := t.Kind >= sim.FirstFault
	if !m.exact && fault {
		m.rests.put(x.restKey(t), y.rest)
	} else if !m.exact && x.rest != y.rest {
		return
	}
	if s.cut = local && before.Connected() && !after.Connected(); s.cut {
		m.cuts.put(x.cutKey(t.Client), y.servers)
		s.servers = nil
	}
	alone := local && s.servers == nil && len(s.sent) == 0
	change, anyhow := before.Change(after, t.Kind == sim.Deliver, fault && !fine)
	own, answered := before.Answered(after)
	last := 0 // of the keys, which says what t does
	switch {
	case t.Kind == sim.Serve && answered && x.guarded == y.guarded:
		s.client, s.sent = nil, append(s.sent, sent{k, own})
	case t.Kind == sim.Connect && alone:
	case alone && anyhow:
		s.change = change
	case alone:
		last = 1
	case ends(t) && !before.Connected() && after == before && x.guarded == y.guarded:
		s.client = nil
	default:
		last, s.cut, s.servers = 2, false, y.servers
	}
	for _, key := range keys[:last] {
		m.steps.put(key, &step{more: true})
	}
	m.steps.put(keys[last], s)
}

// moves is what can happen to a client in a state, the faults as if there were enough left.
type moves struct {
	normal, faults []sim.Transition
	timed          bool // there is a timer
}

// movesKey returns the key of the moves of client k. With fine, faults may strike any request.
func (x *state) movesKey(k int, fine bool) uint64 {
	c := x.clients[k]
	h := hash.Hash(c.Head())
	if fine {
		h = hash.Hash(c.Key()).Uint64(x.rest)
	}
	return uint64(h.Uint64(x.servers.Of(c)))
}
