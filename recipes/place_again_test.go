package recipes_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// A client that waits for a lock has a place in the queue, even if its session ends, and the next one begins, while
// its code is slow after it has listed the queue.
func TestWhoeverWaitsForALockHasAPlace(t *testing.T) {
	held, again := false, false
	h := play(t, func(*sim.World) { held, again = false, false }, func(a actor) {
		slow := false
		conn := slowReader{a.Conn, func(string) {
			if slow {
				return
			}
			slow = true
			id := a.SessionID()
			a.happen("learn-late c1")
			a.until(func() bool { return a.SessionID() != id && a.State() == zk.StateHasSession })
			again = true
		}}
		a.until(func() bool { return held })
		l := recipes.NewLock(conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		a.is("Unlock", l.Unlock(ctx), nil)
	}, func(a actor) {
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		held = true
		a.until(func() bool { return again })
		a.idle = true // so the other goes on until it waits
		a.sleep(time.Hour)
		if queue, err := l.Contenders(ctx); err != nil || len(queue) != 2 {
			a.t.Errorf("%d have or await the lock (%v), want 2", len(queue), err)
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	})
	nothingLeft(t, h)
}

// A TryLock that will be refused is in the way of others for as long as it is under way, even if the lock is free by
// then.
func TestATryLockIsRefusedBecauseOfAnotherOne(t *testing.T) {
	tried, refused := false, false
	play(t, func(*sim.World) { tried, refused = false, false }, func(a actor) {
		holder := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", holder.Lock(ctx), nil)
		conn := slowReader{a.Conn, func(string) {
			a.is("Unlock", holder.Unlock(ctx), nil)
			tried = true
			a.until(func() bool { return refused })
		}}
		l := recipes.NewLock(conn, a.env, "/lock", recipes.LockOptions{})
		a.is("TryLock while it is held", l.TryLock(ctx), recipes.ErrLocked)
	}, func(a actor) {
		a.until(func() bool { return tried })
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		a.is("TryLock while another one is under way", l.TryLock(ctx), recipes.ErrLocked)
		refused = true
	})
}
