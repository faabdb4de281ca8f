package sim

// Fingerprint returns a hash of the world's state: servers, log, messages on
// their way, libraries, and the clients' code, which is determined by what it
// has seen. Two worlds of the same configuration and program whose fingerprints
// are equal have the same futures, but for hash collisions. The converse does
// not hold: zxids are part of the state, so runs that differ only in when
// something unrelated happened are not recognised as the same.
func (w *World) Fingerprint() uint64 {
	var d digest
	first := w.committed
	for _, s := range w.servers {
		d.add(s.store.Fingerprint())
		d.add(uint64(s.applied)<<1 | bit(s.frozen))
		first = min(first, s.applied)
	}
	for i := first; i < len(w.log); i++ {
		e := &w.log[i]
		d.add(uint64(e.txn.Session))
		d.addRequest(&e.req)
	}
	for _, c := range w.clients {
		c.fingerprint(&d)
	}
	timers := uint64(0)
	for _, t := range w.timers { // in any order
		timers += mix(uint64(t.at))
	}
	d.add(timers)
	d.add(uint64(w.now)<<1 | bit(w.calm))
	if w.injector != nil {
		d.add(w.injector.Fingerprint())
	}
	return uint64(d)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (c *Client) fingerprint(d *digest) {
	d.add(uint64(c.observed))
	d.add(bit(c.connected) | bit(c.closed)<<1 | bit(c.rounded)<<2 | bit(c.hungup)<<3 | bit(c.paused)<<4 |
		bit(c.slow)<<5 | bit(c.crashed)<<6 | bit(c.closing)<<7 | bit(c.interrupt != nil)<<8)
	d.add(uint64(c.server+1)<<32 | uint64(c.tried+1))
	d.add(uint64(uint32(c.state))<<32 ^ uint64(c.session))
	d.add(uint64(c.lastZxid))
	d.add(uint64(c.owedAt)<<32 ^ uint64(c.owedTo))
	d.add(uint64(c.silent))
	for _, queue := range [...][]*request{c.unsent, c.wire} {
		d.add(uint64(len(queue)))
		for _, r := range queue {
			d.addRequest(&r.req)
		}
	}
	if c.await != nil {
		d.add(uint64(c.awaitTo))
		d.addRequest(&c.await.req)
	}
	d.add(uint64(len(c.late)))
	for i := range c.late {
		d.addRequest(&c.late[i])
	}
	d.add(uint64(len(c.down)))
	for i := range c.down {
		m := &c.down[i]
		d.add(bit(m.eof) | bit(m.event.Caught)<<1 | uint64(uint32(m.event.Type))<<8)
		d.addString(m.event.Path)
		if m.reply != nil {
			d.add(uint64(m.reply.res.Zxid))
			d.addResponse(&m.reply.res)
		}
	}
	for _, x := range c.watchers {
		d.add(uint64(x.kind))
		d.addString(x.path)
	}
	for _, g := range c.coroutines {
		d.add(uint64(g.name)<<16 | uint64(g.status)<<8 | uint64(g.got+1)<<1 | bit(g.req.err != nil))
	}
}

// see notes what the client's code learns when a coroutine goes on. The values
// that it can ask for without a message are among it.
func (c *Client) see(g *coroutine) {
	c.observed.add(uint64(g.name)<<32 ^ uint64(g.got+1)<<16 ^ bit(g.req.err != nil))
	c.observed.add(uint64(uint32(c.state))<<32 ^ uint64(c.session))
	c.observed.add(uint64(c.w.now))
}
