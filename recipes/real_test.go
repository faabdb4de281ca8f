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
	"zksim/recipes/live"
)

// patience bounds what must happen on a real server.
const patience = time.Minute

func dial(t *testing.T, addrs []string) *live.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := live.Dial(ctx, addrs, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestRealClientsExcludeEachOther(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	clients, rounds := 20, 20
	if testing.Short() {
		clients, rounds = 5, 5
	}
	bothLocks(t, func(t *testing.T, lock maker) {
		ctx := bounded(t)
		var inside atomic.Int32
		plain, last := 0, int64(0) // guarded by the lock alone: -race watches
		var all sync.WaitGroup
		for range clients {
			c := dial(t, addrs)
			all.Go(func() {
				l := lock(c, c.Env(), "/"+t.Name(), recipes.LockOptions{})
				for range rounds {
					if err := l.Lock(ctx); err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d hold the lock", n)
					}
					if l.Token() <= last {
						t.Errorf("token %d after %d", l.Token(), last)
					}
					plain, last = plain+1, l.Token()
					inside.Add(-1)
					if err := l.Unlock(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if plain != clients*rounds {
			t.Errorf("%d rounds, want %d", plain, clients*rounds)
		}
	})
}

// The goroutines of one process may share a connection.
func TestRealGoroutinesOfOneSessionExcludeEachOther(t *testing.T) {
	c := dial(t, zkservertest.ForTest(t, 1).Addrs())
	bothLocks(t, func(t *testing.T, lock maker) {
		ctx := bounded(t)
		plain := 0
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				l := lock(c, c.Env(), "/"+t.Name(), recipes.LockOptions{})
				for range 10 {
					if err := l.Lock(ctx); err != nil {
						t.Error(err)
						return
					}
					plain++
					if err := l.Unlock(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if plain != 80 {
			t.Errorf("%d rounds", plain)
		}
		if err := c.Wait(ctx); err != nil { // the guards have ended
			t.Error(err)
		}
	})
}

func TestARealSessionDoesNotPileUpSessionEvents(t *testing.T) {
	c := dial(t, zkservertest.ForTest(t, 1).Addrs())
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	env := &counting{Env: c.Env()}
	l := recipes.NewLock(c, env, "/lock", recipes.LockOptions{})
	for range rounds {
		if err := errors.Join(l.Lock(t.Context()), l.Unlock(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if n := env.pending(); n > 2 {
		t.Errorf("%d channels wait for a change of state", n)
	}
	if err := c.Wait(bounded(t)); err != nil {
		t.Error(err)
	}
}

func TestRealLocksTellLossCancelAndClose(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	operator := dial(t, addrs)
	bothLocks(t, func(t *testing.T, lock maker) {
		ctx := bounded(t)
		dir := "/" + t.Name()
		holder, waiter := dial(t, addrs), dial(t, addrs)
		l := lock(holder, holder.Env(), dir, recipes.LockOptions{})
		w := lock(waiter, waiter.Env(), dir, recipes.LockOptions{})
		if err := l.Lock(ctx); err != nil {
			t.Fatal(err)
		}
		if err := w.TryLock(ctx); err != recipes.ErrLocked {
			t.Errorf("TryLock: %v", err)
		}
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		if err := w.Lock(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock: %v", err)
		}
		cancel()
		znodes := l.Znodes()
		gone := waiter.Wait(ctx) // the place in the queue is given up in the background
		if names, _, err := operator.Children(dir); errors.Join(gone, err) != nil || len(names) != len(znodes) {
			t.Errorf("left behind: %v, %v, %v", names, gone, err)
		}

		znode := znodes[len(znodes)-1]
		if _, err := operator.Set(znode, []byte("hello"), -1); err != nil {
			t.Error(err)
		}
		if err := operator.Delete(znode, -1); err != nil {
			t.Error(err)
		}
		select {
		case ev := <-l.Lost():
			if ev.Type != zk.EventNodeDeleted {
				t.Errorf("lost with %+v", ev)
			}
		case <-ctx.Done():
			t.Error("not told that the znode is gone")
		}
		if err := l.Unlock(ctx); err != nil {
			t.Error(err)
		}
		holder.Close()

		if err := w.Lock(ctx); err != nil {
			t.Fatal(err)
		}
		other := dial(t, addrs)
		x := lock(other, other.Env(), dir, recipes.LockOptions{})
		ended := make(chan error)
		go func() { ended <- x.Lock(ctx) }()
		go other.Close()
		select {
		case err := <-ended:
			if !errors.Is(err, zk.ErrClosing) && !errors.Is(err, zk.ErrConnectionClosed) {
				t.Errorf("Lock after Close: %v", err)
			}
		case <-ctx.Done():
			t.Error("Lock does not end with its connection")
		}
		if err := other.Wait(ctx); err != nil {
			t.Error(err)
		}
		if err := w.Unlock(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestARealStrangerGetsNoAuth(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	owner, stranger := dial(t, addrs), dial(t, addrs)
	if err := owner.AddAuth("digest", []byte("me:secret")); err != nil {
		t.Fatal(err)
	}
	bothLocks(t, func(t *testing.T, lock maker) {
		ctx := bounded(t)
		l := lock(owner, owner.Env(), "/"+t.Name(), recipes.LockOptions{ACL: zk.DigestACL(zk.PermAll, "me", "secret")})
		if err := errors.Join(l.Lock(ctx), l.Unlock(ctx)); err != nil {
			t.Fatal(err)
		}
		if err := lock(stranger, stranger.Env(), "/"+t.Name(), recipes.LockOptions{}).Lock(ctx); !errors.Is(err,
			zk.ErrNoAuth) {
			t.Errorf("%v", err)
		}
	})
}

// Example_live shows the same code on a real ensemble.
func Example_live() {
	ctx := context.Background()
	client, err := live.Dial(ctx, []string{"127.0.0.1:2181"}, live.Options{})
	if err != nil {
		return
	}
	defer client.Close()
	lock := recipes.NewLock(client, client.Env(), "/apps/mine/lock", recipes.LockOptions{Data: []byte("host 1")})
	if err := lock.Lock(ctx); err != nil {
		return
	}
	defer lock.Unlock(ctx)
	select {
	case <-lock.Lost(): // stop at once; the resource refuses lock.Token() from now on
	case <-time.After(time.Minute): // the work
	}
}
