package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"zksim/recipes"
	"zksim/scenarios"
)

// exclusive is a lock that has one holder at a time, whatever it is asked for.
type exclusive struct{ l *recipes.Lock }

func newExclusive(p *scenarios.Process) exclusive {
	return exclusive{recipes.NewLock(p.Conn, p.Env, p.Path("/mine"), recipes.LockOptions{})}
}

func (e exclusive) Lock(ctx context.Context) error    { return e.l.Lock(ctx) }
func (e exclusive) Unlock(ctx context.Context) error  { return e.l.Unlock(ctx) }
func (e exclusive) RLock(ctx context.Context) error   { return e.l.Lock(ctx) }
func (e exclusive) RUnlock(ctx context.Context) error { return e.l.Unlock(ctx) }
func (e exclusive) Acquire(ctx context.Context) error { return e.l.Lock(ctx) }
func (e exclusive) Release(ctx context.Context) error { return e.l.Unlock(ctx) }

// TestALockThatNobodySharesIsNoSharedOne: that a holder has crashed, or does not know yet that its session has ended,
// while another one holds the lock does not make two holders.
func TestALockThatNobodySharesIsNoSharedOne(t *testing.T) {
	for _, x := range []struct {
		scenarios.Scenario
		missing string
	}{
		{scenarios.RWLock("mine/rwlock", newExclusive), "no run had two readers at once"},
		{scenarios.Semaphore("mine/semaphore", 2, newExclusive), "no run had all leases held at once"},
	} {
		t.Run(x.Name, func(t *testing.T) {
			if f := check(t, x.Scenario, "1-500", ""); !strings.Contains(f.fatal, x.missing) {
				t.Errorf("it says %q and %q", f.fatal, f.logs)
			}
		})
	}
}
