package sim

import (
	"slices"

	"zksim/internal/hash"
)

// seat is what the servers of an ensemble decide about a client without its library, and where the client stands in
// their log. With one server there is nothing to tell: every request is answered at once.
//
// Numbers of txns are relative to what some server has applied, so that states that differ only in the length of the
// log are one.
type seat struct {
	several bool // there are several servers; otherwise all fields are zero
	server  int
	seen    int64  // how many of the txns that the client has seen are missing on the server that is furthest behind
	owed    []owes // what servers owe the session, by server; it does not change
	await   packet // a request that the server has taken and not answered
	waits   bool   // there is such a request
	lacks   int64  // ... until the server has applied that many more; -1: never
	deposed bool   // the server is deposed and does not know it
	ahead   bool   // the client has seen more than the deposed leader has
	unheard int64  // for a client without a connection: when the deposed leader would take its session for expired
}

// owes says that a server owes the session an earlier write, until it has applied that many more txns; -1: it never
// will.
type owes struct {
	at   int
	more int64
}

// seat returns the seat of a client.
func (c *Client) seat() (x seat) {
	w := c.w
	if len(w.servers) == 1 {
		return seat{}
	}
	x.several, x.server, x.seen = true, c.server, w.ahead(c.lastTxn)
	for k, s := range w.servers {
		if more := lacks(c.owedBy(k), s); more != 0 {
			x.owed = append(x.owed, owes{k, more})
		}
	}
	if x.waits = c.await != nil; x.waits {
		x.await, x.lacks = c.packetOf(&c.await.req, c.await.g), lacks(c.awaitTo, w.servers[c.server])
	}
	if k := w.Deposed(); k >= 0 {
		x.deposed, x.ahead = c.connected && c.server == k, c.ahead(w.servers[k])
		if !c.connected && !c.closed {
			x.unheard = c.unheard()
		}
	}
	return x
}

// sit gives a client of a Replica the seat.
func (c *Client) sit(x *seat) {
	c.await, c.owed, c.lastTxn = nil, c.owed[:0], 0
	if !x.several {
		c.server = 0
		return
	}
	w := c.w
	c.server, c.lastTxn = x.server, int(x.seen) // all servers have applied nothing
	for _, o := range x.owed {
		c.owed = append(c.owed, owing{o.at, place(o.more, w.servers[o.at])})
	}
	if x.waits {
		c.await, c.awaitTo = x.await.request(), place(x.lacks, w.servers[x.server])
	}
}

// place returns the place in the log for which lacks returns n.
func place(n int64, s *server) int {
	if n < 0 {
		return never
	}
	return s.applied + int(n)
}

// same reports whether two seats are the same.
func (x *seat) same(y *seat) bool { return x.hashed(0) == y.hashed(0) }

// hashed appends the seat.
func (x *seat) hashed(h hash.Hash) hash.Hash {
	for _, o := range x.owed {
		h = h.Int(int64(o.at)).Int(o.more)
	}
	h = h.Int(int64(len(x.owed))).Int(int64(x.server)).Int(x.seen).Int(x.lacks).Int(x.unheard).
		Uint64(bit(x.waits) | bit(x.deposed)<<1 | bit(x.ahead)<<2)
	return h.Uint64(x.await.from).Uint64(x.await.what)
}

// Parcel is a message on its way to a client.
type Parcel struct {
	what uint64 // hash of it
	at   int64  // of an answer: how many of the txns that its server had applied are missing on the one furthest behind
}

// Moved is what the servers have done to a client: they have sent messages, taken a request, answered one, or closed
// its connection.
type Moved struct {
	Client int // index
	seat   seat
	hungup bool
	taken  bool     // its next request
	gone   bool     // so are the rest of its requests on the connection, which the server has closed
	ahead  int64    // how many more txns all servers have applied
	down   []Parcel // what was sent to it
}

// Move sets q to the part after the servers have done m. It reuses q's memory for what is on its way.
func (p *Part) Move(q *Part, m *Moved) {
	wire, late := p.wire, p.late
	switch {
	case m.taken && len(wire) > 0:
		wire = wire[1:]
	case m.taken:
		late = late[1:]
	}
	if m.gone {
		wire = nil
	}
	wire, late = append(q.wire[:0], wire...), append(q.late[:0], late...)
	down := append(q.down[:0], p.down...)
	for i := range down {
		down[i].at = max(0, down[i].at-m.ahead)
	}
	down = append(down, m.down...)
	*q = *p
	q.wire, q.late, q.down = wire, late, down
	q.seat, q.hungup, q.served = m.seat, m.hungup, p.served || m.taken
	q.seal()
}

// Moved returns what the servers have done to the client between p and q; false if something else has happened to it.
// ahead is how many more txns all servers have applied; taken says that they have taken a request.
func (p *Part) Moved(q *Part, ahead int64, taken bool) (*Moved, bool) {
	next := p.next()
	if len(q.down) < len(p.down) || taken && (next == nil || !p.connected && next.severs()) {
		return nil, false
	}
	m := &Moved{Client: p.id - 1, seat: q.seat, hungup: q.hungup, taken: taken, ahead: ahead,
		gone: q.hungup && !p.hungup, down: slices.Clone(q.down[len(p.down):])}
	var x Part
	p.Move(&x, m)
	return m, x.key == q.key
}
