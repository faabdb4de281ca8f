package sim

import (
	"slices"
	"strconv"

	"zksim/model"
)

// Kind is the verb of a transition.
type Kind uint8

// The transitions of a world without faults. Kinds from FirstFault on belong to the injector.
const (
	Run        Kind = iota // a coroutine of a client takes its next step
	Deliver                // a client's library gets its next message
	Serve                  // the server takes a client's next request
	Round                  // a client's library has tried all servers in vain
	Connect                // a client connects to server Arg
	Resume                 // a paused client continues
	Undelay                // a slow link is normal again
	Expire                 // the session of a client that is gone expires
	Replicate              // server Arg applies the next txn
	Thaw                   // server Arg hears of the leader again
	Tick                   // the earliest timer fires; with a client, its own, where others have one for that moment
	Calm                   // faults are over
	Reap                   // the leader deletes a container or ttl znode that is due
	StepDown               // server Arg, a deposed leader, finds out
	Disown                 // server Arg, a deposed leader, tells a client that its session has expired
	Lapse                  // a session ends at last whose client was told that it had, or was given another one
	Late                   // what was sent in such a session before is executed
	Choose                 // the code of a client, which has asked for a number, gets Arg; see [Env.Choose]
	FirstFault Kind = 32
)

var verbs = [...]string{"run", "deliver", "serve", "round", "connect", "resume", "undelay", "expire", "replicate",
	"thaw", "tick", "calm", "reap", "stepdown", "disown", "lapse", "late", "choose"}

// Kinds is how many kinds there are without the faults.
const Kinds = Kind(len(verbs))

// IsVerb reports whether the name of a transition that is no fault begins with this word.
func IsVerb(word string) bool { return slices.Contains(verbs[:], word) }

// Transition is one thing that can happen next: a verb, the client it happens to (0: none), and an argument. The
// argument of a fault is 1 for s1 if it happens to a server, else 0. In a given state each transition has a different
// name.
type Transition struct {
	Kind   Kind
	Client uint32
	Arg    uint16
}

// AppendName appends the readable name of t, such as "serve c1", "run c2/lost" or "connect c1 s2", to buf.
func (w *World) AppendName(buf []byte, t Transition) []byte {
	if t.Kind >= FirstFault {
		buf = append(buf, w.injector.Verb(t.Kind)...)
	} else {
		buf = append(buf, verbs[t.Kind]...)
	}
	if t.Client > 0 {
		buf = w.Client(int(t.Client)).appendName(append(buf, ' '))
	}
	switch t.Kind {
	case Run:
		if name := w.Client(int(t.Client)).names[t.Arg]; name != "" {
			buf = append(append(buf, '/'), name...)
		}
	case Connect, Replicate, Thaw, StepDown, Disown:
		buf = strconv.AppendUint(append(buf, " s"...), uint64(t.Arg)+1, 10)
	case Choose:
		buf = strconv.AppendUint(append(buf, ' '), uint64(t.Arg), 10)
	default:
		if t.Kind >= FirstFault && t.Arg > 0 {
			buf = strconv.AppendUint(append(buf, " s"...), uint64(t.Arg), 10)
		}
	}
	return buf
}

// Name returns the readable name of t.
func (w *World) Name(t Transition) string { return string(w.AppendName(nil, t)) }

// Normal returns the transitions that are possible now, without faults, in a fixed order. The slice is valid until the
// next step. It is empty only at the end of the run.
func (w *World) Normal() []Transition {
	list := w.normal[:0]
	if g := w.choosing; g != nil && (w.calm || w.Step() < w.SafetySteps) {
		w.normal = appendChoices(list, g.client.id, g.options)
		return w.normal
	}
	for _, c := range w.clients {
		if c.stale || !c.connected || len(c.owed) > 0 || len(c.orphans) > 0 {
			c.moves = c.enabled(c.moves[:0])
			c.stale = false
		}
		list = append(list, c.moves...)
	}
	if len(w.servers) > 1 {
		list = w.appendServers(list)
	}
	if w.ReapDue() <= w.now {
		list = append(list, Transition{Kind: Reap})
	}
	if !w.calm || len(list) == 0 {
		list = w.appendTicks(list)
	}
	if !w.calm && (len(list) == 0 || w.Step() >= w.SafetySteps) {
		list = append(list[:0], Transition{Kind: Calm})
	}
	w.normal = list
	return list
}

// appendServers appends what is possible for the servers that do not lead.
func (w *World) appendServers(list []Transition) []Transition {
	for _, s := range w.servers {
		switch {
		case s.index == w.lead:
		case s.deposed:
			list = append(list, Transition{StepDown, 0, uint16(s.index)})
		case s.frozen:
			list = append(list, Transition{Thaw, 0, uint16(s.index)})
		case s.applied < w.committed:
			list = append(list, Transition{Replicate, 0, uint16(s.index)})
		}
	}
	return list
}

// enabled appends what is possible for c. For a connected client this depends only on the client, unless its server
// owes it a write. So Normal asks again only when c is stale: something has happened to it.
func (c *Client) enabled(list []Transition) []Transition {
	id := uint32(c.id)
	switch {
	case !c.host.paused:
		for _, g := range c.coroutines {
			if g.status == runnable {
				list = append(list, Transition{Run, id, uint16(g.name)})
			}
		}
		if c.slow && len(c.down) > 0 {
			list = append(list, Transition{Undelay, id, 0})
		} else if len(c.down) > 0 {
			list = append(list, Transition{Deliver, id, 0})
		}
	case c == c.host:
		list = append(list, Transition{Resume, id, 0})
	}
	if c.straggler() != nil {
		list = append(list, Transition{Late, id, 0})
	}
	if c.lapsable() {
		list = append(list, Transition{Lapse, id, 0})
	}
	if c.connected {
		if c.servable() {
			list = append(list, Transition{Serve, id, 0})
		}
		return list
	}
	if len(c.late) > 0 {
		list = append(list, Transition{Serve, id, 0})
	}
	if c.closed {
		if c.w.leader().store.HasSession(c.session) {
			list = append(list, Transition{Expire, id, 0})
		}
		return list
	}
	if c.far != nil {
		return c.asking(list)
	}
	if c.host.paused || c.closing { // after Close is called, the library makes no other connection
		return list
	}
	for k, s := range c.w.servers {
		if (k == c.server || k == c.tried) && !c.rounded || s.applied < c.lastTxn || s.frozen {
			continue
		}
		if s.deposed && (c.session == 0 || c.w.Like == model.Keeper || c.ahead(s)) { // a new session is a txn
			continue
		}
		list = append(list, Transition{Connect, id, uint16(k)})
		if s.deposed && s.store.HasSession(c.session) {
			list = append(list, Transition{Disown, id, uint16(k)})
		}
	}
	if !c.rounded && c.server >= 0 {
		list = append(list, Transition{Round, id, 0})
	}
	return list
}

// Faults returns the faults that the injector could inject now; none once calm, or once SafetySteps is reached. The
// slice is valid until the next step.
func (w *World) Faults() []Transition {
	if w.calm || w.injector == nil || w.choosing != nil || w.Step() >= w.SafetySteps {
		return nil
	}
	w.faults = w.injector.Enabled(w, w.faults[:0])
	return w.faults
}

// apply makes t happen. It must be enabled.
func (w *World) apply(t Transition) {
	w.hash = w.hash.Uint64(uint64(t.Kind)<<48 | uint64(t.Client)<<16 | uint64(t.Arg))
	var c *Client
	if t.Client > 0 {
		c = w.Client(int(t.Client))
		c.invalidate()
	}
	switch t.Kind {
	case Run:
		g := c.byName(int(t.Arg))
		c.see(g)
		g.resume()
	case Deliver:
		c.deliver()
	case Serve:
		c.serve()
	case Round, Connect:
		c.dialed(t)
	case Resume:
		c.paused = false
		for _, x := range c.connections() {
			x.invalidate()
		}
	case Undelay:
		c.slow = false
	case Expire:
		c.Expire()
	case Replicate:
		w.servers[t.Arg].applyNext()
	case Thaw:
		w.servers[t.Arg].frozen = false
	case Tick:
		w.tick(c)
	case Calm:
		w.beCalm()
	case Reap:
		w.reap()
	case StepDown:
		w.servers[t.Arg].stepDown()
	case Disown:
		c.disown(int(t.Arg))
	case Lapse:
		c.lapse(0)
	case Late:
		c.serveOrphan()
	case Choose:
		w.chosen(int(t.Arg))
	default:
		w.recordFault(t)
		w.injector.Apply(w, t)
	}
	for _, c := range w.dirty { // at once, whatever is chosen next: a later event must not win over an earlier one
		if c.dirty {
			c.poll()
		}
	}
	w.dirty = w.dirty[:0]
}

// markDirty says that channels or contexts that the client's code may wait for have changed.
func (c *Client) markDirty() {
	c = c.host
	if !c.dirty {
		c.dirty = true
		c.w.dirty = append(c.w.dirty, c)
	}
}

// invalidate says that what is possible for the client may have changed.
func (c *Client) invalidate() {
	c.stale = true
	if !c.invalidated && c.w.tracks {
		c.invalidated = true
		c.w.invalidated = append(c.w.invalidated, c)
	}
}
