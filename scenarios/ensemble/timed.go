package ensemble

import (
	"context"
	"time"

	"zksim/recipes"
)

// timed is the environment of a program that waits for times to come: meanwhile it does not wait forever.
type timed struct {
	recipes.Env
	run *liveRun
}

// Sleep implements [recipes.Env].
func (t timed) Sleep(ctx context.Context, d time.Duration) error {
	t.run.timer(1)
	defer t.run.timer(-1)
	return t.Env.Sleep(ctx, d)
}

// WithTimeout implements [recipes.Env].
func (t timed) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := t.Env.WithTimeout(ctx, d)
	t.run.timer(1)
	context.AfterFunc(ctx, func() { t.run.timer(-1) })
	return ctx, cancel
}

// timer counts what programs wait for.
func (x *liveRun) timer(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.timers += n
	x.spoken = time.Now()
}
