package nemesis

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"zksim/internal/wire"
	"zksim/model"
)

// client is a client whose connections we make. The mutex of its Nemesis guards it.
type client struct {
	n        *Nemesis
	id       int
	conn     *wire.Gated // the newest; nil before the first
	server   int         // the server of conn
	link     *link
	session  int64
	password []byte
	granted  time.Duration        // the timeout of its session
	welcomed int                  // handshakes that were answered with a session
	seen     []int                // requests that fit each rule
	written  []int                // how many of these are writes
	next     int                  // the server of the next connection; -1: any
	delay    func() time.Duration // called when the next event comes: how long it is held back; nil: none
	gate     chan struct{}        // dials wait for it; nil: none does
	refused  bool                 // dials fail
	paused   chan struct{}        // the code waits for it
}

// link is what is known about the requests of one connection.
type link struct {
	sent, answered int
	lose, last     int  // the answer to this one is lost, or the last one; 0: none
	final          int  // the answer to this one is the last one of the session
	ended          bool // the client has closed its session
}

// errRefused is the error of dialing while nobody may reach a server.
var errRefused = errors.New("nemesis: connection refused")

// open lets dials through.
func (c *client) open() {
	c.refused = false
	if c.gate != nil {
		close(c.gate)
		c.gate = nil
	}
}

// shut makes dials wait, or fail.
func (c *client) shut(refuse bool) {
	c.refused = refuse
	if c.gate == nil && !refuse {
		c.gate = make(chan struct{})
	}
}

// resume lets the code go on.
func (c *client) resume() {
	if c.paused != nil {
		close(c.paused)
		c.paused = nil
	}
}

// stall makes later requests wait for another connection. Dials wait, and the code waits until the client knows that
// this connection is closed.
func (c *client) stall() {
	c.shut(false)
	if c.paused != nil {
		return
	}
	c.paused = make(chan struct{})
	c.n.start(false, func() {
		c.n.sleep(stallDelay)
		c.n.mu.Lock()
		defer c.n.mu.Unlock()
		c.resume()
	})
}

// stallDelay is how long a client may take to notice that its connection is closed.
const stallDelay = 50 * time.Millisecond

// connected reports whether there is an open connection.
func (c *client) connected() bool {
	if c.conn == nil {
		return false
	}
	select {
	case <-c.conn.Closed():
		return false
	default:
		return true
	}
}

// cut closes the connection.
func (c *client) cut() {
	if c.conn != nil {
		c.conn.Close()
	}
}

// Dial is the dialer of a client. A tap listens to each connection.
func (n *Nemesis) Dial(ctx context.Context, id int, network, address string, tap *wire.Tap) (net.Conn, error) {
	c := n.clients[id-1]
	to, err := c.await(ctx, address)
	if err != nil {
		return nil, err
	}
	raw, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, network, n.o.Addrs[to])
	if err != nil {
		return nil, err
	}
	l := &link{}
	g := &wire.Gate{Tap: tap,
		Sent:     func(p *wire.Packet) wire.Fate { return c.sends(l, p) },
		Received: func(p *wire.Packet) wire.Fate { return c.receives(l, p) }}
	n.mu.Lock()
	defer n.mu.Unlock()
	c.conn, c.server, c.link = g.Conn(raw), to, l
	return c.conn, nil
}

// dialLimit bounds how long a server may take to accept a connection.
const dialLimit = time.Second

// await waits until the client may have a connection, and returns the server to connect to.
func (c *client) await(ctx context.Context, address string) (int, error) {
	n := c.n
	for {
		n.mu.Lock()
		gate, refused, to := c.gate, c.refused, c.next
		if gate == nil && !refused {
			if c.next = -1; to < 0 {
				to = n.reachable(slices.Index(n.o.Addrs, address))
			}
		}
		n.mu.Unlock()
		switch {
		case refused || gate == nil && to < 0:
			return 0, errRefused
		case gate == nil:
			return to, nil
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// reachable returns the server, or another one if nobody may dial it; -1: none.
func (n *Nemesis) reachable(i int) int {
	for range n.o.Addrs {
		if i >= 0 && !n.down[i] {
			return i
		}
		i = (i + 1) % len(n.o.Addrs)
	}
	return -1
}

// sends decides the fate of a packet of the client.
func (c *client) sends(l *link, p *wire.Packet) wire.Fate {
	if p.Kind != wire.Operation {
		return wire.Pass
	}
	n := c.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.Request.Op == model.OpCloseSession {
		l.ended = true
		return wire.Pass
	}
	l.sent++
	if c.link != l {
		return wire.Pass
	}
	return n.request(c, p)
}

// receives decides the fate of a packet of a server, and may hold it back.
func (c *client) receives(l *link, p *wire.Packet) wire.Fate {
	n := c.n
	n.mu.Lock()
	var delay time.Duration
	fate := wire.Pass
	switch p.Kind {
	case wire.Handshake:
		if p.Session != 0 {
			c.session, c.password, c.granted = p.Session, slices.Clone(p.Password), p.Timeout
			c.welcomed++
		}
	case wire.Event:
		if c.delay != nil {
			delay, c.delay = c.delay(), nil
		}
	case wire.Operation:
		l.answered++
		if l.lose == l.answered || n.deposed != nil && n.deposed.takes(c, l, p) {
			fate = wire.Lose
		} else if l.last == l.answered || l.final == l.answered {
			fate = wire.Last
			c.stall()
		}
	}
	if delay > 0 {
		n.busy++
	}
	n.mu.Unlock()
	if delay > 0 {
		n.sleep(delay)
		n.mu.Lock()
		n.ends()
		n.mu.Unlock()
	}
	return fate
}
