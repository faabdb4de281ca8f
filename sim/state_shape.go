package sim

import "zksim/internal/hash"

// Shape returns a hash of where the clients and servers stand, without what distinguishes most runs: which client
// stands where, numbers, names and data. Unlike [World.Fingerprint] it says nothing certain. But it has few enough
// values that a run that has reached a new one is worth notice.
func (w *World) Shape() uint64 {
	var sum uint64
	for _, c := range w.clients {
		sum += hash.Mix(c.shape()) // in any order
	}
	h := hash.Hash(sum)
	for _, s := range w.servers {
		if s.index != w.lead {
			h = h.Int(int64(min(w.committed-s.applied, 3))).Bool(s.frozen)
		}
		if s.deposed {
			h = h.Bool(s.stuck)
		}
	}
	return uint64(h)
}

func (c *Client) shape() uint64 {
	var h hash.Hash
	alive := c.session != 0 && c.w.leader().store.HasSession(c.session)
	h = h.Uint64(bit(c.connected) | bit(c.closed)<<1 | bit(c.rounded)<<2 | bit(c.hungup)<<3 | bit(c.paused)<<4 |
		bit(c.slow)<<5 | bit(c.crashed)<<6 | bit(alive)<<7 | bit(c.await != nil)<<8 |
		uint64(min(len(c.late), 3))<<9 | uint64(min(len(c.wire), 3))<<11 | uint64(min(len(c.watchers), 7))<<13)
	for i := range c.down {
		m := &c.down[i]
		h = h.Uint64(bit(m.eof) | bit(m.reply != nil)<<1 | uint64(uint32(m.event.Type))<<2)
		if m.reply != nil {
			h = h.Int(int64(m.reply.res.Err))
		}
	}
	for _, g := range c.coroutines {
		h = h.Uint64(uint64(g.name)<<16 | uint64(g.status)<<8 | bit(g.req.err != nil))
		if g.status == calling || g.status == runnable {
			h = h.Int(int64(g.req.req.Op))
		}
	}
	return uint64(h)
}
