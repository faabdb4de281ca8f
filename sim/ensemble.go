package sim

import (
	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// server is one member of the ensemble: a replica that has applied a prefix of
// the log. The first is the leader and always up to date, since a write is
// committed and applied there in one step; the others lag.
type server struct {
	w       *World
	index   int
	store   *model.Server
	applied int  // entries of the log
	frozen  bool // cut off from the leader
}

// entry is one txn of the log.
type entry struct {
	txn model.Txn
	req model.Request
}

func (w *World) leader() *server { return w.servers[0] }

func newServer(w *World, index int) *server {
	s := &server{w: w, index: index, store: model.NewServer(model.Config{})}
	s.store.OnEvent = func(mc *model.Conn, ev model.Event) {
		c := w.clients[mc.Index-1]
		c.down = append(c.down, message{event: ev})
	}
	if index == 0 {
		s.store.OnChange = w.recordChange
	}
	return s
}

// recordChange writes the committed creations and deletions to the history.
func (w *World) recordChange(t zk.EventType, path string, session int64) {
	k := history.Created
	switch t {
	case zk.EventNodeDeleted:
		k = history.Deleted
	case zk.EventNodeDataChanged:
		return
	}
	w.History.Add(history.Event{Kind: k, Client: int32(w.author), Step: w.step, Path: path, Zxid: w.zxid, Session: session})
}

// commit appends a txn to the log; the leader applies it at once. The answer,
// if it is wanted, is left in w.answer.
func (w *World) commit(c *Client, session int64, r *model.Request) {
	w.zxid++
	w.author = 0
	w.log = append(w.log, entry{})
	e := &w.log[len(w.log)-1]
	e.req = *r
	e.txn = model.Txn{Zxid: w.zxid, Time: w.now, Session: session}
	if c != nil {
		w.author = c.id
		e.txn.Auth = c.conn.Auth
		if !w.leader().store.HasSession(session) {
			e.req = model.Request{Op: model.OpError, Version: int32(model.SessionExpired)}
		}
	}
	w.leader().applyNext()
}

// applyNext applies the next txn of the log and answers the client of this
// server that waits for it.
func (s *server) applyNext() {
	w := s.w
	e := &w.log[s.applied]
	e.txn.Req = &e.req
	s.store.Apply(&e.txn, &w.answer)
	s.applied++
	for _, c := range w.clients {
		if !c.connected || c.server != s.index {
			continue
		}
		if c.await != nil && c.awaitTo <= s.applied {
			r := c.await
			c.await = nil
			if r.req.Op == model.OpSync {
				s.store.Read(&c.conn, &r.req, &r.res)
			} else {
				r.res = w.answer
			}
			c.down = append(c.down, message{reply: r})
		}
		if e.req.Op == model.OpCloseSession && c.session == e.txn.Session {
			s.hangup(c)
		}
	}
}

// hangup closes the connection of c from the server's side.
func (s *server) hangup(c *Client) {
	c.hungup, c.await = true, nil
	c.wire = c.wire[:0]
	s.store.Disconnect(&c.conn)
	c.down = append(c.down, message{eof: true})
}

func (s *server) catchUp(to int) {
	for s.applied < to {
		s.applyNext()
	}
}

// serve executes the next request of c: a read against what the server has
// applied, a write at the leader. The answer to a write, or to sync, is given
// when this server has applied the log up to it; until then the requests behind
// it wait.
func (c *Client) serve() {
	w := c.w
	if !c.connected {
		r := c.late[0]
		c.late = append(c.late[:0], c.late[1:]...)
		w.commit(c, c.session, &r)
		return
	}
	s := w.servers[c.server]
	r := c.wire[0]
	c.wire = append(c.wire[:0], c.wire[1:]...)
	switch {
	case r.req.Op == model.OpAuth:
		w.authenticate(c, s, r)
	case r.req.Op == model.OpSync:
		c.await, c.awaitTo = r, len(w.log)
		if s.applied == len(w.log) {
			c.await = nil
			s.store.Read(&c.conn, &r.req, &r.res)
			c.down = append(c.down, message{reply: r})
		}
	case r.req.Op.IsWrite():
		c.await, c.awaitTo = r, len(w.log)+1
		w.commit(c, c.session, &r.req)
	default:
		s.store.Read(&c.conn, &r.req, &r.res)
		c.down = append(c.down, message{reply: r})
	}
}

// authenticate answers an auth packet: the identity belongs to the connection.
func (w *World) authenticate(c *Client, s *server, r *request) {
	r.res = model.Response{Op: model.OpAuth}
	c.conn.Auth, r.res.Err = model.Authenticate(c.conn.Auth, r.req.Path, r.req.Data)
	c.down = append(c.down, message{reply: r})
	if r.res.Err != model.OK {
		s.hangup(c)
	}
}
