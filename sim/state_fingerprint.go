package sim

import (
	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// Fingerprint returns a hash of the world's state: servers, log, messages on their way, libraries, the virtual time,
// and the clients' code, whose state is determined by what it has seen. Except for hash collisions, two worlds of the
// same configuration and program with equal fingerprints have the same futures.
func (w *World) Fingerprint() uint64 {
	servers := w.Servers()
	h := hash.Hash(servers.hash).Uint64(w.Rest()).Int(w.now)
	var p Part
	for _, c := range w.clients {
		c.Part(&p)
		h = h.Uint64(p.Fingerprint(servers, 0))
	}
	return uint64(h)
}

// everywhere returns how many txns of the log all servers have applied.
func (w *World) everywhere() int {
	n := w.committed
	for _, s := range w.servers {
		n = min(n, s.applied)
	}
	return n
}

// lacks returns how much of the log up to a place a server has not yet applied; -1 if no server ever will.
func lacks(to int, s *server) int64 {
	if to == never {
		return -1
	}
	return int64(max(0, to-s.applied))
}

// ahead returns how many txns of the log up to place at are missing on the server that is furthest behind.
func (w *World) ahead(at int) int64 { return int64(max(0, at-w.everywhere())) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// body returns a hash of the client's code and library, without its connection, timers, watches and seat.
func (c *Client) body() uint64 {
	h := c.knowledge(c.flags(0))
	h = h.Int(int64(c.server)).Int(int64(c.tried)).Int(int64(c.state)).Int(c.session).Int(c.sessions)
	h = h.Int(int64(len(c.auth)))
	for _, a := range c.auth {
		h = h.String(a.scheme).Bytes(a.auth)
	}
	h = h.Bool(c.lastZxid == 0)
	if c.vain > 0 {
		h = h.Int(int64(c.vain))
	}
	for i, x := range c.orphans {
		if h = h.Int(-int64(len(c.orphans) - i)).Int(x.id); x.from != 0 {
			h = h.Int(x.from)
		}
		h = hashIdentities(h.Int(int64(len(x.late))), x.auth)
		for k := range x.late {
			h = c.hashRequest(h, &x.late[k])
		}
	}
	h = h.Int(int64(len(c.unsent)))
	for _, r := range c.unsent {
		h = c.hashRequest(h.Uint64(titleOf(r.g)), &r.req)
	}
	for _, g := range c.coroutines {
		h = g.hashed(h)
	}
	return uint64(h)
}

// flags appends the yes-or-no facts about the client, except those in its seat.
func (c *Client) flags(h hash.Hash) hash.Hash {
	hungup := c.hungup && len(c.w.servers) == 1
	return h.Uint64(bit(c.connected) | bit(c.closed)<<1 | bit(c.rounded)<<2 | bit(hungup)<<3 | bit(c.host.paused)<<4 |
		bit(c.slow)<<5 | bit(c.crashed)<<6 | bit(c.closing)<<7 | bit(c.interrupt != nil)<<8 | bit(c.leaves)<<9 |
		bit(c.undialed)<<10 | bit(c.Skewable())<<11 | bit(c.Skewed())<<12 | bit(c.host.timed)<<13)
}

// hashed appends what the coroutine does and what it finds when it continues. Its place in the code is determined by
// what the code has seen.
func (g *coroutine) hashed(h hash.Hash) hash.Hash {
	h = h.Uint64(g.title).Uint64(uint64(g.status) | bit(g.begun)<<8 | bit(g.slow)<<9 | bit(g.woken)<<10 |
		bit(g.looks)<<11)
	h = h.Int(int64(g.got)).Uint64(failure(g.req.err)).Uint64(eventHash(g.event))
	if h = h.Bool(g.left).Bool(g.within != nil); g.within != nil {
		h = hashContext(h, g.within)
	}
	switch g.status {
	case sleeping:
		return hashContext(h, g.ctx)
	case choosing:
		return h.Int(int64(g.options))
	default:
		return h
	case awaiting:
		h = hashContext(h, g.ctx)
	}
	h = h.Int(int64(len(g.chans)))
	for _, ch := range g.chans {
		h = g.client.hashChannel(h, ch)
	}
	return h
}

// hashChannel appends which of the library's channels ch is. All channels of one kind for one znode get the same event,
// as do all for the session's next change.
func (c *Client) hashChannel(h hash.Hash, ch <-chan zk.Event) hash.Hash {
	for i := range c.watchers {
		if x := &c.watchers[i]; x.ch == ch {
			return h.Int(int64(x.kind)).String(x.path)
		}
	}
	for i := range c.sessionChans {
		if c.sessionChans[i].ch == ch {
			return h.Int(-1)
		}
	}
	return h.Int(-2).Int(int64(len(ch)))
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
	return hashOf(err.Error())
}

// Learn notes that the client's code has got a value from elsewhere than its connection and its environment.
func (c *Client) Learn(x uint64) { c.here().learn(x) }

// Leave notes that the client's code has left a value to the judges, besides the events in the history. It counts even
// if the code forgets that it has done so.
func (c *Client) Leave(x uint64) { c.judged = c.judged.Uint64(x) }

// see notes what the client's code learns when a coroutine continues. What it can ask for without a message is noted
// when it asks.
func (c *Client) see(g *coroutine) {
	g.learn(uint64(hash.Hash(0).Int(int64(g.got)).Uint64(failure(g.req.err)).Uint64(eventHash(g.event))))
	c.lookAround(g)
}
