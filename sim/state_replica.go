package sim

import (
	"zksim/model"
	"zksim/model/history"
)

// Replica executes requests on servers of which only the state is known, makes followers apply txns, and ends
// connections. It runs no client code: what servers make of these depends on nothing else.
type Replica struct{ w *World }

// NewReplica returns a Replica for runs of that many clients and servers and that Detail; kept is World.Share.
func NewReplica(clients, servers int, d Detail, kept func(uint64, func() *Stored) *Stored) *Replica {
	w := NewWorld()
	w.Detail, w.Share = d, kept
	for k := range servers {
		w.servers = append(w.servers, newServer(w, k))
	}
	for id := 1; id <= clients; id++ {
		c := &Client{w: w, id: id}
		c.host = c
		c.conn.Index = id
		w.clients = append(w.clients, c)
	}
	return &Replica{w}
}

// Stepped is the result of a step of the servers.
type Stepped struct {
	Servers *Servers
	Moved   []*Moved        // the clients to which something was done
	Told    []history.Event // their Step is 0
}

// Step makes a transition of servers happen at a virtual time: serve, replicate, thaw or stepdown. It returns false for
// another one, or if it needs more than these servers and the seats and identities of the clients.
func (x *Replica) Step(s *Servers, clients []*Part, t Transition, now int64) (after Stepped, ok bool) {
	w := x.w
	var next *packet
	switch t.Kind {
	case Serve:
		if next = clients[t.Client-1].next(); next == nil || !w.standard(next.req) {
			return Stepped{}, false
		}
	case Replicate, Thaw, StepDown:
	default:
		return Stepped{}, false
	}
	if !w.restore(s, clients) {
		return Stepped{}, false
	}
	w.now = now
	switch k := t.Arg; t.Kind {
	case Serve:
		w.clients[t.Client-1].take(next)
	case Replicate:
		w.servers[k].applyNext()
	case Thaw:
		w.servers[k].frozen = false
	default:
		w.servers[k].stepDown()
	}
	after.Servers = w.Servers()
	for i, p := range clients {
		if m := w.clients[i].moved(p, t.Kind == Serve && int(t.Client) == p.id); m != nil {
			after.Moved = append(after.Moved, m)
		}
	}
	for _, e := range w.History.Events {
		e.Step = 0
		after.Told = append(after.Told, e)
	}
	return after, true
}

// take executes the next request of a client of a Replica.
func (c *Client) take(next *packet) {
	if c.connected {
		c.wire = append(c.wire, next.request())
	} else {
		c.late = append(c.late, *next.req)
	}
	c.serve()
}

// moved returns what was done to a client of a Replica that had the part p; nil if nothing was. taken says that one of
// its requests was taken.
func (c *Client) moved(p *Part, taken bool) *Moved {
	m := &Moved{Client: p.id - 1, seat: c.seat(), hungup: c.hungup, taken: taken, gone: c.hungup && !p.hungup,
		ahead: c.w.Everywhere()}
	if c.w.Deposed() >= 0 {
		m.seat.ahead, m.seat.unheard = p.seat.ahead, p.seat.unheard
	} else {
		m.seat.ahead, m.seat.unheard = false, 0
	}
	switch {
	case m.seat.waits && taken:
		m.seat.await = *p.next()
	case m.seat.waits:
		m.seat.await = p.seat.await
	}
	for i := range c.down {
		m.down = append(m.down, c.parcel(i))
	}
	if !taken && len(m.down) == 0 && m.hungup == p.hungup && m.ahead == 0 && m.seat.same(&p.seat) {
		return nil
	}
	return m
}

// Disconnect returns the servers after the connection of a client has ended; false if it needs more than these servers.
func (x *Replica) Disconnect(s *Servers, clients []*Part, client int) (*Servers, bool) {
	if !x.w.restore(s, clients) {
		return nil, false
	}
	c := x.w.clients[client-1]
	x.w.servers[c.server].store.Disconnect(&c.conn)
	return x.w.Servers(), true
}

// standard reports whether a request only concerns znodes and watches on a server, and not the connection, or nothing
// of it that a seat does not tell.
func (w *World) standard(r *model.Request) bool {
	if r.Op == model.OpAuth || r.Op == model.OpCloseSession && len(w.servers) == 1 {
		return false
	}
	return r.PacketLen() <= model.MaxPacketLen
}

// restore sets the servers to a state, with clients that have only their sessions, identities, watches and seats. It
// returns false if a server has more than its snapshot.
func (w *World) restore(x *Servers, clients []*Part) bool {
	for k := range x.members {
		if x.members[k].snapshot == nil {
			return false
		}
	}
	w.History.Events = w.History.Events[:0]
	w.lead, w.respite, w.former, w.trimmed, w.committed = x.lead, x.respite, x.former, 0, len(x.log)
	w.log = w.log[:0]
	for i := range x.log {
		e := entry{txn: x.log[i].txn, req: x.log[i].req}
		if id := x.log[i].author; id > 0 {
			e.author = w.clients[id-1]
		}
		w.log = append(w.log, e)
	}
	for _, c := range w.clients {
		c.conn.Reset()
	}
	for k := range x.members {
		m, s := &x.members[k], w.servers[k]
		s.store.Restore(m.snapshot, func(index int) *model.Conn { return &w.clients[index-1].conn })
		s.applied, s.frozen, s.deposed, s.stuck = m.applied, m.frozen, m.deposed, m.stuck
	}
	for i, c := range w.clients {
		p := clients[i]
		c.wire, c.late, c.down = c.wire[:0], c.late[:0], c.down[:0]
		c.connected, c.hungup = p.connected, p.hungup
		c.session, c.conn.Session, c.conn.Auth = p.session, p.session, p.auth
		c.sit(&p.seat)
	}
	w.zxid = w.leader().store.Zxid()
	return true
}
