package sim

import "zksim/model"

// Outside is code outside of the simulator, which has remote clients. World.Run asks it. Time is that of the code, and
// passes in the transition tick.
type Outside interface {
	// Rest returns when all of that code waits: for servers, for time, or for itself. By then what it has asked for is on
	// its way, and it has called [Client.Ask] and [Client.Cut] for connections that it wants or has ended.
	Rest()
	// Pass lets time pass and returns when the code wants something of the servers, or after a while.
	Pass()
	// PassTo returns at a virtual time, if that is still to come. Nobody is served meanwhile.
	PassTo(ms int64)
	// Idle reports whether the passing of time will bring nothing new.
	Idle() bool
	// Hurried reports whether what can happen must happen before time passes.
	Hurried() bool
	// Branch gives the code's runtime, if it draws from a seed, another seed from now on.
	Branch(seed uint64)
}

// SetOutside makes the coming run one of such code. It must be called after [World.Reset].
func (w *World) SetOutside(o Outside) { w.outside = o }

// Branch calls [Outside.Branch] if the run is of code outside.
func (w *World) Branch(seed uint64) {
	if w.outside != nil {
		w.outside.Branch(seed)
	}
}

// Ask says that a remote client wants a connection to a server. A transition connect, or round if the server cannot
// give it one, will tell [Dialing] the result.
func (c *Client) Ask(server int) {
	c.asks = server
	c.invalidate()
}

// Unask withdraws Ask.
func (c *Client) Unask() {
	c.asks = -1
	c.invalidate()
}

// Dialing is a [Far] of code outside that asks for connections.
type Dialing interface {
	Far
	// Connect says that the server that the client has asked for takes it now.
	Connect(server int)
	// Refuse says that the server does not take it.
	Refuse()
}

// asking appends what can happen to a remote client without a connection.
func (c *Client) asking(list []Transition) []Transition {
	id := uint32(c.id)
	if c.w.outside != nil {
		if at, ok := c.ownEnd(); ok && c.w.now >= at {
			list = append(list, Transition{Expire, id, 0})
		}
	}
	if c.asks < 0 || c.paused {
		return list
	}
	s := c.w.servers[c.asks]
	opens := c.session == 0 || c.w.Like == model.Keeper // a txn
	if s.frozen || s.deposed && opens || c.ahead(s) || c.bound >= 0 && c.bound != c.asks {
		return append(list, Transition{Round, id, 0})
	}
	return append(list, Transition{Connect, id, uint16(c.asks)})
}

// SessionEnd returns the virtual time, in milliseconds, from which the servers may end the first session of a remote
// client that has no connection: when its timeout has passed, which starts anew with an election. It returns false if
// there is no such session.
func (c *Client) SessionEnd() (at int64, ok bool) {
	if len(c.orphans) > 0 { // these are older
		return max(c.orphans[0].from, c.w.respite), true
	}
	return c.ownEnd()
}

// ownEnd is SessionEnd for the session that the client has.
func (c *Client) ownEnd() (at int64, ok bool) {
	if c.connected || c.session == 0 || !c.HasSession() {
		return 0, false
	}
	return max(c.silent+int64(c.timeout), c.w.respite), true
}
