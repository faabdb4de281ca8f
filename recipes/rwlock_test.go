package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func (a actor) rwlock() *recipes.RWLock {
	return recipes.NewRWLock(a.Conn, a.env, "/rw", recipes.LockOptions{})
}

func TestAnRWLockIsHeldInOneWayAtATime(t *testing.T) {
	h := play(t, nil, func(a actor) {
		l := a.rwlock()
		free := func(when string) {
			a.is("RUnlock "+when, l.RUnlock(ctx), recipes.ErrNotHeld)
			a.is("Unlock "+when, l.Unlock(ctx), recipes.ErrNotHeld)
			a.is("Downgrade "+when, l.Downgrade(ctx), recipes.ErrNotHeld)
			if l.Lost() != nil || l.Token() != 0 || l.Znodes() != nil {
				a.t.Errorf("%s: %v, %d, %v", when, l.Lost(), l.Token(), l.Znodes())
			}
		}
		held := func(znodes int) {
			for _, lock := range []func(context.Context) error{l.RLock, l.TryRLock, l.Lock, l.TryLock} {
				a.is("locking again", lock(ctx), recipes.ErrHeld)
			}
			if l.Lost() == nil || l.Token() == 0 || len(l.Znodes()) != znodes || len(l.Lost()) > 0 {
				a.t.Errorf("held: %v, %d, %v", l.Lost(), l.Token(), l.Znodes())
			}
		}
		free("at first")
		a.is("RLock", l.RLock(ctx), nil)
		held(1)
		a.is("Unlock of a reader", l.Unlock(ctx), recipes.ErrNotHeld)
		a.is("Downgrade of a reader", l.Downgrade(ctx), recipes.ErrNotHeld)
		a.is("RUnlock", l.RUnlock(ctx), nil)
		free("after RUnlock")
		a.is("Lock", l.Lock(ctx), nil)
		held(2)
		a.is("RUnlock of a writer", l.RUnlock(ctx), recipes.ErrNotHeld)
		token, lost := l.Token(), l.Lost()
		a.is("Downgrade", l.Downgrade(ctx), nil)
		held(1)
		if l.Token() != token || l.Lost() == lost {
			a.t.Errorf("token %d was %d", l.Token(), token)
		}
		a.is("Unlock after Downgrade", l.Unlock(ctx), recipes.ErrNotHeld)
		a.is("RUnlock after Downgrade", l.RUnlock(ctx), nil)
		free("after all")
		a.is("TryLock", l.TryLock(ctx), nil)
		a.is("Unlock", l.Unlock(ctx), nil)
		a.is("TryRLock", l.TryRLock(ctx), nil)
		a.is("RUnlock", l.RUnlock(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestReadersShareAndWritersExclude(t *testing.T) {
	for _, before := range []int32{math.MaxInt32, 5, 0} { // creates before the sequence numbers end
		var readers, writers, together int
		program := func(a actor) {
			l := a.rwlock()
			for r := range 4 {
				if (r+len(l.Znodes()))%2 == 0 {
					a.is("RLock", l.RLock(ctx), nil)
					readers++
					together = max(together, readers)
					if writers > 0 {
						a.t.Errorf("%d readers with %d writers", readers, writers)
					}
					for range 10 {
						a.env.Now()
					}
					readers--
					a.is("RUnlock", l.RUnlock(ctx), nil)
					continue
				}
				a.is("Lock", l.Lock(ctx), nil)
				if writers++; writers+readers != 1 {
					a.t.Errorf("%d writers with %d readers", writers, readers)
				}
				a.env.Now()
				writers--
				if r == 1 {
					a.is("Unlock", l.Unlock(ctx), nil)
					continue
				}
				a.is("Downgrade", l.Downgrade(ctx), nil)
				readers++
				if writers > 0 {
					a.t.Errorf("%d readers with %d writers after Downgrade", readers, writers)
				}
				a.env.Now()
				readers--
				a.is("RUnlock", l.RUnlock(ctx), nil)
			}
		}
		h := play(t, func(w *sim.World) {
			create("/rw", openACL)(w)
			w.SetCounter("/rw", math.MaxInt32-before)
		}, program, program, program)
		nothingLeft(t, h)
		if together < 2 {
			t.Error("readers never shared the lock")
		}
	}
}

// arrivals has actors come one after another, and notes the order in which they get in.
type arrivals struct {
	came int
	in   []string
	out  bool
}

// next waits for the turn to come, and gets in.
func (q *arrivals) next(a actor, i int, who string, lock func(context.Context) error) {
	a.until(func() bool { return q.came == i })
	a.env.Go("come", func() {
		a.until(func() bool { // its znode is there
			names, _, err := a.Children("/rw")
			return err == nil && strings.Count(strings.Join(names, " ")+" ", "-read-") == i+1
		})
		q.came++
	})
	a.is(who, lock(ctx), nil)
	q.in = append(q.in, who)
}

func TestTheQueueIsFair(t *testing.T) {
	var q arrivals
	h := play(t, func(w *sim.World) { q = arrivals{}; create("/rw", openACL)(w) }, func(a actor) {
		l := a.rwlock()
		q.next(a, 0, "reader 1", l.RLock)
		a.until(func() bool { return q.came == 4 })
		if !slices.Equal(q.in, []string{"reader 1"}) {
			a.t.Errorf("a reader went past a waiting writer: %v", q.in)
		}
		a.is("RUnlock", l.RUnlock(ctx), nil)
	}, func(a actor) {
		l := a.rwlock()
		q.next(a, 1, "writer 2", l.Lock)
		if len(q.in) != 2 {
			a.t.Errorf("%v", q.in)
		}
		a.is("Downgrade", l.Downgrade(ctx), nil)
		a.until(func() bool { return len(q.in) == 3 }) // the reader behind comes in
		for range 100 {
			a.env.Now()
		}
		if q.in[2] != "reader 3" {
			a.t.Errorf("after the downgrade: %v", q.in)
		}
		q.out = true
		a.is("RUnlock", l.RUnlock(ctx), nil)
	}, func(a actor) {
		l := a.rwlock()
		q.next(a, 2, "reader 3", l.RLock)
		a.is("RUnlock", l.RUnlock(ctx), nil)
	}, func(a actor) {
		l := a.rwlock()
		q.next(a, 3, "writer 4", l.Lock)
		if !q.out {
			a.t.Error("a writer came in after a downgrade")
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestTryRLockIsRefusedByWritersOnly(t *testing.T) {
	var step int
	h := play(t, func(*sim.World) { step = 0 }, func(a actor) {
		l := a.rwlock()
		a.is("RLock", l.RLock(ctx), nil)
		step = 1
		a.until(func() bool { return step == 2 })
		a.is("RUnlock", l.RUnlock(ctx), nil)
		a.is("Lock", l.Lock(ctx), nil)
		step = 3
		a.until(func() bool { return step == 4 })
		a.is("Downgrade", l.Downgrade(ctx), nil)
		step = 5
		a.until(func() bool { return step == 6 })
		a.is("RUnlock", l.RUnlock(ctx), nil)
	}, func(a actor) {
		l := a.rwlock()
		for _, x := range []struct {
			step        int
			read, write error
		}{{1, nil, recipes.ErrLocked}, {3, recipes.ErrLocked, recipes.ErrLocked}, {5, nil, recipes.ErrLocked}} {
			a.until(func() bool { return step == x.step })
			a.is("TryLock", l.TryLock(ctx), x.write)
			if err := l.TryRLock(ctx); err != x.read {
				a.t.Errorf("step %d: TryRLock: %v", x.step, err)
			} else if err == nil {
				a.is("RUnlock", l.RUnlock(ctx), nil)
			}
			if len(l.Znodes()) > 0 {
				a.t.Errorf("knows of %v", l.Znodes())
			}
			step++
		}
	})
	nothingLeft(t, h)
}

// Two objects of one goroutine are two contenders.
func TestASecondObjectIsAnotherContender(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		h := play(t, nil, func(a actor) {
			l, m := a.lock(lock), lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			a.is("TryLock of another object", m.TryLock(ctx), recipes.ErrLocked)
			a.is("Unlock of another object", m.Unlock(ctx), recipes.ErrNotHeld)
			a.is("Unlock", l.Unlock(ctx), nil)
		})
		nothingLeft(t, h)
	})
}

// A downgrade survives a lost connection, and says so if the session has ended.
func TestADowngradeEndsInOneOfTwoWays(t *testing.T) {
	for fault, want := range map[string]error{"lose-reply c1": nil, "lose-request c1": nil, "disconnect c1": nil,
		"learn-late c1": recipes.ErrLost} {
		t.Run(fault, func(t *testing.T) {
			var begun, struck bool
			h := play(t, func(*sim.World) { begun, struck = false, false }, func(a actor) {
				l := a.rwlock()
				a.is("Lock", l.Lock(ctx), nil)
				begun = true
				if want != nil {
					a.until(func() bool { return struck })
				}
				a.is("Downgrade", l.Downgrade(ctx), want)
				if (l.Lost() == nil) != (want != nil) || len(l.Znodes()) == 0 != (want != nil) {
					a.t.Errorf("%v, %v", l.Lost(), l.Znodes())
				}
				if want == nil {
					a.is("RUnlock", l.RUnlock(ctx), nil)
				}
				a.is("Lock again", l.Lock(ctx), nil)
				a.is("Unlock", l.Unlock(ctx), nil)
			}, func(a actor) {
				a.until(func() bool { return begun })
				a.happen(fault)
				struck = true
			})
			nothingLeft(t, h)
		})
	}
}

func TestADoneContextLeavesNothingOfAnRWLock(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	var held, gaveUp bool
	h := play(t, func(*sim.World) { held, gaveUp = false, false }, func(a actor) {
		l := a.rwlock()
		a.is("Lock", l.Lock(ctx), nil)
		held = true
		a.until(func() bool { return gaveUp })
		if err := l.Downgrade(done); err == nil {
			a.is("RUnlock", l.RUnlock(done), nil)
		} else {
			a.is("Downgrade with a done context", err, context.Canceled)
			a.is("RUnlock after that", l.RUnlock(ctx), recipes.ErrNotHeld)
		}
	}, func(a actor) {
		a.until(func() bool { return held })
		l := a.rwlock()
		for range 3 {
			for _, lock := range []func(context.Context) error{l.Lock, l.RLock} {
				soon, stop := context.WithCancel(ctx)
				a.wanted = append(a.wanted, "lose-reply c2")
				a.env.Go("impatient", func() {
					a.until(func() bool { return a.random.IntN(30) == 0 })
					stop()
				})
				a.is("locking with a context that ends", lock(soon), context.Canceled)
			}
		}
		a.is("Lock with a done context", l.Lock(done), context.Canceled)
		gaveUp = true
		a.is("Lock", l.Lock(ctx), nil)
		a.is("Unlock", quietly(l.Unlock(done)), nil)
	})
	nothingLeft(t, h)
}

// Of two znodes whose creation is not answered an operator deletes one.
func TestHalfAPlaceIsNone(t *testing.T) {
	h := play(t, create("/rw", openACL), func(a actor) {
		l := a.rwlock()
		a.wanted = append(a.wanted, "lose-reply c1")
		a.is("Lock", l.Lock(ctx), nil)
		if len(l.Znodes()) != 2 {
			a.t.Errorf("holds the lock by %v", l.Znodes())
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	}, func(a actor) {
		a.until(func() bool {
			names, _, err := a.Children("/rw")
			for _, name := range names {
				if strings.Contains(name, "-write-") {
					err = a.Delete("/rw/"+name, -1)
					return err == nil
				}
			}
			return err != nil
		})
	})
	nothingLeft(t, h)
}

func TestAnRWLockMakesItsParentsWithItsACL(t *testing.T) {
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	h := play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		l := recipes.NewRWLock(a.Conn, a.env, "/apps/mine/rw", recipes.LockOptions{ACL: mine, Data: []byte("me")})
		a.is("Lock", l.Lock(ctx), nil)
		for _, path := range append(l.Znodes(), "/apps", "/apps/mine/rw") {
			acl, _, err := a.GetACL(path)
			if err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
		for _, path := range l.Znodes() {
			if data, _, err := a.Get(path); err != nil || string(data) != "me" {
				a.t.Errorf("%s: %s, %v", path, data, err)
			}
		}
		a.is("Unlock", l.Unlock(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { ok, _, err := a.Exists("/apps/mine/rw"); return ok && err == nil })
		l := recipes.NewRWLock(a.Conn, a.env, "/apps/mine/rw", recipes.LockOptions{})
		a.is("Lock by a stranger", l.Lock(ctx), zk.ErrNoAuth)
		a.is("RLock by a stranger", l.RLock(ctx), zk.ErrNoAuth)
	})
	nothingLeft(t, h)
}

func TestCloseEndsAnRWLock(t *testing.T) {
	h := play(t, nil, func(a actor) {
		l := a.rwlock()
		a.is("Lock", l.Lock(ctx), nil)
		a.Close()
		if _, _, err := a.env.Await(ctx, l.Lost()); err != nil {
			a.t.Error(err)
		}
		if err := l.Downgrade(ctx); !errors.Is(err, zk.ErrClosing) && !errors.Is(err, zk.ErrConnectionClosed) {
			a.t.Errorf("Downgrade: %v", err)
		}
		a.is("RLock", l.RLock(ctx), zk.ErrClosing)
		a.is("RUnlock", l.RUnlock(ctx), recipes.ErrNotHeld)
	})
	nothingLeft(t, h)
}

// ExampleRWLock reads on, together with others, what it has written.
func ExampleRWLock() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		ctx := context.Background()
		lock := recipes.NewRWLock(c.Conn(), c.Env(), "/rw", recipes.LockOptions{})
		if c.Name() == "c1" {
			fmt.Println("c1 writes:", lock.Lock(ctx))
			c.Env().Sleep(ctx, time.Minute) // virtual time, as all here
			fmt.Println("c1 reads on:", lock.Downgrade(ctx))
			c.Env().Sleep(ctx, time.Minute)
			fmt.Println("c1 is done:", lock.RUnlock(ctx))
			return
		}
		c.Env().Sleep(ctx, time.Second)
		fmt.Println("c2 reads:", lock.RLock(ctx))
		lock.RUnlock(ctx)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// c1 writes: <nil>
	// c2 reads: <nil>
	// c1 reads on: <nil>
	// c1 is done: <nil>
}
