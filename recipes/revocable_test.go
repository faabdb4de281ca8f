package recipes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func (a actor) revocable() *recipes.RevocableLock {
	return recipes.NewRevocableLock(a.Conn, a.env, "/rw", recipes.LockOptions{Data: []byte("me")})
}

func TestAHolderIsToldThatItsLockIsRevoked(t *testing.T) {
	var asked, free bool
	h := play(t, func(*sim.World) { asked, free = false, false }, func(a actor) {
		l := a.revocable()
		if l.Revoked() != nil {
			a.t.Error("revoked before it is held")
		}
		a.is("Lock", l.Lock(ctx), nil)
		znode := l.Znodes()[0]
		if len(l.Znodes()) != 1 || len(l.Revoked()) > 0 {
			a.t.Errorf("%v, revoked %d times", l.Znodes(), len(l.Revoked()))
		}
		for range 3 { // what does not say unlock is no revocation
			_, err := a.Set(znode, []byte("hello"), -1)
			a.is("Set", err, nil)
		}
		for range 50 {
			a.env.Now()
		}
		if len(l.Revoked()) > 0 || len(l.Lost()) > 0 {
			a.t.Error("revoked or lost by a write")
		}
		asked = true
		_, ev, err := a.env.Await(ctx, l.Revoked())
		if err != nil || ev.Type != zk.EventNodeDataChanged || ev.Path != znode {
			a.t.Errorf("revoked with %+v, %v", ev, err)
		}
		if _, open := <-l.Revoked(); open {
			a.t.Error("Revoked is not closed")
		}
		if len(l.Lost()) > 0 {
			a.t.Error("a revocation is no loss")
		}
		free = true
		a.is("Unlock", l.Unlock(ctx), nil)
		if l.Revoked() != nil {
			a.t.Error("revoked after it was held")
		}
	}, func(a actor) {
		a.until(func() bool { return asked })
		l := a.revocable()
		paths, err := l.Queue(ctx)
		if err != nil || len(paths) != 1 {
			a.t.Errorf("%v, %v", paths, err)
		}
		for range 2 {
			a.is("Revoke", l.Revoke(ctx, paths[0]), nil)
		}
		a.is("Lock", l.Lock(ctx), nil)
		if !free {
			a.t.Error("a holder that did not consent is out")
		}
		a.is("Unlock", l.Unlock(ctx), nil)
		a.is("Revoke of a znode that is gone", l.Revoke(ctx, paths[0]), nil)
		a.is("Break of a znode that is gone", l.Break(ctx, paths[0]), nil)
		paths, err = l.Queue(ctx)
		if err != nil || len(paths) > 0 {
			a.t.Errorf("%v, %v", paths, err)
		}
		none := recipes.NewRevocableLock(a.Conn, a.env, "/none", recipes.LockOptions{})
		if paths, err := none.Queue(ctx); err != nil || len(paths) > 0 {
			a.t.Errorf("of a lock that nobody has used: %v, %v", paths, err)
		}
	})
	nothingLeft(t, h)
}

// A loss is told even after a revocation, and a broken lock is lost.
func TestABrokenLockIsLost(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		var znode string
		h := play(t, func(*sim.World) { znode = "" }, func(a actor) {
			l := a.revocable()
			a.is("RLock", l.RLock(ctx), nil)
			if revoked {
				a.is("Revoke", l.Revoke(ctx, l.Znodes()[0]), nil)
				_, _, err := a.env.Await(ctx, l.Revoked())
				a.is("Await", err, nil)
			}
			znode = l.Znodes()[0]
			if _, ev, err := a.env.Await(ctx, l.Lost()); err != nil || ev.Type != zk.EventNodeDeleted {
				a.t.Errorf("lost with %+v, %v", ev, err)
			}
			a.is("RUnlock", l.RUnlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return znode != "" })
			l := a.revocable()
			a.is("Break", l.Break(ctx, znode), nil)
			a.is("Lock", l.TryLock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
		})
		nothingLeft(t, h)
	}
}

// A client that is asked while it waits is told as soon as it holds the lock; one that comes later is
// not concerned.
func TestARevocationReachesThoseWhoWait(t *testing.T) {
	var waiting, asked bool
	h := play(t, func(*sim.World) { waiting, asked = false, false }, func(a actor) {
		l := a.revocable()
		a.is("Lock", l.Lock(ctx), nil)
		waiting = true
		var paths []string
		a.until(func() bool {
			var err error
			paths, err = l.Queue(ctx)
			return err == nil && len(paths) == 2
		})
		a.is("Revoke", l.Revoke(ctx, paths[1]), nil)
		asked = true
		if len(l.Revoked()) > 0 {
			a.t.Error("the holder was told what concerns another")
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return waiting })
		l := a.revocable()
		a.is("Lock", l.Lock(ctx), nil)
		if !asked || len(l.Revoked()) == 0 {
			a.t.Errorf("asked %t, told %d times", asked, len(l.Revoked()))
		}
		a.is("Unlock", l.Unlock(ctx), nil)
		a.is("Lock again", l.Lock(ctx), nil)
		if len(l.Revoked()) > 0 {
			a.t.Error("a new lock is revoked")
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestOnlyWhoMayWriteRevokes(t *testing.T) {
	var znode string
	var tried bool
	mine := []zk.ACL{{Perms: zk.PermAll, Scheme: "auth"}, {Perms: zk.PermRead, Scheme: "world", ID: "anyone"}}
	h := play(t, func(*sim.World) { znode, tried = "", false }, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		l := recipes.NewRevocableLock(a.Conn, a.env, "/rw", recipes.LockOptions{ACL: mine})
		a.is("Lock", l.Lock(ctx), nil)
		znode = l.Znodes()[0]
		a.until(func() bool { return tried })
		a.is("Unlock", l.Unlock(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return znode != "" })
		l := a.revocable()
		a.is("Revoke", l.Revoke(ctx, znode), zk.ErrNoAuth)
		a.is("Break", l.Break(ctx, znode), zk.ErrNoAuth)
		tried = true
	})
	nothingLeft(t, h)
}

// ExampleRevocableLock has a batch job give way to something urgent.
func ExampleRevocableLock() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		ctx := context.Background()
		lock := recipes.NewRevocableLock(c.Conn(), c.Env(), "/machine", recipes.LockOptions{})
		if c.Name() == "c1" {
			lock.Lock(ctx)
			fmt.Println("the batch job runs")
			c.Env().Await(ctx, lock.Lost(), lock.Revoked())
			fmt.Println("the batch job writes down how far it got")
			lock.Unlock(ctx)
			return
		}
		c.Env().Sleep(ctx, time.Second) // virtual time
		paths, err := lock.Queue(ctx)
		if err != nil {
			fmt.Println(err)
		}
		for _, path := range paths {
			lock.Revoke(ctx, path)
		}
		lock.Lock(ctx)
		fmt.Println("the urgent job runs")
		lock.Unlock(ctx)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the batch job runs
	// the batch job writes down how far it got
	// the urgent job runs
}
