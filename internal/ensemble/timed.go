package ensemble

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// timed is the environment of a program that waits for times to come: meanwhile it does not wait forever.
type timed struct {
	recipes.Env
	run *liveRun
}

// Sleep implements [recipes.Env]. As in the simulator, time passes only when nothing else can happen, once the faults
// are over: a sleep then also waits until all clients are connected and nobody says anything, within reason.
//
//zksim:ignore only on a real ensemble
func (t timed) Sleep(ctx context.Context, d time.Duration) error {
	t.run.timer(1)
	defer t.run.timer(-1)
	if err := t.Env.Sleep(ctx, d); err != nil {
		return err
	}
	if !t.run.calm() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, oversleep)
	defer cancel()
	until(limited, t.run.still)
	return ctx.Err()
}

const (
	oversleep = 5 * time.Second       // how long a sleep may last beyond its end
	hush      = 20 * time.Millisecond // in which nobody says anything when nothing goes on
)

// calm reports whether there were faults and they are over.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) calm() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over
}

// still reports whether all clients whose programs go on are connected, and nothing is on its way or just was.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) still() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Since(x.heard) < hush {
		return false
	}
	for i, t := range x.taps {
		if x.state[i] != zk.StateHasSession || t.Open() > 0 {
			return false
		}
	}
	return true
}

// WithTimeout implements [recipes.Env].
//
//zksim:ignore only on a real ensemble
func (t timed) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := t.Env.WithTimeout(ctx, d)
	t.run.timer(1)
	context.AfterFunc(ctx, func() { t.run.timer(-1) })
	return ctx, cancel
}

// timer counts what programs wait for.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) timer(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.timers += n
	x.spoken = time.Now()
}
