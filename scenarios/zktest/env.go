package zktest

import (
	"context"
	"slices"
	"sync"
	"time"

	"zksim/recipes"
)

// env is the Env of programs that were written for the simulator. There the library reconnects at once, and once the
// faults are over, time passes only when nothing else can happen. Checkers rely on that: a program that has rested has
// heard of everything, and a program that gives up has waited in vain. Here go-zookeeper waits for a second before it
// tries the servers again. So once the faults are over, the programs' own Sleep lasts until all clients are connected
// and nothing is on its way.
type env struct {
	recipes.Env
	c *Cluster
}

// The time between two such checks of Sleep, and how many it makes at most, which takes a minute. A client without a
// connection for that long is taken not to want one any more: it is longer than a client takes to find a server.
const (
	glance  = 20 * time.Millisecond
	glances = int(time.Minute / glance)
)

// Sleep implements [recipes.Env].
func (e env) Sleep(ctx context.Context, d time.Duration) error {
	defer e.c.timers.start(d)()
	err := e.Env.Sleep(ctx, d)
	for n := 0; err == nil && n < glances && e.c.reconnects(); n++ {
		err = e.Env.Sleep(ctx, glance)
	}
	return err
}

// WithTimeout implements [recipes.Env].
func (e env) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := e.Env.WithTimeout(ctx, d)
	stop := e.c.timers.start(d)
	return ctx, func() {
		cancel()
		stop()
	}
}

// timers are the times that programs wait for.
type timers struct {
	mu  sync.Mutex
	all map[*time.Time]struct{} // when they fire
}

// start adds a timer that fires after that time, unless the returned function is called first.
//
//zksim:ignore only on real connections
func (t *timers) start(after time.Duration) (stop func()) {
	at := time.Now().Add(after)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[*time.Time]struct{}{}
	}
	t.all[&at] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.all, &at)
	}
}

// pending reports whether a timer has yet to fire.
func (t *timers) pending() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for at := range t.all { // order-free: whether there is one
		if now.Before(*at) {
			return true
		}
		delete(t.all, at)
	}
	return false
}

// reconnects reports whether the faults are over but a client lacks the connection that it wants, or something is on
// its way.
//
//zksim:ignore only on real connections
func (c *Cluster) reconnects() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.world.Calm() && slices.ContainsFunc(c.peers, (*peer).unsettled)
}
