package zktest

import (
	"fmt"
	"time"
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
	c.mu.Lock()
	promises := c.promises
	c.mu.Unlock()
	for _, p := range promises {
		if c.broken == "" {
			c.look(p)
		}
	}
	c.tell()
	if c.nothingOnItsWay() {
		c.settled = time.Now()
	}
	if !c.lags() {
		c.level = time.Now()
	}
	if c.calm.IsZero() && c.world.Calm() {
		c.calm = time.Now()
	}
	c.world.Advance(time.Since(c.begin).Milliseconds())
}

// look looks whether a promise holds. Nobody is served meanwhile: time passes only if it waits, and then it has failed.
func (c *Cluster) look(p promise) {
	alarm := time.AfterFunc(1, func() {
		c.fail(fmt.Sprintf("%q is asked by a function that waits, as for an answer: nobody is served meanwhile", p.sentence))
		c.close()
	})
	defer alarm.Stop()
	defer func() {
		if r := recover(); r != nil {
			c.panicked(r)
		}
	}()
	if !p.holds() {
		c.fail(fmt.Sprintf("%q does not hold", p.sentence))
	}
}

// lags reports whether a server that hears of the leader has txns to apply.
func (c *Cluster) lags() bool {
	for k := range c.servers {
		if c.world.Follows(k) && c.world.Behind(k) > 0 {
			return true
		}
	}
	return false
}

func (c *Cluster) nothingOnItsWay() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if p.asks != nil || !p.client.Settled() {
			return false
		}
	}
	return true
}

// Hurried implements [sim.Outside].
func (c driver) Hurried() bool {
	return time.Since(c.settled) >= latency || time.Since(c.level) >= syncLimit
}

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
	d := max(latency, c.uneventful)
	if !c.nothingOnItsWay() {
		d = latency / 4
	} else if c.lags() {
		d = latency
	}
	alarm := time.NewTimer(d)
	defer alarm.Stop()
	for {
		c.passes(true)
		select {
		case <-alarm.C:
			c.passes(false)
			c.uneventful += time.Since(begin)
			return
		case <-c.poke:
			c.passes(false)
			c.settle()
			if _, more := c.collect(); more {
				return
			}
		}
	}
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
	c.turn(func() { time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(c.begin)) })
	c.world.Advance(time.Since(c.begin).Milliseconds())
}

// Idle implements [sim.Outside]. When all is at rest one of those goes on that wait for that.
func (c driver) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := c.ended && c.uneventful >= c.lasting || c.uneventful >= patience || c.uneventful >= lull && c.lulled()
	now := time.Now()
	restless := c.timers == nil && !c.calm.IsZero() && now.Sub(c.calm) >= forbearance && c.settled.Equal(now)
	if (idle && c.world.Calm() || restless) && len(c.resting) > 0 {
		close(c.resting[0])
		c.resting, c.uneventful, c.calm = c.resting[1:], 0, now
		return false
	}
	return idle
}

// lulled reports whether nothing is to be expected but pings: nobody waits for a time, and every client has the
// connection that it wants.
func (c *Cluster) lulled() bool {
	if c.timers == nil || c.timers.pending() {
		return false
	}
	for _, p := range c.peers {
		if !p.settled() {
			return false
		}
	}
	return true
}
