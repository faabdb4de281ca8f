package sim

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"zksim/internal/stacks"
)

// Misuse is the error of client code that leaves the simulator: it waits, starts goroutines or tells time other than by
// its Conn and Env. Such a run says nothing about the code.
type Misuse struct {
	Client  int    // 1 for c1
	Message string // one sentence that begins with the client
	Stack   string // the calls of client code, the innermost first, one a line
}

// Error returns the message and the stack.
func (m *Misuse) Error() string {
	if m.Stack == "" {
		return m.Message
	}
	return m.Message + "\n    " + strings.ReplaceAll(m.Stack, "\n", "\n    ")
}

// Watch is told in which goroutines a world runs client code.
type Watch interface {
	// Runs says that a goroutine runs code of a client from now on. That goroutine calls it.
	Runs(goroutine uint64, client int)
	// Resume and Park are called with World.Strict. Resume says that a turn of client code begins, Park that it has ended.
	// The turns of a run are the same each time. made is how many goroutines the world itself has made so far.
	Resume(made int)
	Park(client int, goroutine uint64, made int)
}

// Misuse returns the first misuse of the present run, or of the last one; nil if there is none. Goroutines that outlive
// a run may report one later.
func (w *World) Misuse() *Misuse {
	if w.misuse == nil && len(w.strays) > 0 {
		w.misuse = <-w.strays
	}
	return w.misuse
}

// strictly gives g its turn while the world's Watch is told.
func (w *World) strictly(g *coroutine) {
	w.Watch.Resume(w.made)
	g.next()
	w.Watch.Park(g.client.id, g.id, w.made)
}

// identify tells the watch, from within g, which goroutine g is.
func (g *coroutine) identify() {
	w := g.client.w
	if w.Watch == nil {
		return
	}
	if g.id == 0 {
		g.id = stacks.ID()
	}
	w.Watch.Runs(g.id, g.client.id)
}

// own ends the calling goroutine, and the run with a [Misuse], unless it is a coroutine. There is no cheap way to ask a
// goroutine for its identity, but each one has its own bit: whether it panics on a fault. Go clears it in new
// goroutines; coroutines set it.
func (c *Client) own() {
	if !debug.SetPanicOnFault(true) {
		c.stray()
	}
}

// stray reports the calling goroutine, which the world does not know, and ends it.
func (c *Client) stray() {
	debug.SetPanicOnFault(false)
	g := stacks.Current()
	frames, call := stacks.Client(g.Frames())
	if id, by := g.Parent(); id != 0 {
		frames = append(frames, stacks.Started(by))
	}
	if call == "" {
		call = "its Process"
	}
	m := &Misuse{c.host.id, fmt.Sprintf("%s calls %s from a goroutine that was not started by Env.Go", c.Name(), call),
		stacks.Text(frames)}
	select {
	case c.w.strays <- m:
	default:
	}
	runtime.Goexit()
}

// Own ends the calling goroutine, and the run with a [Misuse], unless the simulator has started it. Like Conn and Env
// it goes no further in deferred calls of a process that has ended. For functions that programs call besides these.
func (c *Client) Own() {
	c.own()
	if g := c.w.current; g != nil && g.killed {
		g.die()
	}
}

// clientStack returns the calls of client code in the calling coroutine.
func clientStack() string {
	g := stacks.Current()
	frames, _ := stacks.Client(g.Frames())
	return stacks.Text(frames)
}

// accept returns the deadline of ctx, nil if it has none, and ends the run if it is not one of [Env.WithTimeout]. It
// asks ctx in a way that does not count as code asking for the time.
func (g *coroutine) accept(ctx context.Context) *deadline {
	w := g.client.w
	w.looking = true
	at, limited := ctx.Deadline()
	w.looking = false
	if !limited { // a context of context.WithoutCancel still has the values of its parent
		return nil
	}
	if d, ok := ctx.Value(deadlineKey{}).(*deadline); ok && d.at.Equal(at) {
		return d
	}
	here := stacks.Current()
	frames, call := stacks.Client(here.Frames())
	w.misuse = &Misuse{g.client.id,
		fmt.Sprintf("%s calls %s with a context whose deadline is of real time; use Env.WithTimeout",
			g.client.Name(), call), stacks.Text(frames)}
	g.park(runnable)
	return nil
}
