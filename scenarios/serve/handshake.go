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

// handshake answers the first packet of a connection. The checks are in the order of ZooKeeperServer.
// processConnectRequest: what the client has seen, the old connection of the session, the password, the session.
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
		if !e.serves() || c.over() { // by a reset, or a kill, before it was its turn
			return errEnded
		}
		c.received(&model.Request{Op: unknownOp}) // cons tells of a new session, see openSession
		if hello.LastZxid > e.world.Stores()[c.server].Zxid() {
			if e.resets > 0 && hello.Session != 0 && !e.knows(&hello) { // it has seen what was before a Reset
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

// over reports whether the connection has ended, or will when all is written.
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
	if err != nil { // as one that hangs until its client gives up
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

// knows reports whether the password is that of the session, as it is not for a session of before a Reset.
func (e *Ensemble) knows(hello *jute.ConnectRequest) bool {
	return string(hello.Password) == string(e.password(hello.Session))
}

// reattach gives the connection the session that the client has had on another one.
func (c *conn) reattach(hello *jute.ConnectRequest) error {
	e := c.e
	s := e.sessions[hello.Session]
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
	if k := s.client.Bound(); k >= 0 && k != c.server && s.waits() {
		return errEnded
	}
	err := s.attachAt(c.server, hello.LastZxid)
	switch {
	case errors.Is(err, zk.ErrSessionExpired): // and a server that lags goes on with it
		e.record.expired(e.world, hello.Session)
		return c.expired()
	case err != nil:
		return err
	}
	s.timeout = e.granted(hello.Timeout)
	c.attach(s)
	return nil
}

// dropAt ends the connections that the session has to a server.
func (s *session) dropAt(server int) {
	for _, x := range append([]*session{s}, s.left...) {
		if x.conn != nil && x.conn.server == server {
			s.e.record.note("disconnect %s", x.client.Name())
			x.client.Drop()
		}
	}
}

// attachAt has the world connect the session to a server.
func (s *session) attachAt(server int, seen int64) error {
	if s.conn != nil {
		return s.move(server, seen)
	}
	return s.client.Reattach(server, seen)
}

// waits reports whether a session that a fault has sent to another server is not taken elsewhere yet. It is after a
// while: a client need not know that server.
func (s *session) waits() bool {
	if s.sent.IsZero() {
		s.sent = time.Now()
	}
	return time.Since(s.sent) < s.e.options.Lag
}

// attach makes this the connection of a session, and says so.
func (c *conn) attach(s *session) {
	c.session, s.conn, s.quit, s.over, s.sent = s, c, false, false, time.Time{}
	c.e.record.note("connect %s s%d", s.client.Name(), c.server+1)
	s.client.ServerConn().Auth = c.remote()
	s.touch()
	c.greet(c.connectResponse(s))
}

// connectResponse is what tells a client of its session.
func (c *conn) connectResponse(s *session) jute.ConnectResponse {
	return jute.ConnectResponse{Timeout: int32(s.timeout.Milliseconds()), Session: s.id, Password: c.e.password(s.id),
		Old: c.old}
}

// expired says that there is no such session.
func (c *conn) expired() error {
	c.greet(jute.ConnectResponse{Password: make([]byte, jute.PasswordLen), Old: c.old})
	c.end(byFIN)
	return nil
}

// remote is the address of the client as an identity.
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

// greet has the answer to the handshake written.
func (c *conn) greet(w jute.ConnectResponse) {
	c.mu.Lock()
	at := len(c.out)
	c.out = w.Append(jute.StartFrame(c.out))
	c.said(at)
	c.mu.Unlock()
	c.mark()
}

// The requests that the world gets in place of those whose record cannot be read: they fail with
// model.MarshallingError, one as a txn and the other not.
var (
	garbledWrite = model.Request{Op: model.OpError, Version: int32(model.MarshallingError)}
	garbledRead  = model.Request{Op: model.OpAddWatch, Mode: -1}
)

// pathlessMulti is the request that the world gets in place of a multi that has no path somewhere, and that is refused
// before there is a txn: it fails with model.MarshallingError and an empty list of results.
var pathlessMulti = model.Request{Op: model.OpMultiRead, Ops: []model.Request{{Op: model.OpCheck}}}

// pathless reports whether a multi is such a one. If its operations are not of one kind it cannot even be read.
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

// unknownOp is an operation that there is not.
const unknownOp model.Op = -1000

// admitted returns the request to execute for one that was read with an error, or none. Strings are those that Java
// makes of their bytes.
func admitted(q model.Request, err error) model.Request {
	switch {
	case q.Op == model.OpError: // the server's own
		return model.Request{Op: unknownOp}
	case q.Op == model.OpDeleteContainer: // not parsed, since no client may send it
		return model.Request{Op: q.Op}
	case err != nil && q.Op == model.OpReconfig: // parsed before there is a txn
		return garbledRead
	case err != nil && q.Op.IsWrite():
		return garbledWrite
	case err != nil:
		return garbledRead
	case q.Op == model.OpCreateSession: // of one that there is; a txn without effect
		return model.Request{Op: model.OpError}
	case q.Op == model.OpMulti && pathless(q.Ops):
		return pathlessMulti
	}
	decodeStrings(&q)
	return q
}

// decodeStrings makes valid UTF-8 of the strings of a request.
func decodeStrings(q *model.Request) {
	decodeString(&q.Path)
	if q.Op == model.OpAuth && q.Data != nil { // whose data are a string, too
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
