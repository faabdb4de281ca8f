package serve

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"zksim/model"
	"zksim/model/jute"
	"zksim/sim"
)

// session is a session from the server's side: the far end of a client of the world, with or without a connection.
type session struct {
	e        *Ensemble
	client   *sim.Client
	id       int64
	timeout  time.Duration
	deadline int64  // milliseconds; when it expires if nothing is heard of the client
	conn     *conn  // nil: none
	hangup   bool   // the world must end the connection
	listed   bool   // in Ensemble.pending
	requests int    // so far
	synced   bool   // a sync was the last request, apart from reads
	calls    []call // unanswered, oldest first

	reset bool // the connection ends with a reset

	quit bool      // the client has ended its last connection, and no fault had suspended that connection
	over bool      // the client has asked on its last connection to close the session; a fault may have lost the request
	lost time.Time // since when it has no connection although it could
	sent time.Time // since when it has tried servers other than the one that a fault has sent it to; zero: it has not

	left    []*session // connections that it has left for other servers and that are still open
	movedTo *session   // for such a connection: the session
}

// Reply implements [sim.Far].
func (s *session) Reply(t uint64, req *model.Request, res *model.Response) {
	if s.conn == nil {
		return
	}
	if res.Err != model.OK && failsUnnoticed(req.Op) {
		s.conn.stats.lastOp = notNoticed
	}
	s.conn.reply(tag(t), res)
	s.e.record.answered(s, req, res)
	if res.Hangup && req.Op != model.OpCloseSession {
		s.hangup = true
		s.e.later(s)
	}
}

// Event implements [sim.Far].
func (s *session) Event(ev model.Event) {
	s.e.record.hears(s, &ev)
	if s.conn != nil {
		s.conn.event(ev)
	}
}

// End implements [sim.Far].
func (s *session) End() {
	if s.conn != nil {
		s.conn.end(s.e.manner(s))
		s.conn.session = nil
		s.conn, s.reset, s.lost = nil, false, time.Now()
	}
	s.e.record.cut(s)
	s.e.later(s)
}

// Reset implements [sim.Resetting].
func (s *session) Reset() { s.reset = true }

// later makes conclude look at the session when the step is over.
func (e *Ensemble) later(s *session) {
	if !s.listed {
		s.listed = true
		e.pending = append(e.pending, s)
	}
}

// conclude does what cannot be done during a step: it ends the connection, and forgets what has ended.
func (e *Ensemble) conclude(s *session) {
	if s.hangup && s.client.Connected() {
		s.hangup = false
		s.client.Drop()
	}
	if s.movedTo != nil {
		if !s.client.Connected() {
			s.movedTo.left = slices.DeleteFunc(s.movedTo.left, func(x *session) bool { return x == s })
			e.world.Leave(s.client)
		}
		return
	}
	connected := s.client.Connected() && !s.orphaned()
	if connected || e.sessions[s.id] != s || e.world.Stores()[e.world.Leader()].HasSession(s.id) {
		return
	}
	if delete(e.sessions, s.id); !s.client.Connected() && !s.client.HasSession() && !s.client.Orphaned() {
		e.world.Leave(s.client)
	}
}

// orphaned reports whether the session goes on although its client has another one, see [conn.renew].
func (s *session) orphaned() bool { return s.client.Session() != s.id }

// touch records that the client is alive, on any of its connections.
func (s *session) touch() {
	if s.movedTo != nil {
		s = s.movedTo
	}
	s.deadline = s.e.deadline(s.timeout)
}

// move makes the session go on at another server. Its previous connection stays open by itself.
func (s *session) move(server int, seen int64) error {
	x := &session{e: s.e, client: s.client, id: s.id, timeout: s.timeout, conn: s.conn, requests: s.requests,
		synced: s.synced, calls: s.calls, movedTo: s}
	client, err := s.client.Move(server, seen, x)
	if err != nil {
		return err
	}
	s.e.record.note("disconnect %s", client.Name()) // a scenario's client has one connection
	x.conn.session = x
	s.left = append(s.left, x)
	s.client, s.conn, s.calls, s.synced = client, nil, nil, false
	return nil
}

// deadline returns when a session expires if nothing more is heard of it: strictly after its timeout, at the next tick
// (ExpiryQueue.roundToNextInterval).
func (e *Ensemble) deadline(timeout time.Duration) int64 {
	tick := e.options.TickTime.Milliseconds()
	return ((time.Now().UnixMilli()+timeout.Milliseconds())/tick + 1) * tick
}

// granted returns the timeout that a client gets.
func (e *Ensemble) granted(asked int32) time.Duration {
	d := time.Duration(asked) * time.Millisecond
	return min(max(d, e.options.MinSessionTimeout), e.options.MaxSessionTimeout)
}

// expireDue ends the sessions that have not been heard of for too long. While a lone server, or a leader, is stopped,
// its clock is stopped too.
func (e *Ensemble) expireDue() {
	e.do(nil, func() error {
		if !e.led() {
			return nil
		}
		now := time.Now().UnixMilli()
		for _, s := range e.ordered() {
			if s.deadline <= now {
				e.expire(s)
			}
		}
		return nil
	})
}

// expire ends a session. Its connection, if any, ends when its server hears of it.
func (e *Ensemble) expire(s *session) {
	switch name := s.client.Name(); {
	case s.orphaned():
		e.record.note("lapse %s", name)
		s.client.Lapse(s.id)
	case !s.client.HasSession():
	case s.client.Connected():
		e.record.note("learn-late %s", name)
		s.client.Expire()
	default:
		e.record.note("expire %s", name)
		s.client.Expire()
	}
	e.later(s)
}

// ordered returns the sessions in the order of their ids.
func (e *Ensemble) ordered() []*session {
	return slices.SortedFunc(maps.Values(e.sessions), func(a, b *session) int { return cmp.Compare(a.id, b.id) })
}

// password returns the password of a session, a function of its id and a secret of the ensemble.
func (e *Ensemble) password(id int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(e.secret[:], uint64(id)))
	return sum[:jute.PasswordLen]
}
