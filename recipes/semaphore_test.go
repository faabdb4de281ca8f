package recipes_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func (a actor) semaphore(leases int) *recipes.Semaphore {
	return recipes.NewSemaphore(a.Conn, a.env, "/sem", leases, recipes.LockOptions{})
}

func TestASemaphoreObjectHoldsOneLease(t *testing.T) {
	h := play(t, nil, func(a actor) {
		s, other, third := a.semaphore(2), a.semaphore(2), a.semaphore(2)
		a.is("Release at first", s.Release(ctx), recipes.ErrNotHeld)
		if s.Lost() != nil || s.Znodes() != nil {
			a.t.Errorf("at first: %v, %v", s.Lost(), s.Znodes())
		}
		a.is("Acquire", s.Acquire(ctx), nil)
		if s.Lost() == nil || len(s.Znodes()) != 1 {
			a.t.Errorf("held: %v, %v", s.Lost(), s.Znodes())
		}
		a.is("Acquire again", s.Acquire(ctx), recipes.ErrHeld)
		a.is("TryAcquire again", s.TryAcquire(ctx), recipes.ErrHeld)
		a.is("TryAcquire of another object", other.TryAcquire(ctx), nil)
		a.is("TryAcquire of a third", third.TryAcquire(ctx), recipes.ErrLocked)
		if len(third.Znodes()) > 0 {
			a.t.Errorf("knows of %v", third.Znodes())
		}
		a.is("Release", s.Release(ctx), nil)
		a.is("Release again", s.Release(ctx), recipes.ErrNotHeld)
		a.is("TryAcquire of a third", third.TryAcquire(ctx), nil)
		a.is("Release", third.Release(ctx), nil)
		a.is("Release", other.Release(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestThereAreNoMoreHoldersThanLeases(t *testing.T) {
	for _, leases := range []int{1, 2, 3} {
		for _, before := range []int32{math.MaxInt32, 3} { // creates before the sequence numbers end
			inside, most := 0, 0
			program := func(a actor) {
				s := a.semaphore(leases)
				for r := range 3 {
					acquire := s.Acquire
					if r == 1 {
						acquire = s.TryAcquire
					}
					if err := acquire(ctx); err == recipes.ErrLocked && r == 1 {
						continue
					} else {
						a.is("Acquire", err, nil)
					}
					inside++
					most = max(most, inside)
					for range 40 {
						a.env.Now()
					}
					inside--
					a.is("Release", s.Release(ctx), nil)
				}
			}
			h := play(t, func(w *sim.World) {
				inside = 0
				for _, path := range []string{"/sem", "/sem/gate", "/sem/leases"} {
					create(path, openACL)(w)
					w.SetCounter(path, math.MaxInt32-before)
				}
			}, program, program, program, program)
			nothingLeft(t, h)
			if most != leases {
				t.Errorf("%d held a lease, there are %d", most, leases)
			}
		}
	}
}

func TestADoneContextLeavesNothingOfASemaphore(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	var held, gaveUp bool
	h := play(t, func(*sim.World) { held, gaveUp = false, false }, func(a actor) {
		s := a.semaphore(1)
		a.is("Acquire", s.Acquire(ctx), nil)
		held = true
		a.until(func() bool { return gaveUp })
		a.is("Release", quietly(s.Release(done)), nil)
	}, func(a actor) { // one is inside the gate, one before it
		s, other := a.semaphore(1), a.semaphore(1)
		a.until(func() bool { return held })
		a.is("Acquire with a done context", s.Acquire(done), context.Canceled)
		for range 3 {
			soon, stop := context.WithCancel(ctx)
			a.wanted = append(a.wanted, "lose-reply c2")
			ended := make(chan zk.Event, 1)
			a.env.Go("other", func() {
				a.is("Acquire of another", other.Acquire(soon), context.Canceled)
				ended <- zk.Event{}
			})
			a.env.Go("impatient", func() {
				a.until(func() bool { return a.random.IntN(60) == 0 })
				stop()
			})
			a.is("Acquire with a context that ends", s.Acquire(soon), context.Canceled)
			a.env.Await(ctx, ended)
			if len(s.Znodes())+len(other.Znodes()) > 0 {
				a.t.Errorf("know of %v and %v", s.Znodes(), other.Znodes())
			}
		}
		gaveUp = true
		a.is("Acquire", s.Acquire(ctx), nil)
		a.is("Release", s.Release(ctx), nil)
	})
	nothingLeft(t, h)
}

// While one waits for a lease, and others for the gate, a lost lease lets one in.
func TestALostLeaseIsFreeForOthers(t *testing.T) {
	var held, in int
	h := play(t, func(*sim.World) { held, in = 0, 0 }, func(a actor) {
		s := a.semaphore(1)
		a.is("Acquire", s.Acquire(ctx), nil)
		held = 1
		_, _, err := a.env.Await(ctx, s.Lost())
		a.is("Await", err, nil)
		a.is("Release", s.Release(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return held == 1 })
		s := a.semaphore(1)
		a.is("Acquire", s.Acquire(ctx), nil)
		in++
		a.is("Release", s.Release(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return held == 1 })
		a.happen("learn-late c1")
		s := a.semaphore(1)
		a.is("Acquire", s.Acquire(ctx), nil)
		in++
		a.is("Release", s.Release(ctx), nil)
	})
	nothingLeft(t, h)
	if in != 2 {
		t.Errorf("%d got in", in)
	}
}

func TestWithoutPermissionASemaphoreSaysSo(t *testing.T) {
	for _, path := range []string{"/sem/gate", "/sem/leases"} {
		h := play(t, func(w *sim.World) {
			create("/sem", openACL)(w)
			create(path, zk.WorldACL(zk.PermRead))(w)
		}, func(a actor) {
			s := a.semaphore(2)
			a.is("Acquire", s.Acquire(ctx), zk.ErrNoAuth)
			if len(s.Znodes()) > 0 {
				a.t.Errorf("knows of %v", s.Znodes())
			}
		})
		nothingLeft(t, h)
	}
}

func TestCloseEndsAWaitingSemaphore(t *testing.T) {
	var held, ended bool
	h := play(t, func(*sim.World) { held, ended = false, false }, func(a actor) {
		s := a.semaphore(1)
		a.is("Acquire", s.Acquire(ctx), nil)
		held = true
		a.until(func() bool { return ended })
		a.is("Release", s.Release(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return held })
		s := a.semaphore(1)
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(40) == 0 })
			a.Close()
		})
		if err := s.Acquire(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
			a.t.Errorf("Acquire: %v", err)
		}
		ended = true
	})
	nothingLeft(t, h)
}

// ExampleSemaphore lets two of three work at a time.
func ExampleSemaphore() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 3}, nil, func(c *sim.Client) {
		ctx := context.Background()
		begin := c.Env().Now()
		s := recipes.NewSemaphore(c.Conn(), c.Env(), "/sem", 2, recipes.LockOptions{})
		if err := s.Acquire(ctx); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("one works after", c.Env().Now().Sub(begin).Truncate(time.Minute)) // virtual time
		c.Env().Sleep(ctx, time.Minute)
		s.Release(ctx)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// one works after 0s
	// one works after 0s
	// one works after 1m0s
}
