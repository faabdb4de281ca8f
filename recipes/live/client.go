// Package live runs recipes on a real ZooKeeper: [Client] is a recipes.Conn made from go-zookeeper's connection, and
// [Client.Env] a recipes.Env made from the machine's clock, goroutines and randomness.
//
// It is the only package that opens go-zookeeper connections to real servers; package zktest opens them to simulated
// ones. It adds no retries. It hides one pitfall of that client, which does not start if the name of a single server is
// unknown, and it passes on what the client says about its session. All it knows of servers is their addresses.
package live

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Client is a connection to ZooKeeper together with the Env for the recipes
// that use it. All methods may be called concurrently.
//
// The embedded connection is for code that wants a *zk.Conn. Close the Client, not the connection: closing only the
// connection works, but is slower to tell recipes that wait for session events.
type Client struct {
	*zk.Conn
	link    *link
	feed    feed
	running running
	left    left
	ended   chan struct{} // closed when go-zookeeper's goroutines have ended
}

var _ recipes.Conn = (*Client)(nil)

// Options are the settings of a Client. The zero value is useful.
type Options struct {
	// SessionTimeout is what the client asks for; the server may grant another
	// value. 0 means DefaultSessionTimeout. Anything else is from 1 ms, because go-zookeeper can never connect with less,
	// to 2^31-1 ms, which is all that the protocol can say.
	SessionTimeout time.Duration

	// Logger gets what go-zookeeper logs; nil means silence.
	Logger zk.Logger

	// OnWatch, if not nil, is called once for every event about a znode that the server sends, however many watch
	// channels it goes to, and before it goes to them. Events that the client makes up (zk.EventNotWatching) do not
	// count. Calls do not overlap. OnWatch must neither block nor use the Client: until it returns, the client receives
	// nothing.
	OnWatch func(zk.Event)

	// OnSession, if not nil, is called for every event that Env.SessionEvents reports, up to Close, under the same rules
	// as OnWatch.
	OnSession func(zk.Event)

	// Dial, if not nil, makes the TCP connections in place of a net.Dialer, for a caller that wants to delay, redirect,
	// observe or cut them. ctx ends when the Client is closed; Dial must return then.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// DefaultSessionTimeout is the timeout that a client asks for by default.
const DefaultSessionTimeout = 10 * time.Second

// closeGrace bounds how long Close waits for goroutines that have nothing left to wait for.
const closeGrace = time.Second

// Dial connects to one of the servers ("host:port", or "host" for port 2181) and waits for a session. It gives up
// only when ctx is done, because servers may still be starting, and their names may be unknown until then. It then
// leaves nothing behind and returns an error that wraps ctx.Err() and says which servers were tried and what the last
// obstacle was. ctx plays no role after Dial has returned. An invalid address or session timeout, or no server at all,
// is an error at once.
//
// With a single server, go-zookeeper waits 1 s before every reconnect; with several, it tries the next one at once.
func Dial(ctx context.Context, servers []string, o Options) (*Client, error) {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = DefaultSessionTimeout
	}
	if o.SessionTimeout < time.Millisecond || o.SessionTimeout.Milliseconds() > math.MaxInt32 {
		return nil, fmt.Errorf("live: session timeout %v: want 1 ms to %d ms", o.SessionTimeout, math.MaxInt32)
	}
	c := &Client{link: newLink(o.Dial), ended: make(chan struct{})}
	ready := make(chan struct{})
	conn, events, err := zk.Connect(servers, o.SessionTimeout,
		zk.WithHostProvider(&hosts{ctx: ctx}),
		zk.WithDialer(c.link.dial),
		zk.WithLogger(loggerOrSilence(o.Logger)),
		zk.WithEventCallback(c.callback(sync.OnceFunc(func() { close(ready) }), o)))
	if err != nil {
		return nil, fmt.Errorf("live: connect to %s: %w", strings.Join(servers, ","), err)
	}
	c.Conn = conn
	go c.awaitEnd(events)

	select {
	case <-ready:
		return c, nil
	case <-ctx.Done():
		obstacle := c.link.obstacle()
		c.Close()
		return nil, fmt.Errorf("live: no session with %s (%s): %w", strings.Join(servers, ","), obstacle, ctx.Err())
	}
}

// callback returns the function through which go-zookeeper reports events. The channel that zk.Connect returns is not
// enough: it has room for 6 events and silently drops the others. The function calls ready whenever there is a
// session.
//
// go-zookeeper may call it before zk.Connect has returned.
func (c *Client) callback(ready func(), o Options) zk.EventCallback {
	return func(ev zk.Event) {
		switch ev.Type {
		case zk.EventSession:
			news := c.feed.publish(ev)
			if ev.State == zk.StateHasSession {
				ready() // after publish: a channel requested from now on gets the next change
			}
			if news && o.OnSession != nil {
				o.OnSession(ev)
			}
		case zk.EventNodeCreated, zk.EventNodeDeleted, zk.EventNodeDataChanged, zk.EventNodeChildrenChanged:
			if o.OnWatch != nil {
				o.OnWatch(ev)
			}
		}
	}
}

// awaitEnd waits for go-zookeeper to close its event channel, the last thing
// that its goroutines do.
func (c *Client) awaitEnd(events <-chan zk.Event) {
	for range events {
	}
	close(c.ended)
	c.feed.close() // in case only the embedded connection was closed
}

// Close ends the session and the connection. When it returns, ephemeral nodes of the session are gone (if the client
// was connected; otherwise they stay until the session expires), every watch channel has got its last event and is
// closed, every channel of Env.SessionEvents has an event with zk.ErrClosing or an earlier one, and new operations
// return zk.ErrConnectionClosed (operations under way return that or zk.ErrClosing). It takes at most about 2 s,
// usually a few milliseconds. Calling it again is harmless.
//
// Goroutines started with Env.Go are not waited for; see [Client.Wait].
func (c *Client) Close() {
	// Now, not at the end: go-zookeeper refuses operations from here on, but still says that there is a session. Code
	// that waits for a session and then tries again would spin.
	c.feed.close()
	if c.Conn.State() != zk.StateHasSession {
		// There is no server to tell. Without this, a handshake with a server that does not answer goes on for 6.7 session
		// timeouts.
		c.link.cut()
	}
	said := make(chan struct{})
	go func() {
		c.Conn.Close() // waits up to 1 s for a reply, in some races in vain
		close(said)
	}()
	select {
	case <-said:
	case <-c.ended:
	}
	c.link.cut()
	select {
	case <-c.ended:
	case <-time.After(closeGrace): // OnWatch blocks, or has called Close
	}
}

// State returns the state of the session. Once Close is called there is no session.
func (c *Client) State() zk.State {
	if c.feed.over() {
		return zk.StateDisconnected
	}
	return c.Conn.State()
}

// Env returns the Env for the recipes that use this Client, always the same one. Its SessionEvents are about the
// session of this Client. A channel of SessionEvents that is dropped unused takes up about 200 bytes until the next
// change of state. Where that could add up, keep one until it fires.
func (c *Client) Env() recipes.Env {
	return env{c}
}

// Wait returns nil as soon as no function started with Env.Go is running. When ctx is done first, it returns an error
// that wraps ctx.Err() and names the functions that still are.
func (c *Client) Wait(ctx context.Context) error {
	return c.running.wait(ctx)
}

type silence struct{}

func (silence) Printf(string, ...any) {}

func loggerOrSilence(l zk.Logger) zk.Logger {
	if l == nil {
		return silence{}
	}
	return l
}
