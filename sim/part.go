package sim

import (
	"slices"

	"zksim/model"
)

// Part is the state of a client with its connection.
type Part struct {
	id        int
	body      uint64
	session   int64
	caller    uint64 // hash of who the servers take the client for
	roster    uint64 // hash of what transitions call its coroutines
	stance    uint64 // hash of what decides what can happen to it, but for what is on its way and time
	begun     bool   // has had a connection, or never will have one
	connected bool
	hungup    bool // by the server
	served    bool
	auth      []model.ID // caller in full
	live      bool       // the requests are in memory that will be used again
	timing    timing
	watched   []watched
	wire      []packet
	late      []packet
	down      []uint64

	key   uint64 // hash of all that
	core  uint64 // of all but what is on its way
	head  uint64 // of what decides what can happen
	plain uint64 // of all but since when watches are waiting for changes, and the roster
	waits bool   // there is a watch
}

// watched is a watch that will be set again on a reconnect, and since when: the rank of
// a zxid.
type watched struct {
	path  uint64
	since int64
}

// packet is a request on its way.
type packet struct {
	from    uint64 // who waits for the answer; 0: nobody
	what    uint64
	req     *model.Request // for a StandIn, which does not take those that refer to more memory
	lasting bool           // it may be executed after the connection was cut
	watched []watched
}

// Key returns a hash of the part. Parts with the same key behave alike.
func (p *Part) Key() uint64 { return p.key }

// Core returns a hash of the part but for what is on its way.
func (p *Part) Core() uint64 { return p.core }

// Caller returns a hash of who the servers take the client for.
func (p *Part) Caller() uint64 { return p.caller }

// First returns a hash of the next message to the client; 0 if there is none.
func (p *Part) First() uint64 {
	if len(p.down) == 0 {
		return 0
	}
	return p.down[0]
}

// Head returns a hash of what decides what can happen to the client next, as far as it does not
// depend on what a request says: of what is on its way only whether it is there.
func (p *Part) Head() uint64 { return p.head }

// Begun reports whether the client has had a connection, or will never have one.
func (p *Part) Begun() bool { return p.begun }

// Served reports whether a server has taken a request of the client.
func (p *Part) Served() bool { return p.served }

// Connected reports whether the client has a connection.
func (p *Part) Connected() bool { return p.connected }

// Next returns a hash of the request that the servers take next of the client, and of who
// sends it; false if there is none.
func (p *Part) Next() (request uint64, ok bool) {
	next := p.next()
	if next == nil {
		return 0, false
	}
	d := digest(p.caller)
	d.add(next.from)
	d.add(next.what)
	d.since(next.watched)
	d.add(bit(p.connected))
	return uint64(d), true
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
	w := c.w
	p.id, p.body, p.session, p.begun, p.connected, p.served = c.id, c.body(), c.session, c.sessions > 0 || c.closed, c.connected, c.served
	var caller digest
	caller.add(uint64(c.id)<<32 ^ uint64(c.session))
	for _, x := range c.conn.Auth {
		caller.addString(x.Scheme)
		caller.addString(x.ID)
	}
	p.live = true
	c.timing(&p.timing)
	p.caller, p.auth, p.roster, p.hungup, p.stance = uint64(caller), c.conn.Auth, uint64(c.roster), c.hungup, c.stance()
	p.watched, p.wire, p.late, p.down = p.watched[:0], p.wire[:0], p.late[:0], p.down[:0]
	for i, x := range c.watchers { // the library uses its last zxid for nothing else
		if !c.spare(i) {
			p.watched = append(p.watched, watched{namePrint(x.path), w.Rank(c.lastZxid)})
		}
	}
	for _, r := range c.wire {
		p.wire = append(p.wire, packetOf(w, &r.req, r.g))
	}
	for i := range c.late {
		p.late = append(p.late, packetOf(w, &c.late[i], nil))
	}
	for i := range c.down {
		p.down = append(p.down, c.down[i].hash(w))
	}
	p.seal()
}

// stance returns a hash of all that World.Normal, with one server, and the faults that strike no requests ask of a
// client besides what is on its way, what the servers have of it, and the time.
func (c *Client) stance() uint64 {
	var d digest
	d.add(uint64(c.id)<<16 | bit(c.connected) | bit(c.closed)<<1 | bit(c.rounded)<<2 | bit(c.hungup)<<3 | bit(c.paused)<<4 |
		bit(c.slow)<<5 | bit(c.crashed)<<6 | bit(c.interrupt != nil)<<7 | bit(c.await != nil)<<8 | bit(c.session != 0)<<9 | bit(len(c.unsent) > 0)<<10)
	d.add(uint64(c.server+1)<<32 | uint64(c.tried+1))
	for _, g := range c.coroutines {
		if g.status == runnable {
			d.add(uint64(g.name))
		}
	}
	return uint64(d)
}

// timed says whether there are timers, and whether one fires before the session can end.
func (p *Part) timed() uint64 {
	early := func(x pending) bool { return !p.connected && x.in <= p.timing.due }
	return bit(len(p.timing.timers) > 0) | bit(slices.ContainsFunc(p.timing.timers, early))<<1
}

// packetOf returns a request as it is on its way; g waits for the answer, nil if nobody does.
func packetOf(w *World, req *model.Request, g *coroutine) packet {
	var d digest
	d.addRequest(req)
	var list []watched
	if l := req.Watches; l != nil {
		for _, paths := range [...][]string{l.Data, l.Exist, l.Child} {
			d.add(uint64(len(paths)))
			for _, path := range paths {
				d.addString(path)
				list = append(list, watched{namePrint(path), w.Rank(l.RelativeZxid)})
			}
		}
	}
	return packet{titleOf(g), uint64(d), req, req.Op.IsWrite() || req.Op == model.OpAuth, list}
}

// titleOf returns what tells a coroutine from others of its client; 0 for nil.
func titleOf(g *coroutine) uint64 {
	if g == nil {
		return 0
	}
	return g.title
}

// hash returns a hash of a message on its way to a client, which is odd for watch events.
func (m *message) hash(w *World) uint64 {
	var d digest
	d.add(bit(m.eof) | bit(m.event.Caught)<<1 | uint64(uint32(m.event.Type))<<8)
	d.addString(m.event.Path)
	d.add(uint64(w.Rank(m.event.Zxid)))
	if m.reply != nil {
		d.add(titleOf(m.reply.g))
		d.add(uint64(w.Rank(m.reply.res.Zxid)))
		if len(w.servers) > 1 {
			d.add(w.ahead(m.reply.res.Zxid))
		}
		d.addResponse(&m.reply.res, w.Rank)
	}
	return uint64(d)&^1 | bit(m.reply == nil && !m.eof)
}

func (d *digest) since(list []watched) {
	for _, x := range list {
		d.add(uint64(x.since))
	}
}

// seal computes the hashes of a part.
func (p *Part) seal() {
	var core digest
	core.add(uint64(p.id)<<8 | bit(p.begun)<<1 | bit(p.served))
	core.add(p.body)
	core.add(p.timing.hash())
	core.add(p.caller)
	plain := core
	core.add(p.roster)
	head := digest(p.stance)
	head.add(p.roster)
	head.add(p.timed()<<4 | bit(len(p.wire) > 0) | bit(len(p.late) > 0)<<1 | bit(len(p.down) > 0)<<2 | p.First()&1<<3)
	p.head = uint64(head)

	plain.add(uint64(len(p.wire))<<32 ^ uint64(len(p.late))<<16 ^ uint64(len(p.down)))
	for _, x := range p.down {
		plain.add(x)
	}
	for _, list := range [...][]packet{p.wire, p.late} {
		for i := range list {
			plain.add(list[i].from)
			plain.add(list[i].what)
		}
	}
	p.plain = uint64(plain)
	p.waits = len(p.watched) > 0
	core.since(p.watched)
	p.core = uint64(core)
	plain.add(p.roster)
	plain.since(p.watched)
	for i := range p.wire {
		p.waits = p.waits || len(p.wire[i].watched) > 0
		plain.since(p.wire[i].watched)
	}
	p.key = uint64(plain)
}

// Fingerprint returns a hash of the part beside these servers: of since when its watches
// wait it counts what they have missed.
func (p *Part) Fingerprint(s *Servers) uint64 {
	if !p.waits {
		return p.plain
	}
	d := digest(p.plain)
	for _, x := range p.watched {
		d.add(s.missed(x))
	}
	for i := range p.wire {
		for _, x := range p.wire[i].watched {
			d.add(s.missed(x))
		}
	}
	return uint64(d)
}

// Clone returns a part that shares no memory with p.
func (p *Part) Clone() *Part {
	x := *p
	x.watched, x.wire, x.late, x.down = slices.Clone(p.watched), slices.Clone(p.wire), slices.Clone(p.late), slices.Clone(p.down)
	x.timing.timers = slices.Clone(p.timing.timers)
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
	wire, late, down = append(q.wire[:0], wire...), append(q.late[:0], late...), append(append(q.down[:0], p.down...), down...)
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
