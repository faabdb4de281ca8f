package sim

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// restTime is when the timers of AtRest are due, in milliseconds: after all others. They fire only once the faults are
// over, when time passes only if nothing else can happen. Time does not move on with them.
const restTime = 1 << 42

// AtRest waits until the faults are over and nothing else can happen, timers included. If several coroutines wait like
// this, one continues after the other.
func (e Env) AtRest() {
	g := e.c.here()
	g.woke(-1, zk.Event{}, nil)
	g.ctx = context.Background()
	g.timer.g = g
	e.c.w.addTimerAt(&g.timer, restTime)
	g.park(sleeping)
}
