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

var openACL = zk.WorldACL(zk.PermAll)

func TestALockIsNotReentrant(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		h := play(t, nil, func(a actor) {
			l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			a.is("Unlock before Lock", l.Unlock(ctx), recipes.ErrNotHeld)
			if l.Lost() != nil || l.Token() != 0 || l.Znodes() != nil {
				a.t.Errorf("before Lock: %v, %d, %v", l.Lost(), l.Token(), l.Znodes())
			}
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Lock again", l.Lock(ctx), recipes.ErrHeld)
			a.is("TryLock again", l.TryLock(ctx), recipes.ErrHeld)
			if l.Lost() == nil || l.Token() == 0 || len(l.Znodes()) == 0 || len(l.Lost()) > 0 {
				a.t.Errorf("held: %v, %d, %v", l.Lost(), l.Token(), l.Znodes())
			}
			a.is("Unlock", l.Unlock(ctx), nil)
			a.is("Unlock again", l.Unlock(ctx), recipes.ErrNotHeld)
			if l.Lost() != nil || l.Token() != 0 || l.Znodes() != nil {
				a.t.Errorf("after Unlock: %v, %d, %v", l.Lost(), l.Token(), l.Znodes())
			}
			a.is("TryLock", l.TryLock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
		})
		nothingLeft(t, h)
	})
}

func TestTryLockDoesNotWait(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		var held, tried bool
		h := play(t, func(*sim.World) { held, tried = false, false }, func(a actor) {
			l := a.lock(lock)
			held = true
			a.until(func() bool { return tried })
			a.is("Unlock", l.Unlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return held })
			l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			a.is("TryLock", l.TryLock(ctx), recipes.ErrLocked)
			if len(l.Znodes()) > 0 {
				a.t.Errorf("knows of %v", l.Znodes())
			}
			tried = true
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
		})
		nothingLeft(t, h)
	})
}

func TestADoneContextLeavesNothingBehind(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	bothLocks(t, func(t *testing.T, lock maker) {
		var held, gaveUp bool
		h := play(t, func(*sim.World) { held, gaveUp = false, false }, func(a actor) {
			l := a.lock(lock)
			held = true
			a.until(func() bool { return gaveUp })
			a.is("Unlock", l.Unlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return held })
			l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			before, _, err := a.Children("/lock")
			a.is("Children", err, nil)
			a.is("Lock with a done context", l.Lock(done), context.Canceled)

			soon, end := a.env.WithTimeout(ctx, time.Second)
			a.is("Lock with a timeout", l.Lock(soon), context.DeadlineExceeded)
			end()

			waiting, stop := context.WithCancel(ctx)
			a.env.Go("impatient", func() {
				a.until(func() bool { return len(a.world.Clients()) > 0 && a.random.IntN(30) == 0 })
				stop()
			})
			a.is("Lock with a context that ends", l.Lock(waiting), context.Canceled)
			stop()
			if len(l.Znodes()) > 0 || l.Lost() != nil {
				a.t.Errorf("knows of %v", l.Znodes())
			}
			a.until(func() bool { after, _, err := a.Children("/lock"); return len(after) == len(before) && err == nil })
			a.is("Lock with a done context, from the queue", l.TryLock(done), context.Canceled)
			gaveUp = true
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Unlock with a done context", quietly(l.Unlock(done)), nil)
		})
		nothingLeft(t, h)
	})
}

// quietly forgets the error that says that it is done in the background.
func quietly(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func TestLostTellsTheEndOfCertainty(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		for name, x := range map[string]struct {
			strike func(other actor, znode string)
			want   zk.EventType
		}{
			"disconnect":                  {func(other actor, _ string) { other.happen("disconnect c1") }, zk.EventSession},
			"expiry that is learned late": {func(other actor, _ string) { other.happen("learn-late c1") }, 0},
			"deletion by an operator": {func(other actor,
				znode string) {
				other.is("Delete", other.Delete(znode, -1), nil)
			}, zk.EventNodeDeleted},
			"write, and then the operator": {writeThenDelete, zk.EventNodeDeleted},
			"write, and then a disconnect": {writeThenDisconnect, zk.EventSession},
			"disconnect during a reconnect": {func(other actor,
				_ string) {
				other.happen("disconnect c1")
				other.happen("disconnect c1")
			}, zk.EventSession},
		} {
			t.Run(name, func(t *testing.T) {
				var znode string
				play(t, func(*sim.World) { znode = "" }, func(a actor) {
					l := a.lock(lock)
					token := l.Token()
					znode = l.Znodes()[len(l.Znodes())-1]
					_, ev, err := a.env.Await(ctx, l.Lost())
					if err != nil || x.want != 0 && ev.Type != x.want {
						a.t.Errorf("lost with %+v, %v; want %v", ev, err, x.want)
					}
					if _, open := <-l.Lost(); open {
						a.t.Error("Lost is not closed")
					}
					a.is("Lock of a lost lock", l.Lock(ctx), recipes.ErrHeld)
					a.is("Unlock", l.Unlock(ctx), nil)
					if strings.Contains(name, "operator") {
						return // the lock node of the single-node lock is still there
					}
					a.is("Lock", l.Lock(ctx), nil)
					if l.Token() <= token {
						a.t.Errorf("token %d after %d", l.Token(), token)
					}
					a.is("Unlock", l.Unlock(ctx), nil)
				}, func(a actor) {
					a.until(func() bool { return znode != "" })
					x.strike(a, znode)
				})
			})
		}
	})
}

func writeThenDelete(other actor, znode string) {
	for range 3 {
		_, err := other.Set(znode, []byte("hello"), -1)
		other.is("Set", err, nil)
	}
	other.is("Delete", other.Delete(znode, -1), nil)
}

func writeThenDisconnect(other actor, znode string) {
	_, err := other.Set(znode, []byte("hello"), -1)
	other.is("Set", err, nil)
	other.happen("disconnect c1")
}

func TestAWriteToTheZnodeIsNoLoss(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		var znode string
		var written bool
		h := play(t, func(*sim.World) { znode, written = "", false }, func(a actor) {
			l := a.lock(lock)
			znode = l.Znodes()[len(l.Znodes())-1]
			a.until(func() bool { return written })
			for range 100 {
				a.env.Now()
			}
			if len(l.Lost()) > 0 {
				a.t.Errorf("lost with %+v", <-l.Lost())
			}
			a.is("Unlock", l.Unlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return znode != "" })
			for range 5 {
				_, err := a.Set(znode, []byte("hello"), -1)
				a.is("Set", err, nil)
			}
			written = true
		})
		nothingLeft(t, h)
	})
}

func TestTokensNeverGoBack(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		var tokens []int64
		rounds := func(a actor) {
			l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			for range 3 {
				a.is("Lock", l.Lock(ctx), nil)
				tokens = append(tokens, l.Token())
				a.is("Unlock", l.Unlock(ctx), nil)
				a.Delete("/lock", -1) // with the parent the sequence numbers begin anew
			}
		}
		play(t, func(*sim.World) { tokens = nil }, rounds, rounds, rounds)
		if len(tokens) < 3 || !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) {
			t.Errorf("%v", tokens)
		}
	})
}

func TestContendersAreListedInOrder(t *testing.T) {
	for _, counter := range []int32{0, math.MaxInt32 - 2} {
		var holders []string
		held, asked := false, false
		contend := func(a actor, data string) {
			l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{Data: []byte(data)})
			a.is("Lock", l.Lock(ctx), nil)
			holders = append(holders, data)
			held = true
			a.until(func() bool { return asked })
			a.is("Unlock", l.Unlock(ctx), nil)
		}
		var listed []string
		play(t, func(w *sim.World) {
			holders, listed, held, asked = nil, nil, false, false
			create("/lock", openACL)(w)
			create("/lock/not-a-contender", openACL)(w)
			create("/lock/lock-x", openACL)(w)
			w.SetCounter("/lock", counter)
		}, func(a actor) {
			l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			if all, err := recipes.NewLock(a.Conn, a.env, "/none", recipes.LockOptions{}).Contenders(ctx); len(all) > 0 ||
				err != nil {
				a.t.Errorf("of a lock that nobody has used: %q, %v", all, err)
			}
			a.until(func() bool { return held })
			var all [][]byte
			a.until(func() (full bool) {
				var err error
				all, err = l.Contenders(ctx)
				a.is("Contenders", err, nil)
				return len(all) == 4
			})
			for _, data := range all {
				listed = append(listed, string(data))
			}
			asked = true
			a.until(func() bool { return len(holders) == 4 })
			if !slices.Equal(listed, holders) {
				a.t.Errorf("counter %d: listed %v, but %v had it", counter, listed, holders)
			}
		}, func(a actor) { contend(a, "b") }, func(a actor) { contend(a, "c") }, func(a actor) { contend(a, "d") },
			func(a actor) { contend(a, "e") })
	}
}

func TestMissingParentsAreMade(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		use := func(a actor) {
			l := lock(a.Conn, a.env, "/apps/mine/locks/one", recipes.LockOptions{})
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
		}
		h := play(t, nil, use, use, use)
		nothingLeft(t, h)
		var paths []string
		for _, n := range h.Tree {
			paths = append(paths, n.Path)
		}
		if !strings.Contains(strings.Join(paths, " "), "/apps /apps/mine /apps/mine/locks /apps/mine/locks/one") {
			t.Errorf("%v", paths)
		}
	})
}

func TestTheOrderIsKeptWhereSequenceNumbersEnd(t *testing.T) {
	inside := 0
	program := func(a actor) {
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		for range 3 {
			a.is("Lock", l.Lock(ctx), nil)
			if inside++; inside != 1 {
				a.t.Errorf("%d hold the lock", inside)
			}
			a.env.Now()
			inside--
			a.is("Unlock", l.Unlock(ctx), nil)
		}
	}
	for before := range int32(4) {
		h := play(t, func(w *sim.World) {
			inside = 0
			create("/lock", openACL)(w)
			w.SetCounter("/lock", math.MaxInt32-before)
		}, program, program, program, program)
		nothingLeft(t, h)
	}
}

func TestWithoutPermissionTheErrorIsReturnedAndNothingLeaks(t *testing.T) {
	done := []error{zk.ErrNoAuth}
	bothLocks(t, func(t *testing.T, lock maker) {
		for _, x := range []struct {
			perms int32
			fails []error // of the lock, of the single-node lock
		}{
			{zk.PermRead, done},
			{zk.PermRead | zk.PermDelete, done},
			{zk.PermCreate | zk.PermDelete, nil}, // the single-node lock does not list
		} {
			h := play(t, create("/lock", zk.WorldACL(x.perms)), func(a actor) {
				l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
				err := l.Lock(ctx)
				if _, isSingle := l.(*recipes.SingleNodeLock); isSingle && x.fails == nil {
					a.is("Lock", err, nil)
					a.is("Unlock", l.Unlock(ctx), nil)
					return
				}
				a.is("Lock", err, zk.ErrNoAuth)
				if len(l.Znodes()) > 0 {
					a.t.Errorf("knows of %v", l.Znodes())
				}
			})
			nothingLeft(t, h)
		}
		// The lock's own ACL is for its znodes.
		mine := zk.DigestACL(zk.PermAll, "me", "secret")
		h := play(t, nil, func(a actor) {
			a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
			l := lock(a.Conn, a.env, "/mine", recipes.LockOptions{ACL: mine})
			a.is("Lock", l.Lock(ctx), nil)
			acl, _, err := a.GetACL(l.Znodes()[0])
			if err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%v, %v", acl, err)
			}
			a.is("Unlock", l.Unlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { ok, _, err := a.Exists("/mine"); return ok && err == nil })
			a.is("Lock by a stranger", lock(a.Conn, a.env, "/mine", recipes.LockOptions{}).Lock(ctx), zk.ErrNoAuth)
		})
		nothingLeft(t, h)
	})
}

func TestCloseEndsAWaitingLock(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		var held, ended bool
		h := play(t, func(*sim.World) { held, ended = false, false }, func(a actor) {
			l := a.lock(lock)
			held = true
			a.until(func() bool { return ended })
			a.is("Unlock", l.Unlock(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return held })
			l := lock(a.Conn, a.env, "/lock", recipes.LockOptions{})
			a.env.Go("closer", func() {
				a.until(func() bool { return a.random.IntN(40) == 0 })
				a.Close()
			})
			if err := l.Lock(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
				a.t.Errorf("Lock: %v", err)
			}
			a.is("Lock again", l.Lock(ctx), zk.ErrClosing)
			ended = true
		})
		nothingLeft(t, h) // play has seen that no coroutine remains
	})
}

func TestCloseWhileHeldIsALoss(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		h := play(t, nil, func(a actor) {
			l := a.lock(lock)
			a.Close()
			if _, _, err := a.env.Await(ctx, l.Lost()); err != nil {
				a.t.Error(err)
			}
			if err := l.Unlock(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
				a.t.Errorf("Unlock: %v", err)
			}
			a.is("Unlock again", l.Unlock(ctx), recipes.ErrNotHeld)
		})
		nothingLeft(t, h)
	})
}

// counting is an Env that counts the session events that were asked for and have
// not come.
type counting struct {
	recipes.Env
	asked []<-chan zk.Event
}

func (c *counting) SessionEvents() <-chan zk.Event {
	ch := c.Env.SessionEvents()
	c.asked = append(c.asked, ch)
	return ch
}

func (c *counting) pending() (n int) {
	for _, ch := range c.asked {
		if len(ch) == 0 {
			select {
			case <-ch: // closed: its event was received
			default:
				n++
			}
		}
	}
	return n
}

func TestAStableSessionDoesNotPileUpSessionEvents(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		w := sim.NewWorld()
		defer w.Close()
		w.Reset(sim.Config{Clients: 1, SafetySteps: 1e7, MaxSteps: 1e7}, nil, func(c *sim.Client) {
			env := &counting{Env: c.Env()}
			l := lock(c.Conn(), env, "/lock", recipes.LockOptions{})
			for range 2000 {
				if err := errors.Join(l.Lock(ctx), l.Unlock(ctx)); err != nil {
					t.Error(err)
				}
			}
			if n := env.pending(); n > 2 {
				t.Errorf("%d channels wait for a change of state, of %d", n, len(env.asked))
			}
		})
		if err := w.Run(&sim.Replay{}); err != nil {
			t.Fatal(err)
		}
	})
}

// ExampleLock runs a lock in the simulator. With a real ensemble conn and env
// come from live.Dial, and nothing else changes.
func ExampleLock() {
	program := func(conn recipes.Conn, env recipes.Env, who string) {
		if who == "c2" {
			env.Sleep(context.Background(), time.Second) // virtual time, as all here
		}
		lock := recipes.NewLock(conn, env, "/lock", recipes.LockOptions{Data: []byte(who)})
		if err := lock.Lock(context.Background()); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(who, "has the lock")
		env.Sleep(context.Background(), time.Minute)
		fmt.Println(who, "is done")
		if err := lock.Unlock(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) { program(c.Conn(), c.Env(), c.Name()) })
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// c1 has the lock
	// c1 is done
	// c2 has the lock
	// c2 is done
}

// An operator has deleted the lock: what proves possession must not stay.
func TestUnlockingABrokenSingleNodeLockLeavesNothing(t *testing.T) {
	play(t, nil, func(a actor) {
		l := singleLock(a)
		a.is("Lock", l.Lock(ctx), nil)
		a.is("Delete", a.Delete("/lock/lock", -1), nil)
		a.is("Unlock", l.Unlock(ctx), nil)
		if names, _, err := a.Children("/lock"); len(names) > 0 || err != nil {
			a.t.Errorf("left behind: %v, %v", names, err)
		}
	})
}
