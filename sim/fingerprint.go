package sim

import "github.com/go-zookeeper/zk"

// Fingerprint returns a hash of the world's state: servers, log, messages on
// their way, libraries, and the clients' code, which is determined by what it
// has seen; once it has ended, by what Remains says. Two worlds of the same configuration and program whose fingerprints
// are equal have the same futures, but for hash collisions and what Config.Detail
// says.
//
// Without Detail.Zxids, it takes for the same what differs only in the numbers of
// txns that changed no znode (sessions that begin, writes that failed): the order
// of zxids is kept, and that is all that code may make of them.
func (w *World) Fingerprint() uint64 {
	servers := w.Servers()
	d := digest(servers.hash)
	d.add(w.Rest())
	var p Part
	for _, c := range w.clients {
		c.Part(&p)
		d.add(p.Fingerprint(servers))
	}
	return uint64(d)
}

// Rank returns the zxid that a txn would have if only those counted that changed a znode; with
// Detail.Zxids the zxid itself. What is no zxid of the run stays as it is.
func (w *World) Rank(zxid int64) int64 {
	i := zxid - w.epoch
	if w.Detail.Zxids || i < 0 || i >= int64(len(w.ranks)) {
		return zxid
	}
	if w.Detail.Epoch {
		return w.epoch + w.ranks[i]
	}
	return w.ranks[i]
}

// ahead returns how many txns up to zxid are missing on the server that is furthest behind. It counts txns of all kinds,
// since a server takes no client back that has seen more than it has applied.
func (w *World) ahead(zxid int64) uint64 {
	return uint64(max(0, zxid-w.epoch-int64(w.everywhere())))
}

// everywhere returns how many txns of the log all servers have applied.
func (w *World) everywhere() int {
	n := w.committed
	for _, s := range w.servers {
		n = min(n, s.applied)
	}
	return n
}

// Clock returns what client code has depended on in this run: on timers after Sleep and
// WithTimeout, on the time itself after Now or a context's Deadline.
func (w *World) Clock() Clock { return w.clock }

// Readings returns how often something was made in this run that is relative to the
// virtual time: a timer, an answer to Now, the end of a connection.
func (w *World) Readings() int { return w.readings }

// Hurried reports whether virtual time has moved on otherwise than by a tick: to when a
// session could end.
func (w *World) Hurried() bool { return w.hurried }

// depend notes what the client's code depends on.
func (w *World) depend(on Clock) {
	w.clock = max(w.clock, on)
	w.readings++
}

// askTime returns the time to the client's code.
func (c *Client) askTime() int64 {
	c.w.depend(Times)
	if g := c.w.current; g != nil {
		g.learn(uint64(c.w.now))
	}
	return c.w.now
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// body returns a hash of the client without its connection, and without its timing: of its code and library.
func (c *Client) body() uint64 {
	var d digest
	w := c.w
	if w.Remains != nil && !w.Detail.Ended && len(c.coroutines) == 0 {
		d.add(w.Remains(c))
	} else if w.Detail.Forget {
		c.knowledge(&d)
	} else {
		d.add(uint64(c.observed))
	}
	d.add(bit(c.connected) | bit(c.closed)<<1 | bit(c.rounded)<<2 | bit(c.hungup)<<3 | bit(c.paused)<<4 |
		bit(c.slow)<<5 | bit(c.crashed)<<6 | bit(c.closing)<<7 | bit(c.interrupt != nil)<<8)
	d.add(uint64(c.server+1)<<32 | uint64(c.tried+1))
	d.add(uint64(uint32(c.state))<<32 ^ uint64(c.session))
	d.add(uint64(c.sessions)<<16 ^ uint64(len(c.auth)))
	if len(w.servers) > 1 {
		d.add(w.ahead(c.lastZxid)<<1 | bit(c.lastZxid == 0))
		d.add(uint64(c.owedAt)<<32 ^ uint64(max(0, c.owedTo-w.servers[c.owedAt].applied)))
	}
	d.add(uint64(len(c.unsent)))
	for _, r := range c.unsent {
		d.add(titleOf(r.g))
		d.addRequest(&r.req)
	}
	if c.await != nil {
		d.add(titleOf(c.await.g))
		d.add(uint64(c.awaitTo - w.servers[c.server].applied))
		d.addRequest(&c.await.req)
	}
	for i, x := range c.watchers {
		if !c.spare(i) {
			d.add(uint64(x.kind))
			d.addString(x.path)
		}
	}
	for _, g := range c.coroutines {
		d.add(g.title ^ uint64(g.status)<<16 ^ uint64(g.got+1)<<3 ^ failure(g.req.err) ^ eventPrint(g.event))
	}
	return uint64(d)
}

// failure returns a number for an error of the library.
func failure(err error) uint64 {
	switch err {
	case nil:
		return 0
	case zk.ErrConnectionClosed:
		return 1
	case zk.ErrNoServer:
		return 2
	case zk.ErrClosing:
		return 3
	case zk.ErrSessionExpired:
		return 4
	}
	return 5
}

// Learn notes that the client's code has got a value from elsewhere than its connection
// and its environment.
func (c *Client) Learn(x uint64) { c.here().learn(x) }

// see notes what the client's code learns when a coroutine goes on. What it can ask
// for without a message is noted when it asks.
func (c *Client) see(g *coroutine) {
	g.learn(g.title ^ uint64(g.got+1)<<16 ^ failure(g.req.err) ^ eventPrint(g.event))
	if c.w.Detail.Forget {
		c.share(g.knows())
	}
}
