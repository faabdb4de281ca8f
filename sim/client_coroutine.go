package sim

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"github.com/go-zookeeper/zk"
)

// status is what a coroutine is doing.
type status uint8

const (
	idle     status = iota // in the pool
	runnable               // may take its next step
	running
	calling  // waits for the answer to req
	awaiting // waits for one of chans, or for ctx
	sleeping // waits for a timer, or for ctx
	choosing // waits for a number; see Env.Choose
	lost     // cannot be ended, see die
)

// coroutine is one thread of client code. It runs only inside resume, and returns control by parking at a call of Conn
// or Env.
type coroutine struct {
	client *Client
	id     uint64 // of its goroutine; 0 while nobody watches
	name   int    // index into client.names
	status status
	killed bool // unwinding: the process crashed or the run is over
	begun  bool // has run at least once
	deaths int  // how often it was told to die
	slow   bool // it continues, or begins, when it likes; see World.Prompt
	woken  bool // it waited for an event, its context, a request that failed with the connection, or a slow answer
	looks  bool // it is about to see its clock, which no code of the client has seen

	req     request
	ctx     context.Context
	within  context.Context // of the request that it makes; nil: it waits as long as that takes
	left    bool            // the request was given up; see Env.Within
	chans   []<-chan zk.Event
	timer   timer
	options int // how many numbers there are to choose from
	got     int // result of awaiting: index of the channel, or -1 for ctx; of choosing: the number
	event   zk.Event
	scope   *scope // where it notes what it sees
	base    *scope // the outermost of its own scopes; nil: it has none
	title   uint64 // hash of its name

	fn    func()
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// woke sets what the coroutine finds when it continues.
func (g *coroutine) woke(got int, ev zk.Event, err error) { g.got, g.event, g.req.err = got, ev, err }

// killed unwinds a coroutine. Client code that recovers it meets it again at its next call.
type killed struct{}

// maxDeaths is how often client code may recover killed before its coroutine is given up.
const maxDeaths = 1000

// die unwinds the calling coroutine. If the code recovers and calls again forever, its coroutine is left where it is,
// and is lost.
func (g *coroutine) die() {
	if g.deaths++; g.deaths <= maxDeaths {
		panic(killed{})
	}
	g.status = lost
	for {
		g.yield(struct{}{})
	}
}

func newCoroutine() *coroutine {
	g := &coroutine{}
	g.next, g.stop = iter.Pull(func(yield func(struct{}) bool) {
		g.yield = yield
		debug.SetPanicOnFault(true) // see own
		for {
			g.run()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return g
}

// run executes one job. A panic of client code ends the world's run.
func (g *coroutine) run() {
	defer func() {
		r := recover()
		if _, ok := r.(killed); r != nil && !ok && !g.killed {
			g.client.w.panicked = fmt.Sprintf("%v\n\n%s", r, clientStack())
		}
		g.status = idle
	}()
	g.identify()
	g.fn()
}

// resume runs g until it parks or ends.
func (g *coroutine) resume() {
	w := g.client.w
	g.status, g.begun, g.slow, g.woken, g.looks = running, true, false, false, false
	w.current = g
	if w.Strict {
		w.strictly(g)
	} else {
		g.next()
	}
	w.current = nil
	g.client.markDirty()
	if g.status == idle {
		g.client.retire(g)
	}
}

// park returns control to the kernel. s says what g waits for.
func (g *coroutine) park(s status) {
	g.status = s
	g.yield(struct{}{})
	if g.killed {
		g.die()
	}
}

// kill unwinds g.
func (g *coroutine) kill() {
	c := g.client
	g.killed = true
	if c.w.choosing == g {
		c.w.choosing = nil
	}
	c.w.removeTimer(&g.timer)
	if g.begun {
		g.resume()
	}
	if g.client == c { // not begun, or lost
		c.retire(g)
	}
}

// spawn starts f as a coroutine of client c.
func (w *World) spawn(c *Client, name string, f func()) {
	var g *coroutine
	if n := len(w.pool); n > 0 {
		g, w.pool = w.pool[n-1], w.pool[:n-1]
	} else {
		g = newCoroutine()
		w.made++
	}
	g.client, g.fn, g.killed, g.begun, g.deaths, g.status = c, f, false, false, 0, runnable
	g.slow, g.woken, g.looks = false, false, false
	g.woke(-1, zk.Event{}, nil)
	g.name = c.uniqueName(name)
	g.title = hashOf(c.names[g.name])
	g.begin(w.current)
	c.coroutines = append(c.coroutines, g)
}

// uniqueName returns the index of a name that no living coroutine of c has.
func (c *Client) uniqueName(name string) int {
	name = strings.Map(oneWord, name)
	for k := 1; ; k++ {
		full := name
		if k > 1 {
			full = fmt.Sprintf("%s.%d", name, k)
		}
		i := 0
		for i < len(c.names) && c.names[i] != full {
			i++
		}
		if i == len(c.names) {
			c.names = append(c.names, full)
			c.roster = c.roster.String(full)
		}
		if c.byName(i) == nil {
			return i
		}
	}
}

// oneWord replaces characters that a schedule cannot hold.
func oneWord(r rune) rune {
	if unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != '#' {
		return r
	}
	return '_'
}

func (c *Client) byName(name int) *coroutine {
	for _, g := range c.coroutines {
		if g.name == name {
			return g
		}
	}
	return nil
}

// retire returns an ended coroutine to the pool, unless it is lost.
func (c *Client) retire(g *coroutine) {
	for i, x := range c.coroutines {
		if x == g {
			c.coroutines = append(c.coroutines[:i], c.coroutines[i+1:]...)
			break
		}
	}
	g.end()
	if len(c.coroutines) == 0 {
		c.forgetAll()
	}
	g.fn, g.ctx, g.within, g.left, g.chans, g.client = nil, nil, nil, false, g.chans[:0], nil
	if g.status != lost {
		c.w.pool = append(c.w.pool, g)
	}
}

// poll wakes the coroutines of c for which something has arrived.
func (c *Client) poll() {
	c.dirty = false
	c.invalidate()
	for _, g := range c.coroutines {
		switch g.status {
		case calling:
			if g.overdue() {
				c.leaveRequest(g, g.within.Err())
				g.left = true
			}
		case awaiting:
			if !g.hears(c.w.backward()) && g.ctx.Err() != nil {
				g.status, g.woken = runnable, true
			}
		case sleeping:
			if g.ctx.Err() != nil {
				c.w.removeTimer(&g.timer)
				g.status = runnable
			}
		}
	}
}

// wake wakes the coroutines of c that wait for a channel that has just got its event.
func (c *Client) wake(ch <-chan zk.Event) {
	for _, g := range c.coroutines {
		if g.status == awaiting && slices.Contains(g.chans, ch) {
			g.hears(false)
		}
	}
}

// hears makes g continue with the event of the first, or last, of its channels that has one. A select with one case and
// a default is Go's only non-blocking receive; the channel determines its outcome.
func (g *coroutine) hears(last bool) bool {
	for k := range g.chans {
		i := k
		if last {
			i = len(g.chans) - 1 - k
		}
		select {
		case ev := <-g.chans[i]:
			g.woke(i, ev, nil)
			g.status, g.woken = runnable, true
			return true
		default:
		}
	}
	return false
}
