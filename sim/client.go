package sim

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Client is one process with its client library and its connection. Another connection of the same process, see
// [Client.Dial], is a Client with its own library and without code.
type Client struct {
	w    *World
	id   int
	host *Client // whose code it runs: c itself, unless c is another connection
	connection
	library
	process
	far   Far // of a remote client, which has neither code nor library here
	left  int // for a connection that a remote client's session has left, which one, from 1; 0: not one of these
	lefts int // how many such connections the client has left

	dirty       bool // something may have become runnable
	stale       bool // moves may be out of date
	invalidated bool // listed in World.invalidated
	moves       []Transition
}

// process is the client's code and its coroutines.
type process struct {
	start      func() // runs the program
	coroutines []*coroutine
	names      []string
	roster     hash.Hash // of names, in order
	uuids      uint64
	observed   hash.Hash // of all that the client's code has seen
	root       scope
	// how often code has let others move since its last message, so that no code does that forever without a trace
	lingered uint64
	scopes   []*scope  // open ones
	forgets  bool      // Forget was called
	judged   hash.Hash // of what it leaves to the judges besides events, even if forgotten

	paused, crashed bool
	skewed          bool            // see Client.Skew
	timed           bool            // its code has seen what its clock shows
	interrupt       func()          // cancels the current operation's context,
	interruptible   context.Context // which is this one
	offered         *scope          // of the code that has that context
}

// reset makes c a process that has just started.
func (c *Client) reset() {
	*c = Client{w: c.w, id: c.id, host: c.host, moves: c.moves[:0],
		connection: connection{server: -1, bound: -1, asks: -1, wire: c.wire[:0], down: c.down[:0], late: c.late[:0],
			conn: c.conn, orphans: c.orphans[:0], owed: c.owed[:0]},
		library: library{tried: -1, state: zk.StateConnecting, unsent: c.unsent[:0], watchers: c.watchers[:0],
			sessionChans: c.sessionChans[:0], fired: c.fired[:0], rearmed: c.rearmed},
		process: process{start: c.start, scopes: c.scopes[:0], coroutines: c.coroutines[:0], names: c.names[:0]}}
	c.conn.Reset()
	c.conn.Session, c.conn.Auth, c.conn.Index = 0, loopback, c.id
}

// Name returns "c1" for the first client, and "c1.2" for its second connection.
func (c *Client) Name() string { return string(c.appendName(nil)) }

func (c *Client) appendName(buf []byte) []byte {
	buf = strconv.AppendInt(append(buf, 'c'), int64(c.host.id), 10)
	if n := c.Line(); n > 0 {
		buf = strconv.AppendInt(append(buf, '.'), int64(n+1), 10)
	}
	return buf
}

// Line returns which connection of its process c is, 0 for the first.
func (c *Client) Line() int {
	if c == c.host || c.left > 0 {
		return c.left
	}
	return (c.id - c.host.id) / c.w.Config.Clients
}

// number returns the client's number in histories.
func (c *Client) number() int32 { return int32(c.host.id) }

// connections returns all connections of c's process.
func (c *Client) connections() (list []*Client) {
	for _, x := range c.w.clients {
		if x.host == c.host {
			list = append(list, x)
		}
	}
	return list
}

// Dial gives the client's code another connection, with its own library and session. If the code dials more than
// Config.Dials times the run ends with a [Misuse]. For the client's program.
func (c *Client) Dial() *Client {
	c.yield()
	for _, x := range c.connections() {
		if x.undialed {
			x.closed, x.undialed = false, false
			x.invalidate()
			return x
		}
	}
	c.w.misuse = &Misuse{c.host.id, fmt.Sprintf("%s dials more often than the %s of its scenario", c.host.Name(),
		history.Counted(c.w.Dials, "time")), clientStack()}
	c.here().park(runnable)
	return nil
}
