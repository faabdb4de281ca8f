package sim

import (
	"math"
	"slices"

	"zksim/internal/hash"
	"zksim/model"
)

// Elections. There is one log, and the leader appends to it, so nothing that was acknowledged is ever lost. At an
// election the other servers apply all of it before they serve anybody. The epoch goes up by one, and the counter of
// zxids starts anew. All connections except those to a deposed leader end, and the timers of all sessions start anew.
//
// A deposed leader is one that was cut off and does not know that another was elected. Its replica stands still. It
// goes on answering reads, and a sync at once while it has nothing outstanding. It accepts clients that have seen no
// more than it has. Its proposals reach nobody, so a client that has made one waits. By its own clock it tells clients
// that their sessions have expired. When it finds out, its connections end, its proposals are gone, and it catches up.
//
// When a leader is deposed, a request on its way to it either vanishes, or the quorum has it and the leader does not
// know: see [World.Depose]. When a server restarts, a request on its way to it has either been executed (transition
// serve) and the answer is lost, or it vanishes.

// never is a place in the log that no server will ever apply.
const never = math.MaxInt

// outage is how many more times than usual a client may try all servers in vain while they elect a leader.
const outage = 2

// Leader returns the index of the server that leads.
func (w *World) Leader() int { return w.lead }

// Deposed returns the index of the server that does not know that another was elected; -1 if there is none.
func (w *World) Deposed() int {
	for _, s := range w.servers {
		if s.deposed {
			return s.index
		}
	}
	return -1
}

// Successor returns the index of the server that would be elected in place of the leader. It is the next one, since all
// others have the same log, whatever they have applied of it. It is -1 if there cannot be an election, because there
// are too few servers or a leader is already deposed.
func (w *World) Successor() int {
	if len(w.servers) < 3 || w.Deposed() >= 0 {
		return -1
	}
	return (w.lead + 1) % len(w.servers)
}

// Elect restarts the leader and elects Successor. What was on its way between clients and servers is lost.
func (w *World) Elect() {
	w.elect(w.Successor(), nil)
}

// Depose cuts the leader off from the others, which elect Successor. The leader does not know that until the transition
// stepdown. If c is not nil, the oldest unserved request of c, a write on its way to the leader, was proposed before
// that: the quorum has it, but the leader does not hear of that.
func (w *World) Depose(c *Client) {
	next := w.Successor()
	w.leader().deposed = true
	w.elect(next, c)
}

// elect ends all connections but those to a deposed leader and makes server k lead.
func (w *World) elect(k int, proposer *Client) {
	for _, c := range w.clients {
		if c.connected && !w.servers[c.server].deposed {
			c.cut(true)
		}
		if !c.connected {
			c.vain = outage
		}
		c.late = c.late[:0]
		for i := range c.orphans {
			c.orphans[i].late = nil
		}
		c.invalidate()
	}
	w.servers[k].catchUp(w.committed)
	w.lead = k
	if proposer != nil {
		proposer.survive()
	}
	w.zxid = (w.zxid>>32 + 1) << 32
	for _, s := range w.servers {
		if s.frozen = false; !s.deposed {
			s.join()
		}
	}
	w.former, w.respite = w.respite, w.now+int64(w.SessionTimeout)
	if w.Deposed() < 0 {
		w.former = 0
	}
}

// survive commits the next request of c; its server is deposed and does not hear of that.
func (c *Client) survive() {
	r := c.wire[0]
	c.wire = append(c.wire[:0], c.wire[1:]...)
	c.await, c.awaitTo, c.served = r, never, true
	c.w.servers[c.server].stuck = true
	c.w.commit(c, c.session, &r.req)
}

// join brings a server up to date, as it must be to serve anybody in the present epoch.
func (s *server) join() {
	s.catchUp(s.w.committed)
	s.store.SetZxid(s.w.zxid)
}

// ahead reports whether c has seen more than s has, even if only the beginning of a new epoch.
func (c *Client) ahead(s *server) bool { return c.lastTxn > s.applied || c.lastZxid > s.store.Zxid() }

// authority returns the server that tells s which sessions exist: the leader, or s itself if it believes that it leads.
func (s *server) authority() *server {
	if s.deposed {
		return s
	}
	return s.w.leader()
}

// stepDown lets a deposed leader find out.
func (s *server) stepDown() {
	for _, c := range s.w.clients {
		if c.connected && c.server == s.index && !c.hungup {
			s.hangup(c)
		}
		c.owed = slices.DeleteFunc(c.owed, func(x owing) bool { return x.at == s.index })
		c.invalidate()
	}
	s.deposed, s.stuck, s.w.former = false, false, 0
	s.join()
}

// unheard returns the earliest virtual time at which a deposed leader has not heard of a client for the session
// timeout. It knows of no election after its own.
func (c *Client) unheard() int64 { return max(c.silent+int64(c.w.SessionTimeout)/3, c.w.former) }

// disown is the answer of a deposed leader, server k, to a reconnect of a client that it has not heard of for the
// session timeout.
func (c *Client) disown(k int) {
	w := c.w
	w.now = max(w.now, c.unheard())
	w.servers[k].stuck = true
	c.expired(k)
}

// lapsable reports whether a session can end whose client was told that it had ended. The client must have acted on
// that, which takes less time than the new leader gives the session. Once the faults are over this comes before time
// passes. If the client was given another session, its code must have acted on the loss of the connection, which takes
// less time than is left of the session. The time of a remote client is that of its code.
func (c *Client) lapsable() bool {
	if len(c.orphans) == 0 || c.host.paused {
		return false
	}
	if c.far != nil {
		at, _ := c.SessionEnd()
		return c.w.outside != nil && c.w.now >= at
	}
	return c.closed || !c.busyUntil(max(c.w.respite, c.orphans[0].from)) || c.w.calm && !c.runnable()
}

// Lapse ends a session that goes on although a remote client was given another one.
func (c *Client) Lapse(session int64) {
	if i := slices.IndexFunc(c.orphans, func(x orphan) bool { return x.id == session }); i >= 0 {
		c.lapse(i)
	}
}

// lapse ends an orphan of the client.
func (c *Client) lapse(i int) {
	w := c.w
	x := c.orphans[i]
	c.orphans = slices.Delete(c.orphans, i, i+1)
	if c.far == nil { // else time is not ours
		w.now = max(w.now, w.respite, x.from)
	}
	w.commit(nil, x.id, &model.Request{Op: model.OpCloseSession})
}

// reign appends who leads and what follows from the latest election, if there was one.
func (w *World) reign(h hash.Hash) hash.Hash {
	if w.lead == 0 && w.respite == 0 {
		return h
	}
	h = h.Int(int64(w.lead)).Int(w.respite)
	if w.former > 0 {
		h = h.Int(w.former)
	}
	for _, s := range w.servers {
		h = h.Bool(s.deposed).Bool(s.stuck)
	}
	return h
}
