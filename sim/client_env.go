package sim

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// Env is a client's view of time, concurrency and names. Only the client's own code may call its methods. It implements
// recipes.Env.
type Env struct{ c *Client }

// Epoch is virtual time zero.
var Epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// here returns the calling coroutine.
func (c *Client) here() *coroutine {
	c.own()
	g := c.w.current
	if g == nil || g.client != c.host {
		panic("sim: " + c.Name() + " was used from outside its own code")
	}
	if g.killed {
		g.die()
	}
	return g
}

// Task returns the name of the running goroutine of the client's code, "" for the main one. For the client's program.
func (c *Client) Task() string { return c.host.names[c.here().name] }

// Alive reports whether the connection is not closed and the process has not crashed.
func (e Env) Alive() bool { return e.c.Alive() }

// yield lets all others move.
func (c *Client) yield() {
	g := c.here()
	g.woke(-1, zk.Event{}, nil)
	g.park(runnable)
}

// linger is yield for code that wants it to make a difference.
func (c *Client) linger() {
	g := c.here()
	c.host.lingered++
	g.woke(-1, zk.Event{}, nil)
	g.slow = true
	g.park(runnable)
}

// Sleep waits for a tick of virtual time, or lets all others move if it takes no time.
func (e Env) Sleep(ctx context.Context, d time.Duration) error {
	g := e.c.here()
	g.accept(ctx)
	if err := ctx.Err(); err != nil {
		e.c.yield()
		return err
	}
	if d <= 0 { // nothing needs to come to rest before it ends
		e.c.linger()
		return nil
	}
	g.woke(-1, zk.Event{}, nil)
	g.ctx = ctx
	g.timer.g = g
	e.c.w.addTimer(&g.timer, d)
	g.park(sleeping)
	return ctx.Err()
}

// Await waits for the first of chans, or for ctx.
func (e Env) Await(ctx context.Context, chans ...<-chan zk.Event) (int, zk.Event, error) {
	g := e.c.here()
	g.accept(ctx)
	g.woke(-1, zk.Event{}, nil)
	g.ctx, g.chans = ctx, append(g.chans[:0], chans...)
	if g.hears(false) {
		g.park(runnable)
	} else {
		g.park(awaiting)
	}
	g.chans = g.chans[:0]
	if g.got < 0 {
		return -1, zk.Event{}, ctx.Err()
	}
	return g.got, g.event, nil
}

// WithTimeout returns a context that a tick ends. For contexts that package context derives from it, the tick is a
// cancellation, whose cause is context.DeadlineExceeded.
func (e Env) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	g, w := e.c.here(), e.c.w
	parent := g.accept(ctx)
	inner, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	x := &deadline{Context: inner, end: end, parent: parent, client: e.c.host, scope: g.knows()}
	x.at = w.clock().Add(d) // the sum may be too long for a Duration
	if x.parent != nil && x.parent.at.Before(x.at) {
		x.at = x.parent.at
	} else if d <= 0 { // it has ended already, and no timer shows its deadline
		x.client.ends(x)
		x.expire()
		return x, cancel
	}
	x.timer.ctx = x
	w.addTimer(&x.timer, d)
	return x, func() {
		if x.timer.armed {
			x.client.ends(x)
			w.removeTimer(&x.timer)
		}
		cancel()
	}
}

// Yield lets all others move.
func (e Env) Yield() { e.c.linger() }

// Go starts f as a coroutine of the same client.
func (e Env) Go(name string, f func()) {
	if f == nil {
		panic("go of nil func value") // as a go statement does, where it stands
	}
	e.c.w.spawn(e.c.here().client, name, f)
}

// Undo starts f as a coroutine of the same client. It need not wait for the requests that Within has given up: the
// requests of f are behind them in the library's queue.
func (e Env) Undo(name string, f func()) { e.Go(name, f) }

// UUID returns a name derived from the world's order, the client and a counter. They are mixed so that the order of
// names does not follow the order of creation.
func (e Env) UUID() string {
	e.c.own()
	c := e.c.host
	c.uuids++
	if e.c.w.current != nil {
		e.c.here().draw(c.uuids)
	}
	x := hash.Mix(c.w.Order ^ uint64(c.id)<<32 ^ c.uuids)
	var b [32]byte
	for i := range b {
		if i == 16 {
			x = hash.Mix(x + 0x9e3779b97f4a7c15)
		}
		b[i] = "0123456789abcdef"[x>>(4*(i%16))&15]
	}
	return string(b[:])
}

// SessionEvents returns a channel for the next change of the session's state. Others move first, so that code that
// looks at the state before it asks for changes can miss one, as on a real connection.
func (e Env) SessionEvents() <-chan zk.Event {
	e.c.look()
	g := e.c.here()
	ch := make(chan zk.Event, 1)
	g.learn(bit(e.c.closed))
	if e.c.closed {
		ch <- zk.Event{Type: zk.EventSession, State: zk.StateDisconnected, Err: zk.ErrClosing}
		close(ch)
		return ch
	}
	e.c.sessionChans = append(e.c.sessionChans, sessionChan{ch, g.knows()})
	return ch
}
