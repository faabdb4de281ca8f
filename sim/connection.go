package sim

import (
	"slices"

	"zksim/model"
)

// connection is a client's connection and its session: what is on its way in both directions, and the server's end.
type connection struct {
	connected bool
	server    int // index of the server that it is, or was last, connected to; -1 before
	session   int64
	sessions  int64 // how many this client has had
	orphans   []orphan
	lastZxid  int64 // zxid of the last reply header
	lastTxn   int   // the place in the log that this stands for
	silent    int64 // virtual time of the last cut
	served    bool  // a server has taken a request of the client

	wire    []*request // sent, not yet taken by the server
	await   *request   // taken; the server has not yet applied the log up to awaitTo
	awaitTo int
	late    []model.Request // sent in the present session before a cut; may still be executed
	owed    []owing         // what servers owe the session: writes that went through them before a cut
	down    []message       // on the way to the client
	slow    bool            // ... and held back
	hungup  bool            // the server has closed the connection
	bound   int             // server that a remote client must connect to next; -1: any
	asks    int             // server that a remote client wants to connect to; -1: none
	timeout int32           // of the session of a remote client
	conn    model.Conn      // the server's end
}

// orphan is a session that goes on although the client was told that it had expired, or was given another one. What was
// sent in it may still be executed: a server does not know what the client was told elsewhere.
type orphan struct {
	id   int64
	from int64 // virtual time from which it can end; 0: others decide that
	late []model.Request
	auth []model.ID // of the connection on which late was sent
}

// owing says up to what place server at must apply the log before it takes the session's next request, because a write
// of the session went through that server.
type owing struct{ at, to int }

// owe adds an owing for server k.
func (c *Client) owe(k, to int) {
	c.owed = slices.DeleteFunc(c.owed, func(x owing) bool { return x.at == k || c.w.servers[x.at].applied >= x.to })
	c.owed = append(c.owed, owing{k, to})
}

// owedBy returns up to what place server k must apply the log; 0: it owes the session nothing.
func (c *Client) owedBy(k int) int {
	for _, x := range c.owed {
		if x.at == k {
			return x.to
		}
	}
	return 0
}

// message is something on its way from server to client.
type message struct {
	reply *request // nil for an event or the end of the connection
	event model.Event
	eof   bool
	at    int // of a reply: how much of the log its server had applied
}

// isEvent reports whether a message is a watch event.
func (m *message) isEvent() bool { return m.reply == nil && !m.eof }

var loopback = []model.ID{{Scheme: "ip", ID: "127.0.0.1"}}

// push puts a message on its way to c.
func (c *Client) push(m message) {
	c.down = append(c.down, m)
	c.invalidate()
}

// cut ends the connection. What was sent and not yet taken by the server may still be executed (late), unless drop says
// that it is lost.
func (c *Client) cut(drop bool) {
	c.late, c.silent = c.late[:0], c.w.now
	if c.await != nil && c.await.req.Op.IsWrite() {
		c.owe(c.server, c.awaitTo)
	}
	if !drop && c.left == 0 && !c.hungup && !c.w.servers[c.server].deposed {
		for _, r := range c.wire {
			if r.req.Op.IsWrite() || r.req.Op == model.OpAuth {
				c.late = append(c.late, r.req)
			}
		}
	}
	if c.far != nil {
		c.unanswered()
	}
	c.wire, c.down, c.await = c.wire[:0], c.down[:0], nil
	c.connected = false
	c.w.servers[c.server].store.Disconnect(&c.conn)
	if c.far != nil {
		c.parted()
	} else {
		c.disconnected()
	}
}

// manyDown is how many messages on the way are too many to move up each time that the first one arrives: SetWatches can
// cause an event for each of 100,000 paths.
const manyDown = 64

// deliver gives the far end its next message. Code that waited for it continues.
func (c *Client) deliver() {
	if g := c.receive(); g != nil {
		g.resume()
	}
}

// receive gives the far end its next message, and returns the coroutine that can continue with it; nil if none can.
func (c *Client) receive() *coroutine {
	m := c.down[0]
	if len(c.down) > manyDown {
		c.down[0] = message{}
		c.down = c.down[1:]
	} else {
		c.down = slices.Delete(c.down, 0, 1)
	}
	switch {
	case m.eof:
		c.host.lingered = 0
		c.cut(true)
	case c.far != nil:
		c.forward(m)
	case m.reply == nil:
		c.notify(m.event)
	default:
		return c.answer(m.reply, m.at)
	}
	return nil
}
