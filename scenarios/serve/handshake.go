package serve

import (
	"errors"
	"net/netip"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// handshake answers the first packet of a connection. The checks are in the order of
// ZooKeeperServer.processConnectRequest: what the client has seen, the old connection of the session, the password, the
// session. A server like Keeper does not look at what the client has seen: its new session is a txn after that.
func (c *conn) handshake(packet []byte) error {
	hello, err := jute.ParseConnectRequest(packet)
	if err != nil {
		return err
	}
	c.old = hello.Old
	return c.e.do(c, func() error {
		e := c.e
		e.awaitServer(c.server)
		if e.closed {
			return ErrClosed
		}
		if !e.serves() || c.over() { // by a reset or a kill before its turn
			return errEnded
		}
		c.received(&model.Request{Op: unknownOp}) // cons shows a new session, see openSession
		if e.options.Like != model.Keeper && hello.LastZxid > e.world.Stores()[c.server].Zxid() {
			if e.resets > 0 && hello.Session != 0 && !e.knows(&hello) { // it has seen the time before a Reset
				return c.expired()
			}
			return errEnded
		}
		if hello.Session == 0 {
			return c.openSession(e.granted(hello.Timeout).Milliseconds())
		}
		return c.reattach(&hello)
	})
}

// over reports whether the connection has ended, or will end when its output is written.
func (c *conn) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended != goesOn
}

// openSession gives the connection a new session.
func (c *conn) openSession(timeout int64) error {
	e := c.e
	s := &session{e: e}
	s.timeout = e.granted(int32(timeout))
	s.client = e.world.Join(s)
	id, err := s.client.Open(c.server, int32(timeout))
	if err != nil { // like a connection that hangs until its client gives up
		e.world.Leave(s.client)
		return err
	}
	s.id = id
	e.sessions[id] = s
	c.attach(s)
	c.stats.lastOp = lastOps[model.OpCreateSession]
	c.stats.answered(0, e.world.Stores()[c.server].Zxid(), time.Since(e.born))
	return nil
}

// knows reports whether the password is that of the session. For a session from before a Reset it is not.
func (e *Ensemble) knows(hello *jute.ConnectRequest) bool {
	return string(hello.Password) == string(e.password(hello.Session))
}

// reattach attaches the connection to the session that the client had on another one.
func (c *conn) reattach(hello *jute.ConnectRequest) error {
	e := c.e
	s := e.sessions[hello.Session]
	if e.options.Like == model.Keeper {
		return c.renew(s, hello)
	}
	if s != nil { // whatever the password
		s.dropAt(c.server)
	}
	if !e.knows(hello) {
		return c.expired()
	}
	if s == nil {
		e.record.expired(e.world, hello.Session)
		return c.expired()
	}
	if s.waitsAt(c.server) {
		return errEnded
	}
	err := s.attachAt(c.server, hello.LastZxid)
	switch {
	case errors.Is(err, zk.ErrSessionExpired): // but a server that lags goes on with it
		e.record.expired(e.world, hello.Session)
		return c.expired()
	case err != nil:
		return err
	}
	s.timeout = e.granted(hello.Timeout)
	c.attach(s)
	return nil
}

// renew gives the connection a new session, as a server does that does not ask which one the client had. That one, s if
// it is still there, goes on until its timeout.
func (c *conn) renew(s *session, hello *jute.ConnectRequest) error {
	e := c.e
	timeout := e.granted(hello.Timeout)
	if s == nil || s.orphaned() || s.client.Spent() || !e.knows(hello) {
		return c.openSession(timeout.Milliseconds())
	}
	if s.conn != nil { // its end is still on its way
		s.dropAt(s.conn.server)
	}
	if s.waitsAt(c.server) {
		return errEnded
	}
	former := *s
	former.listed = false
	id, err := s.client.Open(c.server, int32(timeout.Milliseconds()))
	if err != nil {
		return err
	}
	e.sessions[former.id], e.sessions[id] = &former, s
	e.later(&former) // it may be over
	s.id, s.timeout = id, timeout
	c.attach(s)
	return nil
}

// dropAt ends the connections of the session to a server.
func (s *session) dropAt(server int) {
	for _, x := range append([]*session{s}, s.left...) {
		if x.conn != nil && x.conn.server == server {
			s.e.record.note("disconnect %s", x.client.Name())
			x.client.Drop()
		}
	}
}

// attachAt connects the session to a server in the world.
func (s *session) attachAt(server int, seen int64) error {
	if s.conn != nil {
		return s.move(server, seen)
	}
	return s.client.Reattach(server, seen)
}

// waitsAt reports whether the session may not yet connect to a server, because a fault has sent it to another one.
// After a while it may, because a client need not know that other one.
func (s *session) waitsAt(server int) bool {
	if k := s.client.Bound(); k < 0 || k == server {
		return false
	}
	if s.sent.IsZero() {
		s.sent = time.Now()
	}
	return time.Since(s.sent) < s.e.options.Lag
}

// attach makes this the connection of a session, and tells the client.
func (c *conn) attach(s *session) {
	c.session, s.conn, s.quit, s.over, s.sent = s, c, false, false, time.Time{}
	c.e.record.note("connect %s s%d", s.client.Name(), c.server+1)
	s.client.ServerConn().Auth = c.remote()
	s.touch()
	c.greet(c.connectResponse(s))
}

// connectResponse returns the packet that tells a client its session.
func (c *conn) connectResponse(s *session) jute.ConnectResponse {
	return jute.ConnectResponse{Timeout: int32(s.timeout.Milliseconds()), Session: s.id, Password: c.e.password(s.id),
		Old: c.old}
}

// expired tells the client that its session does not exist.
func (c *conn) expired() error {
	c.greet(jute.ConnectResponse{Password: make([]byte, jute.PasswordLen), Old: c.old})
	c.end(byFIN)
	return nil
}

// remote returns the address of the client as an identity.
func (c *conn) remote() []model.ID {
	addr, err := netip.ParseAddrPort(c.sock.RemoteAddr().String())
	if err != nil {
		return nil
	}
	ip := addr.Addr().Unmap().String()
	if o := c.e.origin; len(o) == 0 || o[0].ID != ip {
		c.e.origin = []model.ID{{Scheme: "ip", ID: ip}}
	}
	return slices.Clip(c.e.origin)
}

// greet queues the answer to the handshake.
func (c *conn) greet(w jute.ConnectResponse) {
	c.mu.Lock()
	at := len(c.out)
	c.out = w.Append(jute.StartFrame(c.out))
	c.said(at)
	c.mu.Unlock()
	c.mark()
}

// The requests that the world gets in place of those whose record cannot be read. They fail with
// model.MarshallingError, the first as a txn and the second not.
var (
	garbledWrite = model.Request{Op: model.OpError, Version: int32(model.MarshallingError)}
	garbledRead  = model.Request{Op: model.OpAddWatch, Mode: -1}
)

// pathlessMulti replaces a multi in which some operation has no path and which is refused before there is a txn. It
// fails with model.MarshallingError and an empty list of results.
var pathlessMulti = model.Request{Op: model.OpMultiRead, Ops: []model.Request{{Op: model.OpCheck}}}

// pathless reports whether pathlessMulti replaces a multi. A multi whose operations are of both kinds cannot even be
// read.
func pathless(ops []model.Request) bool {
	null, reads := false, 0
	for i := range ops {
		switch op := ops[i].Op; {
		case op.InMultiRead():
			reads++
		case !op.InMulti():
			return false
		}
		null = null || ops[i].Path == model.Null
	}
	return null && (reads == 0 || reads == len(ops))
}

// unknownOp is an operation that does not exist.
const unknownOp model.Op = -1000

// admitted returns the request to execute for one that was read with err, which may be nil. Its strings are those that
// Java makes of their bytes.
func admitted(q model.Request, err error) model.Request {
	switch {
	case q.Op == model.OpError: // only servers use it
		return model.Request{Op: unknownOp}
	case q.Op == model.OpDeleteContainer: // not parsed, because no client may send it
		return model.Request{Op: q.Op}
	case err != nil && q.Op == model.OpReconfig: // parsed before there is a txn
		return garbledRead
	case err != nil && q.Op.IsWrite():
		return garbledWrite
	case err != nil:
		return garbledRead
	case q.Op == model.OpCreateSession: // for an existing session; a txn without effect
		return model.Request{Op: model.OpError}
	case q.Op == model.OpMulti && pathless(q.Ops):
		return pathlessMulti
	}
	decodeStrings(&q)
	return q
}

// decodeStrings makes the strings of a request valid UTF-8.
func decodeStrings(q *model.Request) {
	decodeString(&q.Path)
	if q.Op == model.OpAuth && q.Data != nil { // its data is a string too
		q.Data = jute.ValidText(q.Data)
	}
	for i := range q.ACL {
		decodeString(&q.ACL[i].Scheme)
		decodeString(&q.ACL[i].ID)
	}
	for i := range q.Ops {
		decodeStrings(&q.Ops[i])
	}
	if l := q.Watches; l != nil {
		for _, list := range [][]string{l.Data, l.Exist, l.Child, l.Persistent, l.Recursive} {
			for i := range list {
				decodeString(&list[i])
			}
		}
	}
}

func decodeString(s *string) {
	if *s != model.Null && !utf8.ValidString(*s) {
		*s = string(jute.ValidText([]byte(*s)))
	}
}
