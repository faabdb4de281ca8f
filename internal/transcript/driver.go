package transcript

import (
	"zksim/model"
	"zksim/model/history"
)

// driver runs the steps of a transcript on a model.Server: it is the rest of a
// standalone server. It hands out zxids and time, knows which session has which
// connection, and lets the leader's clean-up run while a step waits.
type driver struct {
	server    *model.Server
	settings  settings
	sessions  []*session // session i has the id i+1
	byName    map[string]*session
	times     []int64 // of txn i
	now       int64   // milliseconds; every txn has one of its own
	nextCheck int64
	closed    []string // connections that the server has closed, until taken
	badTimes  []Difference
}

// session is one session and the connection that it may have.
type session struct {
	name   string
	id     int64
	conn   *model.Conn // nil while it has none
	events []string    // received, until taken
}

func newDriver(s settings) *driver {
	d := &driver{
		server: model.NewServer(s.model), settings: s, byName: map[string]*session{},
		times: []int64{0}, nextCheck: s.checkMillis,
	}
	d.server.OnEvent = func(c *model.Conn, e model.Event) {
		s := d.sessions[c.Index]
		s.events = append(s.events, history.EventName(e.Type)+" "+wireText(e.Path))
	}
	return d
}

// do executes one step and returns its result. The caller takes events and
// closed connections.
func (d *driver) do(st *Step) Result {
	s := d.byName[st.Session]
	switch st.Op {
	case opOpen:
		return d.open(st.Session, st.Timeout)
	case opDrop:
		d.disconnect(s)
		return failed("OK")
	case opReopen:
		return d.reopen(s, st)
	case opExpire:
		return d.expire(s)
	case opIdle:
		d.idle(int64(st.Timeout))
		return d.answered()
	case opWait:
		d.wait(int64(*st.Version))
		return d.answered()
	}
	return d.request(s, &st.Args)
}

// failed is a result without a reply header.
func failed(err string) Result { return Result{Reply: Reply{Err: err}} }

// answered is the result of an act that has no reply of its own: the recorder noted the server's last zxid.
func (d *driver) answered() Result {
	r := failed("OK")
	r.Zxid = new(d.server.Zxid())
	return r
}

// apply makes r the next txn of the log.
func (d *driver) apply(id int64, auth []model.ID, r *model.Request, res *model.Response) {
	d.now++
	d.times = append(d.times, d.now)
	d.server.Apply(&model.Txn{Zxid: d.server.Zxid() + 1, Time: d.now, Session: id, Auth: auth, Req: r}, res)
}

func (d *driver) open(name string, timeout int32) Result {
	s := &session{name: name, id: int64(len(d.sessions)) + 1}
	d.sessions = append(d.sessions, s)
	d.byName[name] = s
	d.connect(s)
	var res model.Response
	d.apply(s.id, nil, &model.Request{Op: model.OpCreateSession, Version: timeout}, &res)
	return d.answered()
}

// connect gives the session a new connection, authenticated only by its address.
func (d *driver) connect(s *session) {
	s.conn = &model.Conn{
		Session: s.id, Index: int(s.id) - 1, Auth: []model.ID{{Scheme: "ip", ID: "127.0.0.1"}},
	}
}

func (d *driver) disconnect(s *session) {
	if s.conn != nil {
		d.server.Disconnect(s.conn)
		s.conn = nil
	}
}

// hangup closes the session's connection from the server's side.
func (d *driver) hangup(s *session) {
	d.disconnect(s)
	d.closed = append(d.closed, s.name)
}

// reopen checks in the server's order (ZooKeeperServer.processConnectRequest): a client that has seen the future is cut
// without an answer; then the old connection is closed, even if the password turns out wrong; then password and session
// are checked.
func (d *driver) reopen(s *session, st *Step) Result {
	if st.LastZxid > d.server.Zxid() {
		return failed(errConnectionLoss)
	}
	hadConn := s.conn != nil
	d.disconnect(s)
	welcome := !st.BadPassword && d.server.HasSession(s.id)
	if welcome {
		d.connect(s)
	}
	switch { // from now on the name alone means the new connection
	case hadConn && welcome:
		d.closed = append(d.closed, s.name+"(old connection)")
	case hadConn:
		d.closed = append(d.closed, s.name)
	}
	if !welcome {
		return failed(model.SessionExpired.String())
	}
	return failed("OK")
}

// expire ends the session as if the client had been silent. Its connection goes first.
func (d *driver) expire(s *session) Result {
	d.disconnect(s)
	if !d.server.HasSession(s.id) {
		return failed(model.SessionExpired.String())
	}
	var res model.Response
	d.apply(s.id, nil, &model.Request{Op: model.OpCloseSession}, &res)
	return d.answered()
}

// request sends one request on the session's connection.
func (d *driver) request(s *session, a *Args) Result {
	if s.conn == nil {
		return failed(errConnectionLoss)
	}
	if a.packetLen() > d.settings.maxPacketLen {
		d.hangup(s)
		return failed(errConnectionLoss)
	}
	if a.Op == opAuth {
		return d.authenticate(s, a)
	}
	r := a.request()
	var res model.Response
	if r.Op.IsWrite() {
		d.apply(s.id, s.conn.Auth, r, &res)
	} else {
		d.server.Read(s.conn, r, &res)
	}
	if res.Silent {
		return failed(errTimeout)
	}
	if res.Hangup {
		d.hangup(s)
	}
	return d.result(r.Op, &res)
}

// authenticate answers an auth packet. The server does so outside its pipeline, so the reply has no zxid.
func (d *driver) authenticate(s *session, a *Args) Result {
	ids, code := model.Authenticate(s.conn.Auth, a.Scheme, []byte(a.Auth))
	s.conn.Auth = ids
	if code != model.OK {
		d.hangup(s)
	}
	r := failed(code.String())
	r.Zxid = new(int64)
	return r
}

// idle lets time pass. Only here and in wait does the leader clean up: in a
// recording the other steps take no time.
func (d *driver) idle(millis int64) {
	end := d.now + millis
	for d.nextCheck <= end {
		d.cleanUp()
	}
	d.now = max(d.now, end)
}

// maxWaitChecks is how many clean-ups a step waits for before it gives up.
const maxWaitChecks = 1000

// wait lets time pass until the leader has committed that many txns.
func (d *driver) wait(txns int64) {
	end := d.server.Zxid() + txns
	for range maxWaitChecks {
		if d.server.Zxid() >= end {
			return
		}
		d.cleanUp()
	}
}

// cleanUp goes to the time of the next check of containers and ttl znodes, if
// it has not passed yet, and runs it.
func (d *driver) cleanUp() {
	d.now = max(d.now, d.nextCheck)
	d.nextCheck += d.settings.checkMillis
	for _, path := range d.server.Reapable(d.now) {
		var res model.Response
		d.apply(0, nil, &model.Request{Op: model.OpDeleteContainer, Path: path}, &res)
	}
}
