package scenarios_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"zksim/recipes"
	"zksim/scenarios"
)

// lateWatch is a barrier whose Wait leaves a watch after it has read, and does not read again.
type lateWatch struct {
	conn recipes.Conn
	env  recipes.Env
	path string
}

func (b lateWatch) set(data string) error {
	_, err := b.conn.Set(b.path, []byte(data), -1)
	return err
}

func (b lateWatch) Hold(context.Context) error    { return b.set("held") }
func (b lateWatch) Release(context.Context) error { return b.set("") }

func (b lateWatch) Wait(ctx context.Context) error {
	for {
		session := b.env.SessionEvents()
		data, _, err := b.conn.Get(b.path)
		if err != nil || len(data) == 0 {
			return err
		}
		_, _, change, err := b.conn.ExistsW(b.path)
		if err != nil {
			return err
		}
		if _, _, err := b.env.Await(ctx, change, session); err != nil {
			return err
		}
	}
}

// TestABarrierThatIsOpenIsPassed: a waiter of the preset gives up after a while, so quiescence does not see that it
// waits for what has happened.
func TestABarrierThatIsOpenIsPassed(t *testing.T) {
	s := scenarios.Barrier("mine/late-watch", func(p *scenarios.Process) lateWatch {
		return lateWatch{p.Conn, p.Env, p.Path("/mine")}
	})
	s.Setup = append(s.Setup, scenarios.Mkdir("/mine"))
	s.Faults, s.Caught, s.Goals = nil, []string{"finally"}, nil
	scenarios.Check(t, s)
}

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

// slow is a double barrier that asks a lot before it enters.
type slow struct {
	*recipes.DoubleBarrier
	conn recipes.Conn
	path string
}

func (b slow) Enter(ctx context.Context) error {
	for range 20 {
		b.conn.Exists(b.path) // with whatever result
	}
	return b.DoubleBarrier.Enter(ctx)
}

// TestASlowDoubleBarrierNeedsMoreStepsWithFaults: docs/adopt.md says what to do when faults end before anybody is in.
func TestASlowDoubleBarrierNeedsMoreStepsWithFaults(t *testing.T) {
	s := scenarios.DoubleBarrier("mine/slow", func(p *scenarios.Process, n int) slow {
		b := recipes.NewDoubleBarrier(p.Conn, p.Env, p.Path("/mine"), n, recipes.DoubleBarrierOptions{})
		return slow{b, p.Conn, p.Path("/mine")}
	})
	if f := check(t, s, "1-500", ""); !strings.Contains(f.fatal, "a session that ends inside") {
		t.Errorf("it says %q and %q", f.fatal, f.logs)
	}
	s.SafetySteps = 300
	if f := check(t, s, "1-500", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
}
