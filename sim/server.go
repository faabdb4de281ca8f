package sim

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// server is one member of the ensemble: a replica that has applied a prefix of the log. The leader is always up to
// date, since it commits and applies a write in one step; the others lag. For elections see server_election.go.
type server struct {
	w       *World
	index   int
	store   *model.Server
	applied int  // entries of the log
	frozen  bool // cut off from the leader
	deposed bool // another was elected, and this server does not know that
	stuck   bool // it is deposed and has proposed something that nobody will acknowledge
}

// entry is one txn of the log.
type entry struct {
	txn    model.Txn
	req    model.Request
	author *Client // whose request it is; nil: the environment's
}

func (w *World) leader() *server { return w.servers[w.lead] }

func newServer(w *World, index int) *server {
	s := &server{w: w, index: index, store: model.NewServer(model.Config{})}
	s.store.OnEvent = func(mc *model.Conn, ev model.Event) {
		c := w.Client(mc.Index)
		c.push(message{event: ev})
	}
	s.store.OnChange = func(t zk.EventType, path string, session int64, data []byte) {
		if index == w.lead {
			w.recordChange(t, path, session, data)
		}
	}
	return s
}

// recordChange writes the committed changes to the history.
func (w *World) recordChange(t zk.EventType, path string, session int64, data []byte) {
	w.changed = true
	k := history.Created
	switch t {
	case zk.EventNodeDeleted:
		k = history.Deleted
	case zk.EventNodeDataChanged:
		k = history.Changed
	}
	w.History.Add(history.Event{Kind: k, Client: int32(w.author), Step: w.step, Path: path, Zxid: w.zxid, Session: session,
		Data: string(data)})
}

// commit appends a txn to the log; the leader applies it at once. Requests of a session that has ended fail.
func (w *World) commit(c *Client, session int64, r *model.Request) {
	w.zxid++
	w.committed++
	t := &w.txn
	*t = model.Txn{Zxid: w.zxid, Time: w.wall(), Session: session, Req: r}
	w.author = 0
	if c != nil {
		w.author = c.host.id
		t.Auth = c.conn.Auth
		if !w.leader().store.HasSession(session) {
			t.Req = &model.Request{Op: model.OpError, Version: int32(model.SessionExpired)}
		} else if c.fenced(r) {
			t.Req = &model.Request{Op: model.OpError, Version: int32(model.SessionMoved)}
		}
	}
	w.changed = false
	w.leader().apply(t, c)
	if len(w.servers) > 1 { // for the followers
		w.log = append(w.log, entry{txn: *t, req: *t.Req, author: c})
	}
}

// applyNext applies the next txn of the log to a follower.
func (s *server) applyNext() {
	e := &s.w.log[s.applied-s.w.trimmed]
	e.txn.Req = &e.req
	s.apply(&e.txn, e.author)
}

// apply applies a txn and answers the clients of this server that wait for it: its author, and those whose sync it
// completes. If it ends a session, it also ends that session's connection.
func (s *server) apply(t *model.Txn, author *Client) {
	w := s.w
	res := &w.answer
	if author != nil && author.waits(s) && author.awaitTo == s.applied+1 && author.await.req.Op != model.OpSync {
		res = &author.await.res
	}
	s.store.Apply(t, res)
	s.applied++
	if w.Detail.DenseZxids && s == w.leader() && !w.changed {
		w.zxid--
		t.Zxid, res.Zxid = w.zxid, w.zxid
		s.store.SetZxid(w.zxid)
	}
	if res != &w.answer {
		s.answer(author)
	}
	if len(w.servers) > 1 && (!w.tracks || w.anySync()) {
		for _, c := range w.clients {
			if c.waits(s) && c.awaitTo <= s.applied && c.await.req.Op == model.OpSync {
				s.store.Read(&c.conn, &c.await.req, &c.await.res)
				s.answer(c)
			}
		}
	}
	if t.Req.Op == model.OpCloseSession {
		w.holders(s.index, t.Session, s.hangup)
	}
}

// anySync reports whether a client may wait for the answer to a sync. It is for worlds with too many clients to ask all
// of them at each step.
func (w *World) anySync() bool {
	w.syncs = slices.DeleteFunc(w.syncs, func(c *Client) bool {
		return c.await == nil || c.await.req.Op != model.OpSync
	})
	return len(w.syncs) > 0
}

// waits reports whether an answer to c depends on what s applies.
func (c *Client) waits(s *server) bool { return c.connected && c.server == s.index && c.await != nil }

// answer sends the answer that c waits for.
func (s *server) answer(c *Client) {
	if c.await.res.Err == model.SessionMoved {
		s.hangup(c)
		return
	}
	c.push(message{reply: c.await, at: s.applied})
	c.await = nil
}

// hangup closes the connection of c from the server's side, unless it is already closed.
func (s *server) hangup(c *Client) {
	if c.hungup {
		return
	}
	c.hungup, c.await = true, nil
	c.wire = c.wire[:0]
	s.store.Disconnect(&c.conn)
	c.push(message{eof: true})
}

func (s *server) catchUp(to int) {
	for s.applied < to {
		s.applyNext()
	}
}

// serve executes the next request of c: a read on what the server has applied, a write at the leader. The answer to a
// write, or to sync, is given when this server has applied the log up to it. Until then the requests behind it wait.
func (c *Client) serve() {
	w := c.w
	c.served = true
	if !c.connected {
		c.serveNextLate()
		return
	}
	s := w.servers[c.server]
	r := c.wire[0]
	c.wire = slices.Delete(c.wire, 0, 1)
	switch {
	case r.req.PacketLen() > model.MaxPacketLen:
		s.hangup(c)
	case !r.req.Op.IsWrite() && c.fenced(&r.req):
		s.hangup(c)
	case r.req.Op == model.OpAuth:
		w.authenticate(c, s, r)
	case s.deposed && (r.req.Op.IsWrite() || r.req.Op == model.OpSync && s.stuck):
		c.await, c.awaitTo = r, never
		s.stuck = true
	case r.req.Op == model.OpSync && s.deposed: // it need not ask anybody
		s.store.Read(&c.conn, &r.req, &r.res)
		c.push(message{reply: r, at: s.applied})
	case r.req.Op == model.OpSync:
		c.await, c.awaitTo = r, w.committed
		if s.applied == w.committed {
			s.store.Read(&c.conn, &r.req, &r.res)
			s.answer(c)
		} else if w.tracks {
			w.syncs = append(w.syncs, c)
		}
	case r.req.Op.IsWrite():
		c.await, c.awaitTo = r, w.committed+1
		w.commit(c, c.session, &r.req)
	case w.follows:
		w.readTimed(s, c, r)
		c.push(message{reply: r, at: s.applied})
	default:
		s.store.Read(&c.conn, &r.req, &r.res)
		c.push(message{reply: r, at: s.applied})
	}
}

// serveNextLate executes the next request that was sent before the connection was cut. Nobody waits for the answer.
func (c *Client) serveNextLate() {
	r := c.late[0]
	c.late = append(c.late[:0], c.late[1:]...)
	before := c.w.committed
	if !c.serveLate(c.session, &r) {
		c.late = c.late[:0]
	} else if c.w.committed > before {
		c.owe(c.server, c.w.committed)
	}
}

// serveLate executes a request that was sent in a session on a connection that is cut. It returns false if the server
// ends the connection because of it, so that the requests behind it are lost.
func (c *Client) serveLate(session int64, r *model.Request) bool {
	if r.PacketLen() > model.MaxPacketLen {
		return false
	}
	if r.Op != model.OpAuth {
		c.w.commit(c, session, r)
		return true
	}
	var code model.Code
	c.conn.Auth, code = model.Authenticate(c.conn.Auth, r.Path, r.Data)
	return code == model.OK
}

// straggler returns the oldest session of c that goes on without it and has requests that may still be executed; nil if
// there is none.
func (c *Client) straggler() *orphan {
	i := slices.IndexFunc(c.orphans, func(x orphan) bool { return len(x.late) > 0 })
	if i < 0 {
		return nil
	}
	return &c.orphans[i]
}

// serveOrphan executes the next of these requests.
func (c *Client) serveOrphan() {
	x := c.straggler()
	r := x.late[0]
	x.late = x.late[1:]
	own := c.conn.Auth
	c.conn.Auth = x.auth
	ok := c.serveLate(x.id, &r)
	x.auth, c.conn.Auth = c.conn.Auth, own
	if !ok {
		x.late = nil
	}
}

// servable reports whether the server takes the next request of c now. The requests of a session wait behind its own
// write, even one that came by an earlier connection to the same server (CommitProcessor).
func (c *Client) servable() bool {
	return c.connected && len(c.wire) > 0 && c.await == nil && !c.hungup &&
		c.w.servers[c.server].applied >= c.owedBy(c.server)
}

// authenticate answers an auth packet. The identity belongs to the connection.
func (w *World) authenticate(c *Client, s *server, r *request) {
	r.res = model.Response{Op: model.OpAuth}
	c.conn.Auth, r.res.Err = model.Authenticate(c.conn.Auth, r.req.Path, r.req.Data)
	c.push(message{reply: r, at: s.applied})
	if r.res.Err != model.OK {
		s.hangup(c)
	}
}
