package sim

import (
	"context"
	"slices"
	"syscall"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// What the environment can do to a client. Package faults makes transitions of these methods. Each says when it may be
// used; using it at another time is an error of the caller.

// Connected reports whether the client's library has a connection.
func (c *Client) Connected() bool { return c.connected }

// Alive reports whether the process runs: it has neither crashed nor closed its connection.
func (c *Client) Alive() bool { return !c.closed }

// Paused reports whether the process is paused.
func (c *Client) Paused() bool { return c.host.paused }

// ID returns 1 for c1, and for its other connections.
func (c *Client) ID() int { return c.host.id }

// Slot returns the number of a client in transitions: its ID, and for each other connection a separate number.
func (c *Client) Slot() int { return c.id }

// Server returns the index of the server that the client is, or was last, connected to; -1 before the first connection.
func (c *Client) Server() int { return c.server }

// HasSession reports whether the servers have a session of the client.
func (c *Client) HasSession() bool { return c.session != 0 && c.w.leader().store.HasSession(c.session) }

// Unserved returns the oldest request that is on its way to the server; nil if there is none, or if the server lets it
// wait.
func (c *Client) Unserved() *model.Request {
	if !c.servable() {
		return nil
	}
	return &c.wire[0].req
}

// Unanswered returns the oldest request of the client's code that the server has executed but whose answer has not been
// delivered; nil if there is none.
func (c *Client) Unanswered() *model.Request {
	if !c.connected || c.hungup {
		return nil
	}
	for _, m := range c.down {
		if m.reply != nil && (m.reply.g != nil || m.reply.far) {
			return &m.reply.req
		}
	}
	if c.await != nil && c.await.req.Op.IsWrite() {
		return &c.await.req
	}
	return nil
}

// EventPending reports whether the next message for a connected client is a watch event.
func (c *Client) EventPending() bool {
	return c.connected && len(c.down) > 0 && c.down[0].isEvent()
}

// Serve executes the request that Unserved returns.
func (c *Client) Serve() { c.serve() }

// Cut ends a connection. Writes that the server has not taken may still be executed until the client has connected
// again.
func (c *Client) Cut() { c.cut(false) }

// Drop ends a connection. What the server has not taken is lost.
func (c *Client) Drop() { c.cut(true) }

// Calling reports whether code of the client waits for the answer to a request.
func (c *Client) Calling() bool {
	return slices.ContainsFunc(c.host.coroutines, func(g *coroutine) bool { return g.status == calling })
}

// Answering returns the request whose answer is the next message to arrive; nil if there is none.
func (c *Client) Answering() *model.Request {
	if !c.connected || c.slow || c.host.paused || len(c.down) == 0 || c.down[0].reply == nil {
		return nil
	}
	return &c.down[0].reply.req
}

// Of returns the request that step t serves, or whose answer it delivers; nil if it does neither. t must be possible.
func (w *World) Of(t Transition) *model.Request {
	switch t.Kind {
	case Serve:
		return w.Client(int(t.Client)).Unserved()
	case Deliver:
		return w.Client(int(t.Client)).Answering()
	}
	return nil
}

// looks is how often code can look at the library's state in a step in which the library does not know everything.
const looks = 8

// DeliverClose lets the next message arrive, and the connection end with it. The library notices the end only after the
// code that waited for the message has continued: until then it says that it has a session. The next request waits for
// another connection, and may be executed in another session.
func (c *Client) DeliverClose() {
	c.cutBehind(c.receive(), false)
}

// cutBehind ends the connection after g, if it is not nil, has continued in this step. Until then the library does not
// know of the end.
func (c *Client) cutBehind(g *coroutine, drop bool) {
	if g != nil {
		c.unaware = looks
		g.resume()
		c.unaware = 0
	}
	if c.connected {
		c.cut(drop)
	}
}

// Awaited reports whether code waits for the request that Answering returns, and so continues with the answer.
func (c *Client) Awaited() bool { return c.down[0].reply.g != nil }

// DeliverSlow lets the next message arrive. Code that waited for it continues when it likes. That it was woken tells it
// from code that has continued with the answer and then stopped of its own accord.
func (c *Client) DeliverSlow() {
	if g := c.receive(); g != nil {
		g.slow, g.woken = true, true
		g.client.invalidate() // of the client whose code it is; c may be another connection of it
	}
}

// Overtaken reports whether a request of code could still be sent before the library sets its watches again.
func (c *Client) Overtaken() bool { return c.connected && !c.hungup && c.overtaker() > 0 }

// overtaker returns the place on the wire of the first request right behind a SetWatches; 0 if there is none.
func (c *Client) overtaker() int {
	for i := 1; i < len(c.wire); i++ {
		if c.wire[i-1].req.Op == model.OpSetWatches && c.wire[i].g != nil {
			return i
		}
	}
	return 0
}

// Overtake lets a request be sent before the library sets its watches again. The library does that in a separate
// goroutine, when code may already know of the connection.
func (c *Client) Overtake() {
	i := c.overtaker()
	c.wire[i-1], c.wire[i] = c.wire[i], c.wire[i-1]
}

// brokenPipe is the error of a write to a socket that the other side has reset. go-zookeeper passes on the error of the
// socket, for which it has no name.
type brokenPipe struct{}

func (brokenPipe) Error() string   { return "write tcp: broken pipe" }
func (brokenPipe) Unwrap() error   { return syscall.EPIPE }
func (brokenPipe) Timeout() bool   { return false }
func (brokenPipe) Temporary() bool { return false }

// Unwritten returns the latest request of code if it may not have been written to the connection yet; else nil.
func (c *Client) Unwritten() *model.Request {
	n := len(c.wire)
	if !c.connected || c.host.paused || n == 0 || c.wire[n-1].g == nil || c.wire[n-1].req.Op == model.OpCloseSession {
		return nil
	}
	return &c.wire[n-1].req
}

// BreakPipe resets the connection before the request that Unwritten returns is written to it. The request ends with the
// error of the write, and code continues before the library says that it is disconnected, as after DeliverClose.
func (c *Client) BreakPipe() {
	last := len(c.wire) - 1
	r := c.wire[last]
	c.wire = c.wire[:last]
	r.fail(brokenPipe{})
	r.g.client.see(r.g) // as when it continues by a transition run
	c.cutBehind(r.g, true)
}

// Redials reports whether the library of the client is about to make a connection.
func (c *Client) Redials() bool {
	dials := c.rounded || len(c.w.servers) > 1 // a single server is dialed after what waits has failed, see round
	return dials && !c.connected && !c.closing && !c.closed && c.server >= 0 && !c.host.paused &&
		(c.state == zk.StateConnecting || c.state == zk.StateConnected)
}

// Handshake makes a connection whose handshake goes on.
func (c *Client) Handshake() { c.state = zk.StateConnected }

// Refuse makes a connection that ends before its handshake: the library says again that it is disconnected.
func (c *Client) Refuse() {
	c.setState(zk.StateDisconnected)
	c.state = zk.StateConnecting
	if len(c.w.servers) == 1 {
		c.rounded = false
	}
}

// Shaking reports whether a handshake goes on.
func (c *Client) Shaking() bool { return c.state == zk.StateConnected }

// Resetting is a [Far] that distinguishes the reset of a connection from its end.
type Resetting interface {
	Far
	// Reset says that the connection is reset: what the far end has not read yet is lost. End follows.
	Reset()
}

// ResetConnection resets a connection: what is on its way in both directions is lost.
func (c *Client) ResetConnection() {
	if far, ok := c.far.(Resetting); ok {
		far.Reset()
	}
	c.cut(true)
}

// Unaware reports whether the client could still believe in its session: it believes that it is connected, or is
// stopped, or has not yet acted on what it knows. A session that ends now ends before its owner could give up what it
// held, which takes a longer pause or delay than a well-run client has.
func (c *Client) Unaware() bool {
	if c.closed {
		return false
	}
	stopped := c.host.paused && c.far == nil
	return c.connected || stopped || c.busyUntil(c.expiry())
}

// busyUntil reports whether the client's code has something to do now or will have, unless something happens, up to a
// virtual time.
func (c *Client) busyUntil(at int64) bool {
	return c.w.timerDue(c.host, at) || c.runnable()
}

// runnable reports whether the client's code has something to do now.
func (c *Client) runnable() bool {
	for _, g := range c.host.coroutines {
		if g.status == runnable {
			return true
		}
	}
	return false
}

// expiry returns the earliest virtual time at which the session of a disconnected client can end. The client notices a
// dead link after two thirds of the timeout, so a third is left then.
func (c *Client) expiry() int64 {
	timeout := c.w.SessionTimeout
	if c.far != nil { // it asked for a timeout
		timeout = c.timeout
	}
	return max(c.silent+int64(timeout)/3, c.w.respite)
}

// Expire ends the client's session at the leader. The client's connection, if it has one, ends when its server hears of
// that. If the client knows that it is disconnected, virtual time moves on to when its session can end.
func (c *Client) Expire() {
	if c.Unaware() {
		c.w.History.Add(history.Event{Kind: history.Exceeded, Client: c.number(), Step: c.w.step, Version: int32(c.Line())})
	}
	if at := max(c.expiry(), c.w.respite); c.w.outside != nil && !c.connected {
		c.w.outside.PassTo(at)
	} else if c.far == nil { // else time is not ours
		if !c.connected && at > c.w.now {
			c.w.now = at
		}
		c.w.now = max(c.w.now, c.w.respite)
	}
	c.w.commit(nil, c.session, &model.Request{Op: model.OpCloseSession})
}

// GiveUp makes the client's library take its session for lost by its own clock, at the earliest moment at which the
// servers could end it, and open another one. The servers keep the session until the transition lapse. Curator gives up
// like this, as does Java's client since ZOOKEEPER-4508; go-zookeeper does not. Timers of the client's code that are
// due by then fire after that, as in a process that was stopped for so long. GiveUp is for a client without a
// connection; what it had on its way is lost.
func (c *Client) GiveUp() {
	c.w.now = max(c.w.now, c.expiry())
	c.expired(-1)
}

// Pause stops the process until the transition resume. Code outside of the simulator goes on, but nothing arrives at
// it, and its far end must hold back what it sends.
func (c *Client) Pause() {
	c.host.paused = true
	for _, x := range c.connections() {
		x.invalidate()
	}
}

// Delay holds back all messages to the client until the transition undelay.
func (c *Client) Delay() { c.slow = true }

// Delayed reports whether Delay is in force.
func (c *Client) Delayed() bool { return c.slow }

// Crash ends the process at once. Its session goes on until it expires.
func (c *Client) Crash() {
	c.w.History.Add(history.Event{Kind: history.Crashed, Client: c.number(), Step: c.w.step})
	for _, x := range c.connections() {
		x.crashed, x.paused, x.undialed = true, false, false
		if x.connected {
			x.cut(false)
		}
		x.closed = true
		x.killAll()
		x.unsent = x.unsent[:0]
		x.watchers, x.sessionChans = x.watchers[:0], x.sessionChans[:0]
		x.invalidate()
	}
}

// Interruptible reports whether the client's program offers an operation to cancel; see OnInterrupt.
func (c *Client) Interruptible() bool { return c.interrupt != nil && !c.paused && !c.crashed }

// Interrupt cancels the context of that operation.
func (c *Client) Interrupt() {
	c.interrupt()
	c.interrupt, c.interruptible = nil, nil
	c.observed = c.observed.Uint64(1) // code may look at the context without waiting for it
	c.arrive(c.offered, 1)
	c.markDirty()
}

// OnInterrupt offers cancel, which ends ctx, to the environment; nil withdraws it. For the client's program.
func (c *Client) OnInterrupt(ctx context.Context, cancel func()) {
	c.own()
	c.interrupt, c.interruptible = cancel, ctx
	if g := c.w.current; g != nil {
		c.offered = g.knows()
	}
}

// Freeze cuts server k, which must be a follower, off from the leader until the transition thaw. The server goes on
// serving reads, and sessions that have ended meanwhile.
func (w *World) Freeze(k int) { w.servers[k].frozen = true }

// Frozen reports whether Freeze is in force.
func (w *World) Frozen(k int) bool { return w.servers[k].frozen }

// Follows reports whether server k hears of the leader: it is not the leader, not deposed and not frozen.
func (w *World) Follows(k int) bool {
	return k != w.lead && !w.servers[k].deposed && !w.servers[k].frozen
}

// Lagging returns the servers that c could move to, the one furthest behind first. It leaves out c's own server, the
// leader, and servers that are behind what c has seen. With a single server there are none.
func (w *World) Lagging(c *Client) []int {
	list := w.lagging[:0]
	for _, s := range w.servers {
		if s.index == c.server || s.index == w.lead || s.frozen || s.applied < c.lastTxn {
			continue
		}
		if s.deposed && (c.w.Like == model.Keeper || c.ahead(s) || !s.store.HasSession(c.session)) {
			continue
		}
		list = append(list, s.index)
		if n := len(list); n == 2 && w.servers[list[0]].applied > s.applied {
			list[0], list[1] = list[1], list[0]
		}
	}
	w.lagging = list
	return list
}

// Queued reports whether a request of c waits for a connection.
func (c *Client) Queued() bool { return len(c.unsent) > 0 }

// Fresh reports whether c has had an earlier session and has had no answer in the present one.
func (c *Client) Fresh() bool { return c.sessions > 1 && c.session != 0 && c.lastZxid == 0 }

// Outlived reports whether the client's previous session still lives at server k.
func (c *Client) Outlived(k int) bool { return c.w.servers[k].store.HasSession(c.session - 1) }

// Reconnect connects a disconnected client to server k. A remote client does that by itself, see [Client.Bound].
func (c *Client) Reconnect(k int) {
	if c.far != nil {
		c.bound = k
		return
	}
	c.connect(k)
}
