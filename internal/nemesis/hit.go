package nemesis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zksim/faults"
	"zksim/internal/wire"
)

// hit makes a fault strike at a request of c, and returns the request's fate. n.mu is held.
func (n *Nemesis) hit(c *client, s *strike, r *faults.Rule, about string) wire.Fate {
	if r.Fault == "pause" && r.Aim.Server != "" || slices.Contains(servers, r.Fault) {
		if r.Fault == "depose" {
			c.link.last = c.link.sent
		}
		n.start(true, func() { n.server(s, r, about) })
		return wire.Pass
	}
	tell := func() { n.record(s, fmt.Sprintf("%s c%d", r.Fault, c.id), about) }
	switch r.Fault { // the faults that may find nothing to strike
	case "watch-delay":
		c.delay = func() time.Duration {
			tell()
			return n.o.Timeout / 30 * time.Duration(1+s.salt%10)
		}
		return wire.Pass
	case "cancel":
		if cancels := n.o.Cancels(c.id); len(cancels) > 0 {
			tell()
			n.start(false, func() {
				for _, cancel := range cancels {
					cancel()
				}
			})
		}
		return wire.Pass
	case "black-hole":
		if !c.connected() || !c.conn.Freeze(true) {
			return wire.Pass // nothing passes it
		}
	}
	if c.misses(r.Fault) {
		return wire.Pass
	}
	tell()
	conn := c.conn
	switch r.Fault {
	case "lose-request":
		return wire.Lose
	case "lose-reply":
		c.link.lose = c.link.sent
	case "deliver-close":
		l := c.link
		l.final = l.sent
		n.start(false, func() { n.endBehind(c, conn, l) })
	case "disconnect":
		return wire.Last
	case "failover":
		others := uint64(max(len(n.o.Addrs)-1, 1))
		c.next = n.reachable((c.server + 1 + int(s.salt%others)) % len(n.o.Addrs))
		return wire.Last
	case "late-request", "expire":
		c.shut(r.Fault == "expire")
		n.start(false, func() { n.expire(c, n.o.Timeout/3) })
		return wire.Last
	case "learn-late":
		conn.Freeze(false)
		n.start(false, func() { n.learnLate(c, conn) })
	case "pause":
		conn.Freeze(false)
		c.paused = make(chan struct{})
		n.start(false, func() { n.pause(c, conn, s) })
	case "black-hole":
		n.start(false, func() { n.closed(conn) })
	default:
		panic("nemesis: no fault named " + r.Fault)
	}
	return wire.Pass
}

// misses reports whether a fault of the connection finds nothing to strike.
func (c *client) misses(fault string) bool {
	switch fault {
	case "lose-reply":
		return c.link.lose > c.link.answered // the connection ends with another answer
	case "pause":
		return c.paused != nil
	case "disconnect", "failover", "learn-late":
		return !c.connected()
	}
	return false
}

// Connections are the faults that happen to a client whether it has a request on its way or only waits for a watch.
// Half of them come when the request has been answered.
var Connections = []string{"disconnect", "failover", "expire", "late-request", "learn-late", "pause", "black-hole"}

// later reports whether the strike comes a moment after its request.
func (s *strike) later() bool { return s.salt>>41%2 == 0 }

// moment is how long after its request a strike comes later.
const moment = 10 * time.Millisecond

// hitLater is hit, a moment later.
func (n *Nemesis) hitLater(c *client, s *strike, r *faults.Rule, about string) {
	if !n.sleep(moment) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || c.link.ended {
		return
	}
	if n.hit(c, s, r, about) != wire.Pass {
		c.cut()
	}
}

// expire ends, after a while, the session of a client that has no connection and cannot get one. A client gives a
// connection up after two thirds of the timeout, so a third is left to act on that.
func (n *Nemesis) expire(c *client, after time.Duration) {
	if n.sleep(after) {
		n.endSession(c)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.open()
}

// closed waits until a connection is closed, or Heal is called.
func (n *Nemesis) closed(conn *wire.Gated) {
	select {
	case <-conn.Closed():
	case <-n.ctx.Done():
	}
}

// endBehind ends the session of a client when the final answer has arrived.
func (n *Nemesis) endBehind(c *client, conn *wire.Gated, l *link) {
	n.closed(conn)
	n.mu.Lock()
	arrived := l.answered >= l.final
	n.mu.Unlock()
	if arrived {
		n.expire(c, 2*stallDelay)
	}
}

// learnLate ends the session of a client that hears nothing.
func (n *Nemesis) learnLate(c *client, conn *wire.Gated) {
	n.endSession(c)
	n.sleep(learnDelay)
	conn.Close()
	conn.Thaw()
}

// learnDelay is how long a client goes on after its session has ended.
const learnDelay = 100 * time.Millisecond

// endSession ends the session of a client over a separate connection, to any server that accepts it. No server does
// during an election; if that lasts too long, the session lives on.
func (n *Nemesis) endSession(c *client) {
	n.mu.Lock()
	session, password := c.session, c.password
	n.mu.Unlock()
	if session == 0 {
		return
	}
	var last error
	for range endTries {
		for _, addr := range n.o.Addrs {
			ctx, cancel := context.WithTimeout(n.ctx, endLimit)
			last = wire.CloseSession(ctx, addr, session, password, int32(n.o.Timeout.Milliseconds()))
			cancel()
			if last == nil {
				n.diary.Tell("session 0x%x of c%d is closed", session, c.id)
				return
			}
		}
		if !n.sleep(endLimit / 10) {
			break
		}
	}
	n.diary.Tell("session 0x%x of c%d is not closed: %v", session, c.id, last)
}

// How often endSession tries to end a session, and for how long each time.
const (
	endTries = 20
	endLimit = time.Second
)

// pause makes a client sleep, for longer than its session lives or only for a while.
func (n *Nemesis) pause(c *client, conn *wire.Gated, s *strike) {
	d := n.o.Timeout / 4
	if s.salt%2 == 0 {
		d = n.o.Timeout + n.o.Timeout/2
	}
	n.sleep(d)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.diary.Tell("c%d goes on", c.id)
	conn.Thaw()
	c.resume()
}
