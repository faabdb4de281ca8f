package zktest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"zksim/internal/turns"
)

// driver is a [Cluster] as the world sees it: code outside of the simulator.
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
	for k := range c.level {
		if !c.behind(k) {
			c.level[k] = time.Now()
		}
	}
	if c.calm.IsZero() && c.world.Calm() {
		c.calm = time.Now()
	}
}

// rests notes for whom nothing is on its way.
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

// advance has the world know what time it is.
func (c *Cluster) advance() { c.world.Advance(time.Since(c.begin).Milliseconds()) }

// look looks whether what is promised holds, in a turn of its own. Nobody is served meanwhile, and time does not pass.
// So a function that has not returned when all is at rest waits in vain.
func (c *Cluster) look() {
	c.mu.Lock()
	promises := c.promises
	c.mu.Unlock()
	if len(promises) == 0 || c.broken != "" {
		return
	}
	var asked atomic.Int64 // which of them
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

// behind reports whether a server has txns to apply, or does not hear of the leader.
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

// anyPaused reports whether the connections of a client stall.
func (c *Cluster) anyPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.peers, func(p *peer) bool { return p.client.Paused() })
}

// sessionEnd returns when the first session ends of those whose clients are without a connection; false if there is no
// such session.
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

func (c *Cluster) nothingOnItsWay() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.peers, func(p *peer) bool { // of one that is paused nothing moves
		return !p.client.Paused() && (p.asks != nil || !p.client.Settled())
	})
}

// Hurried implements [sim.Outside]: what is on its way must arrive, a server that is behind must catch up, and first
// hear of the leader if it is cut off, and a session must end.
func (c driver) Hurried() bool {
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

// stride is for how long time may pass at once: longer and longer while nobody wants anything, but not far beyond a
// moment at which something must have happened, see Hurried.
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
	return d
}

// passes says whether time passes, in a turn of code, and pings are answered without its help.
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
		synctest.Wait() // for code that the same moment has woken
	})
	c.advance()
}

// Idle implements [sim.Outside]. When all is at rest one of those goes on that wait for that.
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

// idleAfter returns for how long nobody must want anything until the run is at rest. If the faults are over, nobody
// waits for that, and yet the code goes on, it may wait for a time that is far away.
func (c *Cluster) idleAfter() time.Duration {
	if c.timers == nil && c.world.Calm() && !c.ended && len(c.resting) == 0 {
		return sleepLimit
	}
	return idleLimit
}

// onlyPings reports whether nothing is to be expected but pings: nobody waits for a time, and every client has the
// connection that it wants.
func (c *Cluster) onlyPings() bool {
	if c.timers == nil || c.timers.pending() {
		return false
	}
	return !slices.ContainsFunc(c.peers, (*peer).unsettled)
}
