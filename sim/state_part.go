package sim

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model"
)

// Part is the state of a client with its connection.
type Part struct {
	id        int
	body      uint64
	session   int64
	caller    uint64 // hash of the client as the servers know it
	roster    uint64 // hash of what transitions call its coroutines
	stance    uint64 // hash of what decides what can happen to it, but for what is on its way and time
	begun     bool   // has had a connection, or never will have one
	connected bool
	hungup    bool // by the server
	served    bool
	leaves    bool       // code may go on without the answer to a request of it, see Env.Within
	auth      []model.ID // caller in full
	live      bool       // the requests are in memory that will be used again
	timers    []pending
	ends      int64     // virtual time at which the session can end; 0: connected
	watched   []watched // watches of the library
	wire      []packet
	late      []packet
	down      []uint64

	key   uint64 // hash of all that
	core  uint64 // of all but what is on its way
	head  uint64 // of what decides what can happen
	plain uint64 // of all but watches, what is on its way to the client, and the roster
}

// watched is a watch that will be set again on a reconnect, and since when: a zxid.
type watched struct {
	path  uint64 // hash
	since int64
	what  uint64 // hash of its kind and path, and of the code that has its channel
}

// packet is a request on its way.
type packet struct {
	from    uint64         // the coroutine that waits for the answer; 0: none
	what    uint64         // hash of the request
	req     *model.Request // for a Replica, which does not take those that refer to more memory
	lasting bool           // it may be executed after the connection was cut
	watched []watched
}

// Key returns a hash of the part. Parts with the same key behave alike.
func (p *Part) Key() uint64 { return p.key }

// Core returns a hash of the part but for what is on its way.
func (p *Part) Core() uint64 { return p.core }

// Caller returns a hash of the client as the servers know it.
func (p *Part) Caller() uint64 { return p.caller }

// First returns a hash of the next message to the client; 0 if there is none.
func (p *Part) First() uint64 {
	if len(p.down) == 0 {
		return 0
	}
	return p.down[0]
}

// Head returns a hash of what decides what can happen to the client next, where that does not
// depend on what a request says: of what is on its way only whether it is there.
func (p *Part) Head() uint64 { return p.head }

// Begun reports whether the client has had a connection, or will never have one.
func (p *Part) Begun() bool { return p.begun }

// Served reports whether a server has taken a request of the client.
func (p *Part) Served() bool { return p.served }

// Connected reports whether the client has a connection.
func (p *Part) Connected() bool { return p.connected }

// Leaves reports whether code of the client may give up a request: then what a step does depends on where that is.
func (p *Part) Leaves() bool { return p.leaves }

// Ends returns the virtual time at which the session of a client without a connection can end; 0 if
// it has a connection.
func (p *Part) Ends() int64 { return p.ends }

// Next returns a hash of the request that the servers take next of the client, and of its
// sender; false if there is none.
func (p *Part) Next() (request uint64, ok bool) {
	next := p.next()
	if next == nil {
		return 0, false
	}
	h := hash.Hash(p.caller).Uint64(next.from).Uint64(next.what)
	return uint64(since(h, next.watched).Bool(p.connected)), true
}

// next returns the request that the servers take next of the client; nil if there is none.
func (p *Part) next() *packet {
	switch {
	case len(p.wire) > 0:
		return &p.wire[0]
	case len(p.late) > 0:
		return &p.late[0]
	}
	return nil
}

// Part sets p to the state of the client. It uses the memory of p.
func (c *Client) Part(p *Part) {
	p.id, p.body, p.session, p.begun = c.id, c.body(), c.session, c.sessions > 0 || c.closed
	p.connected, p.hungup, p.served, p.ends = c.connected, c.hungup, c.served, 0
	if !c.connected {
		p.ends = c.expiry()
	}
	p.live, p.auth = true, c.conn.Auth
	p.leaves = slices.ContainsFunc(c.coroutines, func(g *coroutine) bool { return g.status == calling && g.within != nil })
	p.caller = uint64(hashIdentities(hash.Hash(0).Int(int64(c.id)).Int(c.session), c.conn.Auth))
	p.timers = c.pending(p.timers[:0])
	p.roster, p.stance = uint64(c.roster), c.stance()
	p.watched, p.wire, p.late, p.down = p.watched[:0], p.wire[:0], p.late[:0], p.down[:0]
	for i, x := range c.watchers { // the library uses its last zxid for nothing else
		if c.spare(i) {
			continue
		}
		path := hashOf(x.path)
		what := hash.Hash(0).Uint64(path).Int(int64(x.kind))
		if c.w.Detail.Forget {
			what = what.Int(numberOf(x.scope))
		}
		p.watched = append(p.watched, watched{path, c.lastZxid, uint64(what)})
	}
	for _, r := range c.wire {
		p.wire = append(p.wire, c.packetOf(&r.req, r.g))
	}
	for i := range c.late {
		p.late = append(p.late, c.packetOf(&c.late[i], nil))
	}
	for i := range c.down {
		p.down = append(p.down, c.down[i].hash(c))
	}
	p.seal()
}

// stance returns a hash of all that World.Normal, with one server, and the faults that strike no requests ask of a
// client besides what is on its way, what the servers have of it, and the time.
func (c *Client) stance() uint64 {
	h := c.flags(hash.Hash(0).Int(int64(c.id))).Bool(c.session != 0).Bool(len(c.unsent) > 0)
	h = h.Int(int64(c.server)).Int(int64(c.tried))
	for _, g := range c.coroutines {
		if g.status == runnable {
			h = h.Int(int64(g.name))
		}
	}
	return uint64(h)
}

// timed says whether there are timers, and whether one fires before the session can end.
func (p *Part) timed() uint64 {
	early := func(x pending) bool { return !p.connected && x.at <= p.ends }
	return bit(len(p.timers) > 0) | bit(slices.ContainsFunc(p.timers, early))<<1
}

// packetOf returns a request as it is on its way; g waits for the answer, nil if nobody does.
func (c *Client) packetOf(req *model.Request, g *coroutine) packet {
	var list []watched
	if l := req.Watches; l != nil {
		for _, paths := range [...][]string{l.Data, l.Exist, l.Child} {
			for _, path := range paths {
				list = append(list, watched{path: hashOf(path), since: l.RelativeZxid})
			}
		}
	}
	return packet{titleOf(g), uint64(c.hashRequest(0, req)), req, req.Op.IsWrite() || req.Op == model.OpAuth, list}
}

// titleOf returns what tells a coroutine from others of its client; 0 for nil.
func titleOf(g *coroutine) uint64 {
	if g == nil {
		return 0
	}
	return g.title
}

// hash returns a hash of a message on its way to a client, which is odd for watch events.
func (m *message) hash(c *Client) uint64 {
	ev := &m.event
	h := hash.Hash(0).Bool(m.eof).Bool(ev.Caught).Int(int64(ev.Type)).String(ev.Path).Int(ev.Zxid)
	if r := m.reply; r != nil {
		h = c.hashRequest(h.Uint64(titleOf(r.g)), &r.req).Int(r.res.Zxid)
		if len(c.w.servers) > 1 {
			h = h.Int(c.w.ahead(m.at))
		}
		h = hashResponse(h, &r.res)
	}
	return uint64(h)&^1 | bit(m.isEvent())
}

func since(h hash.Hash, list []watched) hash.Hash {
	for _, x := range list {
		h = h.Int(x.since)
	}
	return h
}

// seal computes the hashes of a part.
func (p *Part) seal() {
	core := hash.Hash(0).Int(int64(p.id)).Bool(p.begun).Bool(p.served).Bool(p.connected).Bool(p.hungup).
		Uint64(p.body).Uint64(p.caller).Int(p.ends).Int(int64(len(p.timers)))
	for _, x := range p.timers {
		core = core.Int(x.at).Uint64(x.who)
	}
	plain := core.Int(int64(len(p.wire))).Int(int64(len(p.late)))
	for _, list := range [...][]packet{p.wire, p.late} {
		for i := range list {
			plain = plain.Uint64(list[i].from).Uint64(list[i].what)
		}
	}
	p.plain = uint64(plain)
	p.head = uint64(hash.Hash(p.stance).Uint64(p.roster).Uint64(p.timed() | bit(len(p.wire) > 0)<<2 |
		bit(len(p.late) > 0)<<3 | bit(len(p.down) > 0)<<4 | p.First()&1<<5))

	core = core.Uint64(p.roster).Int(int64(len(p.watched)))
	for i := range p.watched {
		core = core.Uint64(p.watched[i].what).Int(p.watched[i].since)
	}
	p.core = uint64(core)
	key := plain.Uint64(p.core).Int(int64(len(p.down)))
	for i := range p.wire {
		key = since(key, p.wire[i].watched)
	}
	for i := range p.down {
		key = key.Uint64(p.down[i])
	}
	p.key = uint64(key)
}

// Fingerprint returns a hash of the part beside these servers: of since when its watches wait it counts what they
// have missed.
func (p *Part) Fingerprint(s *Servers) uint64 {
	h := hash.Hash(p.plain)
	for i := range p.watched {
		h = h.Uint64(p.watched[i].what).Uint64(s.missed(p.watched[i]))
	}
	for i := range p.wire {
		for _, x := range p.wire[i].watched {
			h = h.Uint64(s.missed(x))
		}
	}
	h = h.Int(int64(len(p.down)))
	for i := range p.down {
		h = h.Uint64(p.down[i])
	}
	return uint64(h)
}

// Clone returns a part that shares no memory with p.
func (p *Part) Clone() *Part {
	x := *p
	x.watched, x.wire, x.late, x.down = slices.Clone(p.watched), slices.Clone(p.wire), slices.Clone(p.late),
		slices.Clone(p.down)
	x.timers = slices.Clone(p.timers)
	if x.live {
		x.live = false
		for _, list := range [...][]packet{x.wire, x.late} {
			for i := range list {
				req := *list[i].req
				list[i].req = &req
			}
		}
	}
	return &x
}

// Push sets q to the part after messages with these hashes have been sent to the client. It uses
// the memory of q for what is on its way.
func (p *Part) Push(q *Part, down ...uint64) { p.pass(q, p.wire, p.late, down) }

// Serve is Push after the next request of the client was taken.
func (p *Part) Serve(q *Part, down ...uint64) {
	if len(p.wire) > 0 {
		p.pass(q, p.wire[1:], p.late, down)
	} else {
		p.pass(q, nil, p.late[1:], down)
	}
	if !q.served {
		q.served = true
		q.seal()
	}
}

func (p *Part) pass(q *Part, wire, late []packet, down []uint64) {
	wire, late, down = append(q.wire[:0], wire...), append(q.late[:0], late...),
		append(append(q.down[:0], p.down...), down...)
	*q = *p
	q.wire, q.late, q.down = wire, late, down
	q.seal()
}

// Pushed returns the hashes of the messages that were sent to the client between p and q,
// if nothing else has happened to it.
func (p *Part) Pushed(q *Part) (down []uint64, ok bool) {
	if len(q.down) < len(p.down) {
		return nil, false
	}
	var x Part
	down = q.down[len(p.down):]
	p.Push(&x, down...)
	return down, x.key == q.key
}

// Answered is Pushed where a request of the client was taken as well.
func (p *Part) Answered(q *Part) (down []uint64, ok bool) {
	if _, ok := p.Next(); !ok || len(q.down) < len(p.down) {
		return nil, false
	}
	var x Part
	down = q.down[len(p.down):]
	p.Serve(&x, down...)
	return down, x.key == q.key
}
