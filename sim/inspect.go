package sim

import "zksim/model"

// What an observer may look at between two steps; see World.OnStep. It must not change or keep any of it.

// Now returns the virtual time in milliseconds.
func (w *World) Now() int64 { return w.now }

// Stores returns the replicas, s1's first.
func (w *World) Stores() []*model.Server {
	list := make([]*model.Server, len(w.servers))
	for k, s := range w.servers {
		list[k] = s.store
	}
	return list
}

// Behind returns how many txns server k has not yet applied.
func (w *World) Behind(k int) int { return w.committed - w.servers[k].applied }

// Next returns the next txn that server k applies; there must be one.
func (w *World) Next(k int) *model.Txn {
	e := &w.log[w.servers[k].applied-w.trimmed]
	e.txn.Req = &e.req
	return &e.txn
}

// Owner returns the client that opened a session; nil if there is none.
func (w *World) Owner(session int64) *Client { return w.Client(w.Numbered(session)) }

// sessionBits is how many bits of a session's id tell the sessions of one client apart. The others are its number.
const sessionBits = 12

// Numbered returns the number of the client that opened a session, 1 for c1, even if the client has left.
func (w *World) Numbered(session int64) int { return int(session >> sessionBits) }

// Session returns the session that the client's library believes it has, or 0.
func (c *Client) Session() int64 { return c.session }

// Dialed reports whether the process has made this connection; see [Client.Dial].
func (c *Client) Dialed() bool { return !c.undialed }

// Crashed reports whether a fault has ended the process.
func (c *Client) Crashed() bool { return c.crashed }

// ServerConn is the server's end of the client's connection.
func (c *Client) ServerConn() *model.Conn { return &c.conn }

// Request returns what Serve, or the transition serve, would execute now: the oldest request on its way, or one that
// was sent before the connection was cut; nil if there is none.
func (c *Client) Request() *model.Request {
	if !c.connected && len(c.late) > 0 {
		return &c.late[0]
	}
	return c.Unserved()
}

// Straggling returns what the transition late would execute now, which was sent in an earlier session that goes on; nil
// if there is nothing.
func (c *Client) Straggling() *model.Request {
	if x := c.straggler(); x != nil {
		return &x.late[0]
	}
	return nil
}

// Message is something on its way to a client: the answer Res to the request Reply, the end of the connection, or else
// a watch event.
type Message struct {
	EOF   bool
	Reply *model.Request
	Res   *model.Response
	Event model.Event
}

// Messages returns what is on its way to the client, the next message first.
func (c *Client) Messages() []Message {
	list := make([]Message, len(c.down))
	for i := range c.down {
		d := &c.down[i]
		list[i] = Message{EOF: d.eof, Event: d.event}
		if d.reply != nil {
			list[i].Reply, list[i].Res = &d.reply.req, &d.reply.res
		}
	}
	return list
}

// Watches returns the watches for which the client's library has a channel without an event so far.
func (c *Client) Watches() []model.Watch {
	list := make([]model.Watch, len(c.watchers))
	for i, x := range c.watchers {
		list[i] = model.Watch{Path: x.path, Child: x.kind == childWatch}
	}
	return list
}

// Doing is what a coroutine of client code is doing.
type Doing string

// What a coroutine may be doing.
const (
	Ready    Doing = "goes on"
	Unsent   Doing = "waits for a connection"
	Sent     Doing = "waits for the server"
	Applying Doing = "waits until its server has applied the txn"
	Answered Doing = "the answer is on its way"
	Awaiting Doing = "waits for a watch or its session"
	Sleeping Doing = "sleeps"
)

// Task is a coroutine of a client's code.
type Task struct {
	Name    string // empty for the main program
	Doing   Doing
	Request *model.Request // its outstanding call, if there is one
	Paths   []string       // of the watches that it waits for
}

// Tasks returns the client's coroutines, the oldest first.
func (c *Client) Tasks() []Task {
	list := make([]Task, 0, len(c.coroutines))
	for _, g := range c.coroutines {
		x := Task{Name: c.names[g.name], Doing: Ready}
		switch g.status {
		case calling:
			x.Doing, x.Request = g.req.via.whereabouts(&g.req), &g.req.req
		case awaiting:
			x.Doing, x.Paths = Awaiting, c.waiting(g).Paths
		case sleeping:
			x.Doing = Sleeping
		}
		list = append(list, x)
	}
	return list
}

// whereabouts says how far a request has got.
func (c *Client) whereabouts(r *request) Doing {
	if !r.sent {
		return Unsent
	}
	if c.await == r {
		return Applying
	}
	for i := range c.down {
		if c.down[i].reply == r {
			return Answered
		}
	}
	return Sent
}
