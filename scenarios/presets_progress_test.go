package scenarios_test

import (
	"context"
	"testing"
	"time"

	"zksim/recipes"
	"zksim/scenarios"
)

// pausing is a double barrier that takes a second before it does anything, as one does that waits before it tries
// again.
type pausing struct {
	*recipes.DoubleBarrier
	env recipes.Env
}

func (b pausing) Enter(ctx context.Context) error {
	if err := b.env.Sleep(ctx, time.Second); err != nil {
		return err
	}
	return b.DoubleBarrier.Enter(ctx)
}

// TestADoubleBarrierMayTakeASecond: those who wait for the others give them more time than that before they give up.
func TestADoubleBarrierMayTakeASecond(t *testing.T) {
	s := scenarios.DoubleBarrier("mine/pausing", func(p *scenarios.Process, n int) pausing {
		b := recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path("/mine"), n, recipes.DoubleBarrierOptions{})
		return pausing{b, p.Env}
	})
	s.Goals = nil
	scenarios.Check(t, s)
}
