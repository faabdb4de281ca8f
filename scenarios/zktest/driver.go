package zktest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"zksim/internal/turns"
)

// driver is a [Cluster] as the world sees it, as code outside of the simulator.
type driver struct{ *Cluster }

// Rest implements [sim.Outside].
func (c driver) Rest() {
	for {
		c.settle()
		if any, _ := c.collect(); !any {
			break
		}
	}
	c.look()
	c.tell()
	c.rests()
	if time.Now().Before(c.reapDue()) {
		c.kept = time.Now()
	}
	for k := range c.level {
		if !c.behind(k) {
			c.level[k] = time.Now()
		}
	}
	if c.calm.IsZero() && c.world.Calm() {
		c.calm = time.Now()
	}
}

// rests records for which clients nothing is on its way.
func (c *Cluster) rests() {
	now := time.Now()
	if c.nothingOnItsWay() {
		c.settled = now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		p.rests(now)
	}
}

// advance tells the world what time it is.
func (c *Cluster) advance() { c.world.Advance(time.Since(c.begin).Milliseconds()) }

// look checks the promised conditions in a turn of its own. No client is served meanwhile, and time does not pass, so a
// condition that has not returned when everything is at rest will never return.
func (c *Cluster) look() {
	c.mu.Lock()
	promises := c.promises
	c.mu.Unlock()
	if len(promises) == 0 || c.broken != "" {
		return
	}
	var asked atomic.Int64 // index of the current one
	var over atomic.Bool
	go func() {
		returned := false
		defer func() {
			switch r := recover(); {
			case r != nil:
				c.panicked(r)
			case !returned:
				c.fail(fmt.Sprintf("%q is asked by a function that ends its goroutine, as t.Fatal and t.Skip do",
					promises[asked.Load()].sentence))
			}
			over.Store(true)
		}()
		for i, p := range promises {
			asked.Store(int64(i))
			if !p.holds() {
				c.fail(fmt.Sprintf("%q does not hold", p.sentence))
				break
			}
		}
		returned = true
	}()
	c.settle()
	if !over.Load() {
		c.fail(fmt.Sprintf("%q is asked by a function that waits, as for an answer: nobody is served meanwhile",
			promises[asked.Load()].sentence))
	}
}

// behind reports whether a server has txns to apply or is cut off from the leader.
func (c *Cluster) behind(k int) bool {
	return k != c.world.Leader() && (!c.world.Follows(k) || c.world.Behind(k) > 0)
}

// anyBehind reports whether a server is behind.
func (c *Cluster) anyBehind() bool {
	for k := range c.level {
		if c.behind(k) {
			return true
		}
	}
	return false
}

// anyPaused reports whether the connections of any client stall.
func (c *Cluster) anyPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.peers, func(p *peer) bool { return p.client.Paused() })
}

// sessionEnd returns when the first session of a client without a connection ends; false if there is no such session.
func (c *Cluster) sessionEnd() (first time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if ms, ends := p.client.SessionEnd(); ends {
			at := c.begin.Add(time.Duration(ms) * time.Millisecond)
			if !ok || at.Before(first) {
				first, ok = at, true
			}
		}
	}
	return first, ok
}

// reapDue returns from when the leader may delete a container or TTL znode; long after the run if there is none.
func (c *Cluster) reapDue() time.Time {
	ms := min(c.world.ReapDue(), (time.Since(c.begin) + 2*sleepLimit).Milliseconds())
	return c.begin.Add(time.Duration(ms) * time.Millisecond)
}

func (c *Cluster) nothingOnItsWay() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.peers, func(p *peer) bool { // nothing moves for a paused client
		return !p.client.Paused() && (p.asks != nil || !p.client.Settled())
	})
}

// Hurried implements [sim.Outside]. It reports whether a message must arrive, a server must catch up, after it has
// heard of the leader if it is cut off, a session must end, or a container or TTL znode must be deleted.
func (c driver) Hurried() bool {
	if time.Since(c.kept) >= containerCheck {
		return true
	}
	for _, at := range c.level {
		if time.Since(at) >= syncLimit {
			return true
		}
	}
	if end, ends := c.sessionEnd(); ends && time.Since(end) >= tickTime {
		return true
	}
	now := time.Now()
	if c.timers != nil && c.world.Calm() { // see env
		return now.Sub(c.settled) >= latency
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.peers, func(p *peer) bool { return p.overdue(now) })
}

// Branch implements [sim.Outside].
func (c driver) Branch(seed uint64) { turns.Seed(seed) }

// collect takes what clients have done since the last time.
func (c *Cluster) collect() (any, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		a, m := p.collect()
		any, more = any || a, more || m
	}
	if more {
		c.uneventful = 0
	}
	return any, more
}

// Pass implements [sim.Outside].
func (c driver) Pass() {
	begin := time.Now()
	alarm := time.NewTimer(c.stride())
	defer alarm.Stop()
	for {
		over := false
		c.passes(true)
		select {
		case <-alarm.C:
			over = true
		case <-c.poke:
		}
		c.passes(false)
		c.settle()
		c.advance()
		if over {
			c.uneventful += time.Since(begin)
			return
		}
		if _, more := c.collect(); more {
			return
		}
	}
}

// stride returns how much time may pass at once. It grows while no client wants anything, but does not go far beyond a
// moment by which something must have happened, see Hurried.
func (c *Cluster) stride() time.Duration {
	switch {
	case !c.nothingOnItsWay():
		return latency / 4
	case c.anyBehind():
		return latency
	}
	d := max(latency, c.uneventful)
	if c.anyPaused() {
		d = max(d, stall)
	}
	if end, ok := c.sessionEnd(); ok {
		d = min(d, max(latency, time.Until(end)))
	}
	if due := time.Until(c.reapDue()); due > 0 {
		return min(d, max(latency, due))
	}
	return min(d, max(latency, time.Until(c.kept.Add(containerCheck))))
}

// passes sets whether time passes, in a turn of the code. While it does, pings are answered without the driver.
func (c *Cluster) passes(now bool) {
	c.steps.Add(1)
	c.mu.Lock()
	c.passing = now
	c.mu.Unlock()
}

// PassTo implements [sim.Outside].
func (c driver) PassTo(ms int64) {
	c.turn(func() {
		time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(c.begin))
		synctest.Wait() // for code that wakes at the same moment
	})
	c.advance()
}

// Idle implements [sim.Outside]. When everything is at rest, one of the goroutines that wait for that goes on.
func (c driver) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.ended && c.uneventful >= c.lasting || c.uneventful >= c.idleAfter() ||
		c.uneventful >= pingLimit && c.onlyPings()
	now := time.Now()
	restless := c.timers == nil && !c.calm.IsZero() && now.Sub(c.calm) >= pollLimit && c.settled.Equal(now)
	if (idle && c.world.Calm() || restless) && len(c.resting) > 0 {
		close(c.resting[0])
		c.resting, c.uneventful, c.calm = c.resting[1:], 0, now
		return false
	}
	return idle
}

// idleAfter returns how long no client may want anything before the run is at rest. The limit is long if the faults are
// over, no goroutine waits for rest and the code has not ended: it may wait for a time far away.
func (c *Cluster) idleAfter() time.Duration {
	if c.timers == nil && c.world.Calm() && !c.ended && len(c.resting) == 0 {
		return sleepLimit
	}
	return idleLimit
}

// onlyPings reports whether only pings are to be expected: no program waits for a time, and every client has the
// connection that it wants.
func (c *Cluster) onlyPings() bool {
	if c.timers == nil || c.timers.pending() {
		return false
	}
	return !slices.ContainsFunc(c.peers, (*peer).unsettled)
}
