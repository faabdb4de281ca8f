package recipes_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
)

func TestRealReadersShareAndWritersExclude(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	var readers, writers, together atomic.Int32
	var all sync.WaitGroup
	for i := range 6 {
		c := dial(t, addrs)
		all.Go(func() {
			l := recipes.NewRWLock(c, c.Env(), "/rw", recipes.LockOptions{})
			for r := range 10 {
				var err error
				if (i+r)%3 > 0 {
					err = l.RLock(ctx)
				} else {
					err = l.Lock(ctx)
					if writers.Add(1) != 1 || readers.Load() > 0 {
						t.Error("a writer is not alone")
					}
					writers.Add(-1)
					err = errors.Join(err, l.Downgrade(ctx))
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := readers.Add(1); n > together.Load() {
					together.Store(n)
				}
				if writers.Load() > 0 {
					t.Error("a reader beside a writer")
				}
				time.Sleep(time.Millisecond)
				readers.Add(-1)
				if err := l.RUnlock(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if together.Load() < 2 {
		t.Error("readers never shared the lock")
	}
}

func TestRealLeasesAreLimited(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	var inside atomic.Int32
	var three atomic.Bool
	var all sync.WaitGroup
	for range 6 {
		c := dial(t, addrs)
		all.Go(func() {
			s := recipes.NewSemaphore(c, c.Env(), "/sem", 3, recipes.LockOptions{})
			for range 10 {
				if err := s.Acquire(ctx); err != nil {
					t.Error(err)
					return
				}
				n := inside.Add(1)
				if n > 3 {
					t.Errorf("%d hold a lease", n)
				}
				if n == 3 {
					three.Store(true)
				}
				for !three.Load() && ctx.Err() == nil { // the first ones stay until there are three
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				if err := s.Release(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if !three.Load() {
		t.Error("three never held a lease at once")
	}
}

// A monitor finds a holder that does not end; it is asked, and then forced, to give up.
func TestARealHolderIsFoundRevokedAndBroken(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	holder, operator := dial(t, addrs), dial(t, addrs)
	l := recipes.NewRevocableLock(holder, holder.Env(), "/rw", recipes.LockOptions{Data: []byte("slow")})
	if err := l.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	watch, stop := context.WithCancel(ctx)
	var found recipes.Overdue
	m := recipes.NewMonitor(operator, operator.Env(), "/rw",
		recipes.MonitorOptions{Limit: 50 * time.Millisecond, Alarm: func(x recipes.Overdue) {
			found = x
			stop()
		}})
	if err := m.Run(watch); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if found.Path != l.Znodes()[0] || string(found.Data) != "slow" || found.Held < 50*time.Millisecond {
		t.Errorf("%+v", found)
	}
	o := recipes.NewRevocableLock(operator, operator.Env(), "/rw", recipes.LockOptions{})
	if err := o.Revoke(ctx, found.Path); err != nil {
		t.Error(err)
	}
	select {
	case <-l.Revoked():
	case <-ctx.Done():
		t.Error("not told of the revocation")
	}
	if err := o.Break(ctx, found.Path); err != nil {
		t.Error(err)
	}
	select {
	case ev := <-l.Lost():
		if ev.Type != zk.EventNodeDeleted {
			t.Errorf("lost with %+v", ev)
		}
	case <-ctx.Done():
		t.Error("not told that the lock is broken")
	}
	if err := o.TryLock(ctx); err != nil {
		t.Error(err)
	}
	if err := errors.Join(l.Unlock(ctx), o.Unlock(ctx), holder.Wait(ctx), operator.Wait(ctx)); err != nil {
		t.Error(err)
	}
}
