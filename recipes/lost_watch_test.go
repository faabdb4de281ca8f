package recipes_test

import (
	"context"
	"fmt"
	"testing"

	"zksim/model"
	"zksim/recipes"
	"zksim/sim"
)

const manyRounds = 40

// chatter makes a second coroutine ask on until stop is true, so that its answers
// come first after a reconnect and move the zxid from which on watches are asked
// for again.
func (a actor) chatter(stop *bool) {
	a.env.Go("other", func() {
		for !*stop {
			a.Exists("/")
		}
	})
}

// cutTwice disconnects the first client twice, soon after each other.
func (a actor) cutTwice() {
	a.env.Go("disconnect", func() {
		for range 2 {
			for range a.random.IntN(12) {
				a.env.Now()
			}
			a.happen("disconnect c1")
		}
	})
}

// settled waits until the disconnects have happened.
func (a actor) settled() { a.until(func() bool { return len(a.wanted) == 0 }) }

func TestASemaphoreMissesNoReleaseAfterTwoDisconnects(t *testing.T) {
	var rounds int
	var done bool
	h := play(t, func(*sim.World) { rounds, done = 0, false }, func(a actor) {
		a.chatter(&done)
		s := a.semaphore(2)
		for rounds < manyRounds {
			a.is("Acquire", s.Acquire(ctx), nil)
			a.is("Release", s.Release(ctx), nil)
			rounds++
		}
		done = true
	}, func(a actor) {
		held, other := a.semaphore(2), a.semaphore(2)
		a.is("Acquire", held.Acquire(ctx), nil)
		for r := range manyRounds {
			if err := other.TryAcquire(ctx); err == recipes.ErrLocked {
				a.until(func() bool { return rounds > r || done })
				continue
			}
			for range a.random.IntN(60) {
				a.env.Now()
			}
			a.cutTwice()
			a.is("Release", other.Release(ctx), nil)
			a.until(func() bool { return rounds > r })
			a.settled()
		}
		a.is("Release", held.Release(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestACoordinatorMissesNoVoteAfterTwoDisconnects(t *testing.T) {
	name := func(r int) string { return fmt.Sprintf("/app/t%d", r) }
	site := recipes.TransactionOptions{Site: "a", Form: recipes.ByCoordinator}
	var decided int
	play(t, func(w *sim.World) {
		decided = 0
		w.Prepare(model.Request{Op: model.OpCreate, Path: "/app", ACL: openACL})
	}, func(a actor) {
		var done bool
		a.chatter(&done)
		for r := range manyRounds {
			tx := recipes.NewTransaction(a.Conn, a.env, name(r), recipes.TransactionOptions{Form: recipes.ByCoordinator})
			a.is("Begin", tx.Begin(ctx, nil, "a"), nil)
			a.decides(recipes.Committed, tx.Outcome)
			decided++
		}
		done = true
	}, func(a actor) {
		for r := range manyRounds {
			tx := recipes.NewTransaction(a.Conn, a.env, name(r), site)
			_, err := tx.Join(ctx)
			a.is("Join", err, nil)
			for range a.random.IntN(60) {
				a.env.Now()
			}
			a.cutTwice()
			a.is("Vote", tx.Vote(ctx, true), nil)
			a.until(func() bool { return decided > r })
			a.settled()
		}
	})
}

func TestAMonitorMissesNoHolderAfterTwoDisconnects(t *testing.T) {
	var alarms int
	play(t, func(w *sim.World) {
		alarms = 0
		create("/lock", openACL)(w)
	}, func(a actor) {
		var done bool
		a.chatter(&done)
		running, stop := context.WithCancel(ctx)
		m := recipes.NewMonitor(a.Conn, a.env, "/lock", recipes.MonitorOptions{Limit: tooLong, Alarm: func(recipes.Overdue) {
			if alarms++; alarms == manyRounds {
				stop()
			}
		}})
		a.is("Run", m.Run(running), context.Canceled)
		done = true
	}, func(a actor) {
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		for r := range manyRounds {
			for range a.random.IntN(60) {
				a.env.Now()
			}
			a.cutTwice()
			a.is("Lock", l.Lock(ctx), nil)
			a.until(func() bool { return alarms > r })
			a.settled()
			a.is("Unlock", l.Unlock(ctx), nil)
		}
	})
}
