package sim

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
)

// library is the client's library. It behaves like go-zookeeper v1.0.4 (conn.go of that module): requests wait in
// unsent while there is no connection, requests on the wire fail with ErrConnectionClosed when it is cut, watches
// survive a reconnect by SetWatches, and an expired session is silently replaced by a new one.
type library struct {
	closing bool // Close was called
	closed  bool // ... and has ended, or the process crashed
	leaves  bool // Conn.LeaveWatches was called
	unaware int  // how often code may still look before the library knows that its connection has ended
	// the connection is one that code may still dial
	undialed bool
	rounded  bool // all servers were tried in vain since the last connection
	vain     int  // how many more times they can be tried in vain, since an election takes time
	tried    int  // server that said that the session had expired; -1: none
	state    zk.State
	auth     []credential

	unsent       []*request
	watchers     []watcher
	sessionChans []sessionChan
	fired        []firedChan
	rearmed      []*request // requests that rearm has sent; it reuses their memory
}

type credential struct {
	scheme string
	auth   []byte
}

// request is one operation between call and answer.
type request struct {
	g     *coroutine // nil for SetWatches, and when nobody waits any more
	req   model.Request
	res   model.Response
	err   error // of the library; the server's error is in res
	sent  bool
	watch watchKind
	ch    chan zk.Event // the watch, if the answer armed one
	via   *Client       // the client whose library has it
	far   bool          // of a remote client
	tag   uint64        // ... by which that client knows it
}

type watchKind uint8

const (
	noWatch watchKind = iota
	dataWatch
	existWatch
	childWatch
)

type watcher struct {
	kind  watchKind
	path  string
	ch    chan zk.Event
	scope *scope // of the code that set it; nil: the code has dropped the channel
}

// submit gives a request to the library and waits until it ends.
func (c *Client) submit(r *request) {
	g := c.here()
	w := c.w
	g.woke(-1, zk.Event{}, nil)
	r.g, r.via, r.sent, r.ch = g, c, false, nil
	c.invalidate()
	w.hash = hashRequest(w.hash, &r.req)
	w.History.Add(history.Event{Kind: history.Call, Client: c.number(), Step: w.step, Op: OpName(&r.req),
		Path: r.req.Path})
	if w.injector != nil {
		w.injector.Issued(c, &r.req)
	}
	switch {
	case c.closed, c.closing && r.req.Op != model.OpCloseSession:
		r.err = zk.ErrConnectionClosed
		g.park(runnable)
	case c.connected && c.unaware == 0 && r.tooLong():
		r.err = zk.ErrShortBuffer
		g.park(runnable)
	case c.connected && c.unaware == 0:
		r.sent = true
		c.wire = append(c.wire, r)
		g.park(calling)
	default:
		c.unsent = append(c.unsent, r)
		g.park(calling)
	}
	if r.err != nil {
		c.replied(r)
	}
}

// replied records the end of a request of client code.
func (c *Client) replied(r *request) {
	c.w.History.Add(history.Event{Kind: history.Reply, Client: c.number(), Step: c.w.step, Op: OpName(&r.req),
		Path: answeredPath(r), Err: r.result()})
}

func answeredPath(r *request) string {
	if r.err == nil && r.res.Path != "" {
		return r.res.Path
	}
	return r.req.Path
}

// OpName returns the name of a request in histories and fault plans: that of the client's method, in lower case.
func OpName(r *model.Request) string {
	if r.Watch {
		switch r.Op {
		case model.OpExists:
			return "existsW"
		case model.OpGetData:
			return "getW"
		case model.OpGetChildren, model.OpGetChildren2:
			return "childrenW"
		}
	}
	if r.Op == model.OpGetChildren2 {
		return "children"
	}
	return r.Op.String()
}

// result returns the error that the library returns for r.
func (r *request) result() error {
	if r.err != nil {
		return r.err
	}
	if r.req.Op == model.OpMulti && r.res.Err == model.OK {
		_, err := multiResult(r.res.Results)
		return err
	}
	return r.res.Err.Err()
}

// fail ends a request without an answer from the server.
func (r *request) fail(err error) {
	if r.g == nil {
		return
	}
	r.err = err
	r.g.status, r.g.woken = runnable, true
	r.g.client.invalidate() // of the client whose code it is; r may be of another connection
}

// dialed executes a transition connect or round.
func (c *Client) dialed(t Transition) {
	far, outside := c.far.(Dialing)
	switch {
	case outside && t.Kind == Round:
		far.Refuse()
	case outside:
		far.Connect(int(t.Arg))
	case t.Kind == Round:
		c.round()
	default:
		c.connect(int(t.Arg))
	}
}

// connect makes the connection to server k: with a new session, with the old one, or to learn that the old one has
// expired.
func (c *Client) connect(k int) {
	w := c.w
	s := w.servers[k]
	if w.Like == model.Keeper {
		c.loseSession()
	}
	if c.session != 0 && !s.authority().store.HasSession(c.session) {
		c.expired(k)
		return
	}
	c.late = c.late[:0] // the session now belongs to this connection
	if c.session == 0 {
		c.newSession(s, w.SessionTimeout)
	}
	c.connected, c.hungup, c.rounded, c.vain = true, false, false, 0
	c.server, c.tried = k, -1
	c.conn.Session, c.conn.Auth = c.session, loopback
	for _, a := range c.auth {
		c.conn.Auth, _ = model.Authenticate(c.conn.Auth, a.scheme, jute.ValidText(a.auth))
	}
	for _, r := range c.unsent {
		if r.sent = !r.tooLong(); r.sent {
			c.wire = append(c.wire, r)
		} else {
			r.fail(zk.ErrShortBuffer)
		}
	}
	c.unsent = c.unsent[:0]
	c.rearm()
	c.setState(zk.StateHasSession)
	if !w.leader().store.HasSession(c.session) { // a deposed leader does not know that it has ended
		w.History.Add(history.Event{Kind: history.Exceeded, Client: c.number(), Step: w.step, Version: int32(c.Line())})
	}
}

// newSession gives the client its next session. Its server has heard of that.
func (c *Client) newSession(s *server, timeout int32) {
	c.sessions++
	c.session = int64(c.id)<<sessionBits | c.sessions
	c.w.commit(nil, c.session, &model.Request{Op: model.OpCreateSession, Version: timeout})
	s.catchUp(c.w.committed)
}

// loseSession leaves the session to its timeout: the server does not ask which one the client had. The library takes
// the new session for its own. It keeps its watches and the last zxid, and tells nobody.
func (c *Client) loseSession() {
	c.orphan(c.expiry())
	c.session, c.owed = 0, c.owed[:0]
}

// orphan leaves behind the client's session, if the servers have it, and what was sent in it.
func (c *Client) orphan(from int64) {
	if c.HasSession() {
		c.orphans = append(c.orphans, orphan{c.session, from, slices.Clone(c.late), c.conn.Auth})
	}
	c.late = c.late[:0]
}

// watches returns the index of the first watcher of that kind and path.
func (c *Client) watches(k watchKind, path string) int {
	for i, x := range c.watchers {
		if x.kind == k && x.path == path {
			return i
		}
	}
	return len(c.watchers)
}

// spare reports whether a watcher makes no difference: the code has dropped its channel, and the library has an earlier
// one of the same kind and path.
func (c *Client) spare(i int) bool {
	x := &c.watchers[i]
	return c.w.Detail.Forget && x.scope.left() == nil && c.watches(x.kind, x.path) < i
}

// expired is the answer of server k to a reconnect with a session that is gone, or that a deposed leader takes for
// gone. All watches end; the library goes on by itself to open a new session.
func (c *Client) expired(k int) {
	c.orphan(0)
	c.session, c.lastZxid, c.lastTxn, c.owed = 0, 0, 0, c.owed[:0]
	c.rounded, c.tried = false, k
	c.setState(zk.StateExpired)
	c.endWatches(zk.ErrSessionExpired)
	c.setState(zk.StateDisconnected)
	c.state = zk.StateConnecting
}

// endWatches gives every watch channel its last event.
func (c *Client) endWatches(err error) {
	if len(c.watchers) > 0 {
		c.host.observed = c.host.observed.Uint64(failure(err))
	}
	for _, x := range c.inMapOrder() {
		c.fire(x.ch, x.scope, zk.Event{Type: zk.EventNotWatching, State: zk.StateDisconnected, Path: x.path, Err: err})
	}
	clear(c.watchers)
	c.watchers = c.watchers[:0]
	c.markDirty()
}

// setState enters a state and tells those who asked for the next change.
func (c *Client) setState(s zk.State) {
	c.state = s
	c.w.History.Add(history.Event{Kind: history.Session, Client: c.number(), Step: c.w.step, Op: s.String(),
		Session: c.session, Version: int32(c.Line())})
	c.announce(zk.Event{Type: zk.EventSession, State: s})
}

func (c *Client) announce(ev zk.Event) {
	if len(c.sessionChans) > 0 { // code may look at them without waiting
		c.host.observed = c.host.observed.Uint64(eventHash(ev))
	}
	for i, x := range c.sessionChans {
		c.fire(x.ch, x.scope, ev)
		c.sessionChans[i] = sessionChan{}
	}
	c.sessionChans = c.sessionChans[:0]
	c.markDirty()
}

// round ends a pass over all servers without success: requests that wait to be sent fail with ErrNoServer. With a
// single server every reconnect begins like this.
func (c *Client) round() {
	if c.state == zk.StateConnected {
		c.Refuse()
	}
	if c.rounded = c.vain == 0; !c.rounded {
		c.vain--
	}
	for _, r := range c.unsent {
		r.fail(zk.ErrNoServer)
	}
	c.unsent = c.unsent[:0]
}

// disconnected tells the code that the connection has ended.
func (c *Client) disconnected() {
	for _, g := range c.host.coroutines {
		if g.status == calling && g.req.sent && g.req.via == c {
			g.req.fail(zk.ErrConnectionClosed)
		}
	}
	c.setState(zk.StateDisconnected)
	c.state = zk.StateConnecting
}

// answer takes the answer to r from a server that had applied the log up to at. It returns the coroutine that waited
// for it; nil if none still does.
func (c *Client) answer(r *request, at int) *coroutine {
	w := c.w
	if r.res.Zxid > 0 {
		c.lastZxid, c.lastTxn = r.res.Zxid, at
	}
	w.hash = w.hash.Int(r.res.Zxid)
	if r.g != nil {
		c.host.lingered = 0
		if !w.follows { // the hash of a timed run has its times; hashing long lists would take longer than reading them
			r.g.learn(uint64(hashResponse(0, &r.res)))
			c.host.lookAround(r.g)
			w.hash = w.hash.Uint64(uint64(c.host.observed))
		}
	}
	if k := r.arms(); k != noWatch {
		r.ch = make(chan zk.Event, 1)
		c.watchers = append(c.watchers, watcher{k, r.req.Path, r.ch, r.hearer()})
	}
	if r.g != nil {
		r.g.status = runnable
		c.replied(r)
	} else {
		c.unawaited(r)
	}
	return r.g
}

// arms returns the kind of watch that the answer to r leaves.
func (r *request) arms() watchKind {
	switch {
	case r.watch == existWatch && r.res.Err == model.OK:
		return dataWatch
	case r.res.Err == model.OK, r.watch == existWatch && r.res.Err == model.NoNode:
		return r.watch
	}
	return noWatch
}

// notify fires the watch channels that an event concerns.
func (c *Client) notify(ev model.Event) {
	w := c.w
	z := ev.Zxid
	if ev.Caught {
		z = 0
	}
	w.History.Add(history.Event{Kind: history.Notify, Client: c.number(), Step: w.step, Op: history.EventName(ev.Type),
		Path: ev.Path, Zxid: z})
	for _, k := range [...]watchKind{existWatch, dataWatch, childWatch} { // in the order of the library
		for _, x := range c.watchers {
			if x.path == ev.Path && x.kind == k && k.hears(ev.Type) {
				c.fire(x.ch, x.scope, zk.Event{Type: ev.Type, State: zk.StateSyncConnected, Path: ev.Path})
			}
		}
	}
	kept := c.watchers[:0]
	for _, x := range c.watchers {
		if x.path != ev.Path || !x.kind.hears(ev.Type) {
			kept = append(kept, x)
		}
	}
	if len(kept) < len(c.watchers) {
		c.host.observed = c.host.observed.Int(int64(ev.Type)).String(ev.Path)
	}
	w.hash = w.hash.Int(ev.Zxid).Uint64(uint64(c.host.observed))
	clear(c.watchers[len(kept):])
	c.watchers = kept
	c.markDirty()
}

// fire gives a channel its only event. Of several events of one step the first wakes the coroutine that waits for them.
// With an Order below FirstDrawn it is the event of the channel that the code named first.
func (c *Client) fire(ch chan zk.Event, at *scope, ev zk.Event) {
	ch <- ev
	close(ch)
	if c.w.Order >= FirstDrawn {
		c.host.wake(ch)
	}
	if at.left() != nil {
		c.host.lingered = 0
	}
	if c.w.Detail.Forget {
		what := eventHash(ev)
		c.arrive(at, what)
		c.fired = append(c.fired, firedChan{ch, what})
	}
}

// hears reports whether a watch of that kind gets such an event.
func (k watchKind) hears(t zk.EventType) bool {
	switch t {
	case zk.EventNodeCreated:
		return k == existWatch
	case zk.EventNodeDataChanged:
		return k != childWatch
	case zk.EventNodeChildrenChanged:
		return k == childWatch
	}
	return true
}

// end stops the library: after Close, or with the process.
func (c *Client) end() {
	c.invalidate()
	if c.connected {
		c.cut(false)
	}
	c.closed = true
	for _, r := range c.unsent {
		r.fail(zk.ErrConnectionClosed)
	}
	c.unsent = c.unsent[:0]
	c.endWatches(zk.ErrClosing)
	c.state = zk.StateDisconnected
	c.announce(zk.Event{Type: zk.EventSession, State: zk.StateDisconnected, Err: zk.ErrClosing})
}
