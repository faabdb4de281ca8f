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
	roster    uint64 // hash of the names of its coroutines in transitions
	stance    uint64 // hash of what decides what can happen to it, except time and what is on its way
	begun     bool   // it has had a connection, or never will have one
	connected bool
	hungup    bool // by the server
	closed    bool
	served    bool
	leaves    bool       // code may go on without the answer to a request, see Env.Within
	calls     bool       // code waits for the answer to one
	auth      []model.ID // those in caller, in full
	live      bool       // the requests are in memory that will be reused
	timers    []pending
	ends      int64     // virtual time at which the session can end; 0: connected
	watched   []watched // watches of the library
	wire      []packet
	late      []packet
	down      []Parcel
	seat      seat
	orphaned  bool // a session goes on that its library no longer has
	options   int  // how many numbers code can get that has asked for one; 0: none has
	ready     bool // code goes on as soon as it may

	key   uint64 // hash of all that
	core  uint64 // of all except what is on its way
	head  uint64 // of what decides what can happen
	end   uint64 // of what the servers know about the client, with its seat; 0 with one server
	plain uint64 // of all except watches, what is on its way to the client, and the roster
}

// watched is a watch that will be set again on a reconnect, and the zxid since when it waits.
type watched struct {
	path  uint64 // hash
	since int64
	what  uint64 // hash of its kind and path, and of the code that has its channel
}

// packet is a request on its way.
type packet struct {
	from    uint64         // the coroutine that waits for the answer; 0: none
	what    uint64         // hash of the request
	req     *model.Request // for a Replica
	write   bool
	lasting bool // it may be executed after the connection was cut
	watched []watched
}

// Key returns a hash of the part. Parts with the same key behave alike.
func (p *Part) Key() uint64 { return p.key }

// Core returns a hash of the part without what is on its way.
func (p *Part) Core() uint64 { return p.core }

// Caller returns a hash of the client as the servers know it.
func (p *Part) Caller() uint64 { return p.caller }

// First returns a hash of the next message to the client; 0 if there is none.
func (p *Part) First() uint64 {
	if len(p.down) == 0 {
		return 0
	}
	return uint64(p.parcel(hash.Hash(0), 0))
}

// parcel appends a message that is on its way to the client.
func (p *Part) parcel(h hash.Hash, i int) hash.Hash {
	h = h.Uint64(p.down[i].what)
	if p.seat.several {
		h = h.Int(p.down[i].at)
	}
	return h
}

// End returns a hash of what the servers know about the client; 0 with one server, where the request shows it.
func (p *Part) End() uint64 { return p.end }

// Orphaned reports whether a session of the client goes on that its library no longer has.
func (p *Part) Orphaned() bool { return p.orphaned }

// Alive reports whether the client has not ended.
func (p *Part) Alive() bool { return !p.closed }

// Server returns the index of the server that the client is, or was last, connected to, if there are several.
func (p *Part) Server() int { return p.seat.server }

// Head returns a hash of what decides what can happen to the client next, unless that depends on the content of a
// request. Of what is on its way it only counts whether there is something.
func (p *Part) Head() uint64 { return p.head }

// Begun reports whether the client has had a connection, or will never have one.
func (p *Part) Begun() bool { return p.begun }

// Served reports whether a server has taken a request of the client.
func (p *Part) Served() bool { return p.served }

// Connected reports whether the client has a connection.
func (p *Part) Connected() bool { return p.connected }

// Leaves reports whether client code may give up a request: then what a step does depends on where the request is. On a
// connection that the server has closed, one that Close gives up may be nowhere, and the rest does not tell.
func (p *Part) Leaves() bool { return p.leaves || p.calls && p.hungup }

// Ready reports whether code of the client is to go on at once, as [World.Prompt] says, but has not. Where code is
// quick, that is so only while some code chooses a number.
func (p *Part) Ready() bool { return p.ready }

// Ends returns the virtual time at which the session of a client without a connection can end; 0 if it has a
// connection.
func (p *Part) Ends() int64 { return p.ends }

// Next returns a hash of the next request that the servers take from the client, and of its sender; false if there is
// none.
func (p *Part) Next() (request uint64, ok bool) {
	next := p.next()
	if next == nil {
		return 0, false
	}
	h := hash.Hash(p.caller).Uint64(next.from).Uint64(next.what)
	return uint64(since(h, next.watched).Bool(p.connected)), true
}

// next returns the next request that the servers take from the client; nil if there is none.
func (p *Part) next() *packet {
	switch {
	case len(p.wire) > 0:
		return &p.wire[0]
	case len(p.late) > 0:
		return &p.late[0]
	}
	return nil
}

// Part sets p to the state of the client. It reuses p's memory.
func (c *Client) Part(p *Part) {
	p.id, p.body, p.session, p.begun = c.id, c.body(), c.session, c.sessions > 0 || c.closed || c != c.host
	p.connected, p.hungup, p.served, p.ends = c.connected, c.hungup, c.served, 0
	if !c.connected {
		p.ends = c.expiry()
	}
	p.live, p.auth, p.closed = true, c.conn.Auth, c.closed
	p.seat, p.orphaned = c.seat(), len(c.orphans) > 0
	p.leaves, p.calls, p.options, p.ready = false, false, 0, false
	for _, g := range c.coroutines {
		switch g.status {
		case calling:
			p.calls, p.leaves = true, p.leaves || g.within != nil
		case choosing:
			p.options = g.options
		case runnable:
			p.ready = p.ready || !g.slow
		}
	}
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
		p.down = append(p.down, c.parcel(i))
	}
	p.seal()
}

// stance returns a hash of all that World.Normal, and the faults that strike no requests, ask of a client, except what
// is on its way, its seat, what the servers have of it, and the time.
func (c *Client) stance() uint64 {
	h := c.flags(hash.Hash(0).Int(int64(c.id))).Bool(c.session != 0).Bool(len(c.unsent) > 0)
	if len(c.w.servers) > 1 {
		h = h.Bool(c.Fresh())
	}
	h = h.Int(int64(c.server)).Int(int64(c.tried)).Int(int64(c.state))
	for _, g := range c.coroutines {
		if g.status == runnable {
			h = h.Int(int64(g.name))
		}
	}
	return uint64(h)
}

// event says whether the next message to the client is a watch event, and whether code waits for it.
func (p *Part) event() uint64 {
	if len(p.down) == 0 {
		return 0
	}
	return p.down[0].what & 3
}

// strikable says which of the faults are possible that depend on what is on its way to the server, not only on whether
// something is: see [Client.Unwritten] and [Client.Overtaken].
func (p *Part) strikable() (faults uint64) {
	for i := range p.wire {
		x := &p.wire[i]
		last := i == len(p.wire)-1
		faults |= bit(last && x.from != 0 && x.req.Op != model.OpCloseSession) |
			bit(i > 0 && x.from != 0 && p.wire[i-1].req.Op == model.OpSetWatches)<<1
	}
	return faults
}

// writes says whether the next request of the client is a write.
func (p *Part) writes() bool {
	next := p.next()
	return next != nil && next.write
}

// timed says whether there are timers, and whether one fires before the session can end.
func (p *Part) timed() uint64 {
	early := func(x pending) bool { return !p.connected && x.at <= p.ends }
	return bit(len(p.timers) > 0) | bit(slices.ContainsFunc(p.timers, early))<<1
}

// packetOf returns the packet of a request on its way. g waits for the answer; nil if nobody does.
func (c *Client) packetOf(req *model.Request, g *coroutine) packet {
	var list []watched
	if l := req.Watches; l != nil {
		for _, paths := range [...][]string{l.Data, l.Exist, l.Child} {
			for _, path := range paths {
				list = append(list, watched{path: hashOf(path), since: l.RelativeZxid})
			}
		}
	}
	write := req.Op.IsWrite()
	return packet{titleOf(g), uint64(c.hashRequest(0, req)), req, write, write || req.Op == model.OpAuth, list}
}

// severs reports whether a server may end the connection because of the request, so that what follows it is lost.
func (x *packet) severs() bool {
	return x.req.Op == model.OpAuth || x.req.PacketLen() > model.MaxPacketLen
}

// request returns the request for a client of a Replica.
func (x *packet) request() *request {
	r := &request{req: *x.req}
	if x.from != 0 {
		r.g = &coroutine{title: x.from}
	}
	return r
}

// own copies the packet's request into separate memory.
func (x *packet) own() {
	if x.req == nil {
		return
	}
	req := *x.req
	if l := req.Watches; l != nil {
		req.Watches = &model.WatchLists{RelativeZxid: l.RelativeZxid, Data: slices.Clone(l.Data),
			Exist: slices.Clone(l.Exist), Child: slices.Clone(l.Child), Persistent: slices.Clone(l.Persistent),
			Recursive: slices.Clone(l.Recursive)}
	}
	x.req = &req
}

// titleOf returns what distinguishes a coroutine from others of its client; 0 for nil.
func titleOf(g *coroutine) uint64 {
	if g == nil {
		return 0
	}
	return g.title
}

// parcel returns a message on its way to the client.
func (c *Client) parcel(i int) Parcel {
	m := &c.down[i]
	x := Parcel{what: m.hash(c)}
	if m.reply != nil && len(c.w.servers) > 1 {
		x.at = c.w.ahead(m.at)
	}
	return x
}

// hash returns a hash of a message on its way to a client. Its last bits say whether the message is a watch event, and
// whether code waits for it.
func (m *message) hash(c *Client) uint64 {
	ev := &m.event
	h := hash.Hash(0).Bool(m.eof).Bool(ev.Caught).Int(int64(ev.Type)).String(ev.Path).Int(ev.Zxid)
	if r := m.reply; r != nil {
		h = hashResponse(c.hashRequest(h.Uint64(titleOf(r.g)), &r.req).Int(r.res.Zxid), &r.res)
	}
	return uint64(h)&^3 | bit(m.isEvent()) | bit(m.reply != nil && m.reply.g != nil)<<1
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
	head := hash.Hash(p.stance).Uint64(p.roster).Uint64(p.timed() | bit(len(p.wire) > 0)<<2 |
		bit(len(p.late) > 0)<<3 | bit(len(p.down) > 0)<<4 | p.event()<<5 | p.strikable()<<7)
	if p.seat.several {
		end := p.seat.hashed(hash.Hash(p.caller).Bool(p.connected).Bool(p.hungup))
		head, core, p.plain = head.Uint64(uint64(end)).Bool(p.writes()), core.Uint64(uint64(end)),
			uint64(plain.Uint64(uint64(end)))
		p.end = uint64(end)
	}
	p.head = uint64(head)

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
		key = p.parcel(key, i)
	}
	p.key = uint64(key)
}

// Fingerprint returns a hash of the part beside these servers, a different one for each salt. Instead of since when its
// watches wait, it counts what they have missed.
func (p *Part) Fingerprint(s *Servers, salt uint64) uint64 {
	h := hash.Hash(p.plain + salt)
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
		h = p.parcel(h, i)
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
				list[i].own()
			}
		}
		x.seat.await.own()
	}
	return &x
}
