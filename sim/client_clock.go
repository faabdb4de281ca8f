package sim

import (
	"slices"
	"time"
)

// Ahead is how far the clock of a client is ahead of the servers' after [Client.Skew].
const Ahead = time.Hour

// Now returns what the client's clock shows: the virtual time, unless the clock is ahead.
func (e Env) Now() time.Time {
	e.c.here().looks = !e.c.host.timed
	e.c.linger()
	return e.c.tellTime(e.c.w.clock())
}

// Clock returns the virtual time, for judges. For the client's program.
func (e Env) Clock() time.Time {
	e.c.linger()
	return e.c.learnTime(e.c.w.clock())
}

// clock returns the virtual time.
func (w *World) clock() time.Time { return Epoch.Add(time.Duration(w.now) * time.Millisecond) }

// tellTime returns what the client's clock shows at a virtual time. Its code learns that.
func (c *Client) tellTime(t time.Time) time.Time {
	if c.Skewed() {
		t = t.Add(Ahead)
	}
	c.host.timed = true
	return c.learnTime(t)
}

// learnTime returns t, which the client's code learns.
func (c *Client) learnTime(t time.Time) time.Time {
	if g := c.w.current; g != nil {
		g.learn(uint64(t.Sub(Epoch)))
	}
	return t
}

// Skewable reports whether code of the client has called [Env.Now], for the first time, and does not have its answer.
func (c *Client) Skewable() bool {
	return !c.timed && !c.skewed && !c.paused && !c.crashed &&
		slices.ContainsFunc(c.coroutines, func(g *coroutine) bool { return g.looks })
}

// Skew puts the clock of a client that is [Client.Skewable] ahead, so that its code never sees the clock go wrong.
func (c *Client) Skew() { c.skewed = true }

// Skewed reports whether the clock of the client's process is ahead.
func (c *Client) Skewed() bool { return c.host.skewed }

// ToldTime reports whether code of any client has seen its clock.
func (w *World) ToldTime() bool {
	return slices.ContainsFunc(w.clients, func(c *Client) bool { return c.timed })
}
