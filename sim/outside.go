package sim

// Outside is code outside of the simulator, which has remote clients. World.Run asks it; time is that of the code, and
// passes in the transition tick.
type Outside interface {
	// Rest returns when all of that code waits: for servers, for time, or for itself. What it has asked for until then
	// is on its way, and it has said [Client.Ask] and [Client.Cut] for connections that it wants, or has ended.
	Rest()
	// Pass returns when time has passed until the code wanted something of the servers, or for a while.
	Pass()
	// PassTo returns at a virtual time, if that is still to come. Nobody is served meanwhile.
	PassTo(ms int64)
	// Idle reports whether the passing of time will bring nothing new.
	Idle() bool
	// Hurried reports whether what can happen must do so before time passes.
	Hurried() bool
	// Branch has what the code's runtime draws from now on come from another seed, if it draws from one.
	Branch(seed uint64)
}

// SetOutside has the run to come be one of such code. It must be called after [World.Reset].
func (w *World) SetOutside(o Outside) { w.outside = o }

// Branch is [Outside.Branch] of the code that the run is of, if it is of such code.
func (w *World) Branch(seed uint64) {
	if w.outside != nil {
		w.outside.Branch(seed)
	}
}

// Ask says that a remote client wants a connection to a server: a transition connect, or round if the server cannot
// give it one, will tell [Dialing] of it.
func (c *Client) Ask(server int) {
	c.asks = server
	c.invalidate()
}

// Unask takes that back.
func (c *Client) Unask() {
	c.asks = -1
	c.invalidate()
}

// Dialing is a [Far] of code outside, which asks for connections.
type Dialing interface {
	Far
	// Connect says that the server which the client has asked for takes it now.
	Connect(server int)
	// Refuse says that it does not.
	Refuse()
}

// asking appends what can become of a remote client without a connection.
func (c *Client) asking(list []Transition) []Transition {
	id := uint32(c.id)
	if c.w.outside != nil {
		if at, ok := c.SessionEnd(); ok && c.w.now >= at {
			list = append(list, Transition{Expire, id, 0})
		}
	}
	if c.asks < 0 || c.paused {
		return list
	}
	s := c.w.servers[c.asks]
	if s.frozen || s.deposed && (c.session == 0 || c.ahead(s)) || c.ahead(s) || c.bound >= 0 && c.bound != c.asks {
		return append(list, Transition{Round, id, 0})
	}
	return append(list, Transition{Connect, id, uint16(c.asks)})
}

// SessionEnd returns from which virtual time on, in milliseconds, the servers may end the session of a remote client
// that has no connection: its timeout has passed, or starts anew with an election. It returns false where there is
// nothing to end: the client is connected, or its session is over.
func (c *Client) SessionEnd() (at int64, ok bool) {
	if c.connected || c.session == 0 || !c.HasSession() {
		return 0, false
	}
	return max(c.silent+int64(c.timeout), c.w.respite), true
}
