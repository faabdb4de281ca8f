// Package faults is what can go wrong with a ZooKeeper client. It has a table of faults, each a transition of the
// simulator that is possible in certain states (but "sequence" is a property of the start), and a language of plans,
// which say which faults may strike which client and how often.
//
// All faults are within ZooKeeper's contract: a real ensemble can do them to a real client, so a correct recipe must
// survive them. Only "sequence" is beyond it, because no contract says what becomes of sequential names after 2^31
// creates; it shows what a real server was seen to do.
package faults

import (
	"zksim/model"
	"zksim/sim"
)

// Fault is one row of the table.
type Fault struct {
	Name  string
	Doc   string
	Needs string // what it needs before it can strike, a phrase
	Add   string // a rule that brings this about; empty if none does

	// can reports whether the fault is possible for c now, and returns the request that it would strike, if any.
	can func(w *sim.World, c *sim.Client) (*model.Request, bool)
	do  func(w *sim.World, c *sim.Client)
	// initial faults are a property of the start, not a transition.
	initial bool
	// request says that can returns a request, so that a rule may aim at its
	// operation, path or occurrence.
	request bool
	// implied faults do in one step what others do in several, and simulated code cannot tell the difference. [Contract]
	// leaves them out.
	implied bool
	// library faults are what client libraries of other languages do and go-zookeeper does not. [Contract] leaves them
	// out, and a client with a library of its own is not struck.
	library bool
	// clock faults are nothing to code that does not look at its clock. [Contract] leaves them out.
	clock bool
	ends  bool // it ends a session, and time may move on to when that is possible
	rare  bool // it is possible in one run of hundreds
	// ensemble faults happen to the ensemble, with a client or none (nil); server returns the index of the server in
	// their name.
	ensemble bool
	server   func(w *sim.World) int
	// local reports whether the fault, which must be possible, would change only the client and its connection; nil:
	// never.
	local func(c *sim.Client) bool
}

// Strikes reports whether the fault happens in a run, and is not a property of its start.
func (f *Fault) Strikes() bool { return !f.initial }

// OfServer reports whether the fault happens to a server, which is in the name of the transition, as in "depose s1".
func (f *Fault) OfServer() bool { return f.server != nil }

func always(*sim.Client) bool { return true }

// Table is every fault, in the order of the documentation.
var Table = []Fault{
	{Name: "lose-request", request: true, local: always,
		Doc:   "the connection is cut and the server never sees the oldest unserved request",
		Needs: "a request on its way",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Unserved()
			return r, r != nil
		},
		do: func(w *sim.World, c *sim.Client) { c.Drop() }},
	{Name: "lose-reply", request: true,
		local: func(c *sim.Client) bool { return c.Unanswered() != nil },
		Doc:   "the request is executed and the connection is cut before the reply",
		Needs: "a request on its way",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Unanswered()
			if r == nil {
				r = c.Unserved()
			}
			return r, r != nil && executed(w, c, r)
		},
		do: func(w *sim.World, c *sim.Client) {
			if c.Unanswered() == nil {
				c.Serve()
			}
			if c.Connected() {
				c.Cut()
			}
		}},
	{Name: "late-request", ends: true, rare: true,
		Doc:   "the session expires while a request waits for a connection; it runs in the next session",
		Needs: "three servers, and a request that waits for a connection", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, len(w.Lagging(c)) > 0 && c.Queued() && c.HasSession() && !c.Unaware()
		},
		do: func(w *sim.World, c *sim.Client) { c.Expire() }},
	{Name: "disconnect", local: always,
		Doc:   "the connection is cut; writes on their way may still be executed until the client is back",
		Needs: "a client with a connection",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Connected() },
		do:    func(w *sim.World, c *sim.Client) { c.Cut() }},
	{Name: "expire", ends: true,
		Doc:   "the session of a client that knows of its disconnection ends; the client learns it when it reconnects",
		Needs: "a client without a connection, which waits for one", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c.HasSession() && c.Alive() && !c.Unaware()
		},
		do: func(w *sim.World, c *sim.Client) { c.Expire() }},
	{Name: "learn-late", ends: true,
		Doc:   "the session ends while its client believes it is connected or is paused",
		Needs: "a client that believes it is connected, or is paused",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c.HasSession() && c.Alive() && (c.Connected() || c.Paused())
		},
		do: func(w *sim.World, c *sim.Client) { c.Expire() }},
	{Name: "expiry-lag", rare: true,
		Doc:   "a client with a new session moves to a server where its old session still lives",
		Needs: "three servers, and a client with a new session", Add: "learn-late=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			to := w.Lagging(c)
			return nil, c.Fresh() && c.Connected() && !c.Paused() && c.HasSession() && len(to) > 0 && c.Outlived(to[0])
		},
		do: func(w *sim.World, c *sim.Client) { moveTo(c, w.Lagging(c)[0]) }},
	{Name: "watch-delay", local: always,
		Doc:   "a watch event, and what follows it on the connection, arrives long after others acted on it",
		Needs: "a watch event on its way",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.EventPending() && !c.Delayed() },
		do:    func(w *sim.World, c *sim.Client) { c.Delay() }},
	{Name: "stale-read",
		Doc:   "the client's server is cut off from the leader and goes on answering reads",
		Needs: "three servers",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c.Connected() && w.Follows(c.Server())
		},
		do: func(w *sim.World, c *sim.Client) { w.Freeze(c.Server()) }},
	{Name: "failover",
		Doc:   "the client moves to the server that lags most",
		Needs: "three servers",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c.Connected() && !c.Paused() && c.HasSession() && len(w.Lagging(c)) > 0
		},
		do: func(w *sim.World, c *sim.Client) { moveTo(c, w.Lagging(c)[0]) }},
	{Name: "pause", local: always,
		Doc:   "the process stops where it calls or waits for something; for unmodified code, only its connections stall",
		Needs: "a client that has not ended",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Alive() && !c.Paused() },
		do:    func(w *sim.World, c *sim.Client) { c.Pause() }},
	{Name: "crash", local: always,
		Doc:   "the process ends; its session expires later",
		Needs: "a client that has not ended",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Alive() },
		do:    func(w *sim.World, c *sim.Client) { c.Crash() }},
	{Name: "late-commit", request: true,
		Doc:   "a write in flight is visible only after the client has reconnected elsewhere",
		Needs: "three servers, and a write on its way",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Unserved()
			return r, r != nil && r.Op.IsWrite() && r.Op != model.OpCloseSession && executed(w, c, r) && !c.Paused() &&
				c.HasSession() && len(w.Lagging(c)) > 0
		},
		do: func(w *sim.World, c *sim.Client) {
			c.Serve()
			moveTo(c, w.Lagging(c)[0])
		}},
	{Name: "zombie", ends: true,
		Doc:   "a partitioned server goes on serving a client whose session has ended",
		Needs: "three servers",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c.Connected() && w.Follows(c.Server()) && c.HasSession()
		},
		do: func(w *sim.World, c *sim.Client) {
			w.Freeze(c.Server())
			c.Expire()
		}},
	{Name: "cancel", local: always,
		Doc:   "the caller cancels the context of the current operation",
		Needs: "an operation with a context of Process.Interruptible",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Interruptible() },
		do:    func(w *sim.World, c *sim.Client) { c.Interrupt() }},
	{Name: "depose", ensemble: true,
		Doc: "the leader is cut off and goes on serving its clients, while another one is elected; a write of one of " +
			"them may survive",
		Needs: "three servers",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, w.Successor() >= 0 && (c == nil || proposes(w, c))
		},
		server: func(w *sim.World) int { return w.Leader() },
		do:     func(w *sim.World, c *sim.Client) { w.Depose(c) }},
	{Name: "elect", ensemble: true,
		Doc:   "the leader restarts and another one is elected: all connections are cut",
		Needs: "three servers",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, c == nil && w.Successor() >= 0
		},
		server: func(w *sim.World) int { return w.Successor() },
		do:     func(w *sim.World, c *sim.Client) { w.Elect() }},
	{Name: "deliver-close", request: true,
		Doc: "an answer arrives, and the connection ends together with its last bytes; the library notices only after " +
			"code has gone on",
		Needs: "an answer on its way",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Answering()
			return r, r != nil
		},
		do: func(w *sim.World, c *sim.Client) { c.DeliverClose() }},
	{Name: "deliver-slow", request: true,
		Doc:   "an answer arrives, and the code that waited for it goes on at any time after that",
		Needs: "an answer on its way to simulated code",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Answering()
			return r, r != nil && !c.Remote() && c.Awaited()
		},
		do: func(w *sim.World, c *sim.Client) { c.DeliverSlow() }},
	{Name: "overtake", rare: true,
		Doc:   "after a reconnect, a request of the client's code is sent before the library sets its watches again",
		Needs: "a client with watches that connects again and asks for something", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, !c.Remote() && c.Overtaken() },
		do:  func(w *sim.World, c *sim.Client) { c.Overtake() }},
	{Name: "broken-pipe", request: true,
		Doc:   "the connection is reset as a request is written to it, and the request fails with the write error",
		Needs: "a request on its way",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			r := c.Unwritten()
			return r, r != nil
		},
		do: func(w *sim.World, c *sim.Client) { c.BreakPipe() }},
	{Name: "handshake", local: always,
		Doc:   "a connection is made, but its handshake is slow: meanwhile the state is StateConnected",
		Needs: "a client that connects again", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, !c.Remote() && c.Redials() && !c.Shaking()
		},
		do: func(w *sim.World, c *sim.Client) { c.Handshake() }},
	{Name: "refuse", local: always,
		Doc:   "a connection is made, but ends before its handshake: the library reports again that it is disconnected",
		Needs: "a client that connects again", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, !c.Remote() && c.Redials() },
		do:  func(w *sim.World, c *sim.Client) { c.Refuse() }},
	{Name: "reset", implied: true,
		Doc:   "the connection is reset: what is on its way in both directions is lost",
		Needs: "a client with a connection",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Connected() },
		do:    func(w *sim.World, c *sim.Client) { c.ResetConnection() }},
	{Name: "lost-early", library: true,
		Doc: "the client's library decides by its own clock that the session is lost, while the servers still keep it; " +
			"they end it later",
		Needs: "a client without a connection", Add: "disconnect=1",
		can: func(w *sim.World, c *sim.Client) (*model.Request, bool) {
			return nil, !c.Remote() && !c.Connected() && c.HasSession() && c.Alive() && !c.Paused()
		},
		do: func(w *sim.World, c *sim.Client) { c.GiveUp() }},
	{Name: "skew", clock: true, local: always,
		Doc:   "the client's clock is an hour ahead of the servers', from the first time that its code looks at it",
		Needs: "code that calls Env.Now",
		can:   func(w *sim.World, c *sim.Client) (*model.Request, bool) { return nil, c.Skewable() },
		do:    func(w *sim.World, c *sim.Client) { c.Skew() }},
	{Name: "sequence", initial: true,
		Doc:   "the counter of the parent (aim: path) starts that many creates before 2^31-1",
		Needs: "so many sequential znodes below its path that their numbers end"},
}

// executed reports whether c's server will execute a request that is on its way: a deposed leader executes no write.
func executed(w *sim.World, c *sim.Client, r *model.Request) bool {
	return !r.Op.IsWrite() || c.Server() != w.Deposed()
}

// proposes reports whether the leader is about to receive a write of c.
func proposes(w *sim.World, c *sim.Client) bool {
	r := c.Unserved()
	return r != nil && r.Op.IsWrite() && c.Server() == w.Leader()
}

// Struck returns the request that the fault, which must be possible, would strike now, or nil if it strikes none.
func (f *Fault) Struck(w *sim.World, c *sim.Client) *model.Request {
	r, _ := f.can(w, c)
	return r
}

// moveTo cuts the connection and makes the next one at server k.
func moveTo(c *sim.Client, k int) {
	if c.Connected() {
		c.Drop()
	}
	c.Reconnect(k)
}

// find returns the index of a fault in Table, or -1.
func find(name string) int {
	for i := range Table {
		if Table[i].Name == name {
			return i
		}
	}
	return -1
}
