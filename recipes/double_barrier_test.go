package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
	"zksim/sim"
)

// allLeavings runs a test with each way to leave.
func allLeavings(t *testing.T, f func(t *testing.T, how recipes.Leaving)) {
	for how, name := range []string{"lowest", "naive", "sequential"} {
		t.Run(name, func(t *testing.T) { f(t, recipes.Leaving(how)) })
	}
}

func (a actor) double(n int, how recipes.Leaving) *recipes.DoubleBarrier {
	return recipes.NewDoubleBarrier(a.Conn, a.env, "/apps/double", n, recipes.DoubleBarrierOptions{Leaving: how})
}

// repeat is n programs that are the same.
func repeat(n int, program func(a actor)) (all []func(a actor)) {
	for range n {
		all = append(all, program)
	}
	return all
}

func TestAllAreInsideTogetherRoundAfterRound(t *testing.T) {
	allLeavings(t, func(t *testing.T, how recipes.Leaving) {
		var begun, leaving [3]int
		var rounds [3]map[int64]bool
		h := play(t, func(*sim.World) {
			begun, leaving = [3]int{}, [3]int{}
			rounds = [3]map[int64]bool{{}, {}, {}}
		}, repeat(4, func(a actor) {
			d := a.double(4, how)
			for r := range 3 {
				begun[r]++
				a.is("Enter", d.Enter(ctx), nil)
				if begun[r] != 4 {
					a.t.Errorf("inside with %d", begun[r])
				}
				rounds[r][d.Round()] = true
				leaving[r]++
				a.is("Leave", d.Leave(ctx), nil)
				if leaving[r] != 4 {
					a.t.Errorf("outside after %d", leaving[r])
				}
			}
		})...)
		nothingLeft(t, h)
		var numbers []int64
		for _, r := range rounds {
			if len(r) != 1 {
				t.Errorf("one round has the numbers %v", r)
			}
			for n := range r {
				numbers = append(numbers, n)
			}
		}
		if !slices.IsSorted(numbers) || numbers[0] == 0 {
			t.Errorf("rounds %v", numbers)
		}
	})
}

func TestADoubleBarrierKnowsWhetherItIsInside(t *testing.T) {
	allLeavings(t, func(t *testing.T, how recipes.Leaving) {
		h := play(t, nil, func(a actor) {
			d := a.double(0, how) // which is one
			outside := func(when string) {
				a.is("Leave "+when, d.Leave(ctx), recipes.ErrOutside)
				if d.Lost() != nil || d.Round() != 0 || d.Znodes() != nil {
					a.t.Errorf("%s: %v, %d, %v", when, d.Lost(), d.Round(), d.Znodes())
				}
			}
			outside("before Enter")
			for range 2 {
				a.is("Enter", d.Enter(ctx), nil)
				a.is("Enter again", d.Enter(ctx), recipes.ErrInside)
				if d.Lost() == nil || len(d.Lost()) > 0 || d.Round() == 0 || len(d.Znodes()) != 1 {
					a.t.Errorf("inside: %v, %d, %v", d.Lost(), d.Round(), d.Znodes())
				}
				a.is("Leave", d.Leave(ctx), nil)
				outside("after Leave")
			}
		})
		nothingLeft(t, h)
	})
}

func TestTheOneTooManyWaitsForTheNextRound(t *testing.T) {
	allLeavings(t, func(t *testing.T, how recipes.Leaving) {
		var inside, most int
		h := play(t, func(*sim.World) { inside, most = 0, 0 }, repeat(4, func(a actor) {
			d := a.double(2, how)
			a.is("Enter", d.Enter(ctx), nil)
			inside++
			most = max(most, inside)
			for range 10 {
				a.env.Now()
			}
			inside--
			a.is("Leave", d.Leave(ctx), nil)
		})...)
		nothingLeft(t, h)
		if most != 2 {
			t.Errorf("%d were inside at once", most)
		}
	})
}

func TestWhoGivesUpIsNotCounted(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	var gaveUp, other bool
	h := play(t, func(*sim.World) { gaveUp, other = false, false }, func(a actor) {
		d := a.double(2, recipes.LeaveLowest)
		a.is("Enter with a done context", d.Enter(done), context.Canceled)
		soon, end := a.env.WithTimeout(ctx, time.Second)
		a.is("Enter with a timeout", d.Enter(soon), context.DeadlineExceeded)
		end()
		waiting, stop := context.WithCancel(ctx)
		a.env.Go("impatient", func() {
			a.until(func() bool { return a.random.IntN(30) == 0 })
			stop()
		})
		a.is("Enter with a context that ends", d.Enter(waiting), context.Canceled)
		stop()
		names, _, err := a.Children("/apps/double")
		if err != nil && err != zk.ErrNoNode ||
			slices.ContainsFunc(names, func(name string) bool { return name != "ready" }) || d.Znodes() != nil {
			a.t.Errorf("left behind: %v, %v, %v", names, d.Znodes(), err)
		}
		gaveUp = true
		a.until(func() bool { return other })
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave with a done context", quietly(d.Leave(done)), nil)
		a.is("Leave again", d.Leave(ctx), recipes.ErrOutside)
	}, func(a actor) {
		a.until(func() bool { return gaveUp })
		d := a.double(2, recipes.LeaveLowest)
		soon, end := a.env.WithTimeout(ctx, time.Second)
		a.is("Enter alone", d.Enter(soon), context.DeadlineExceeded)
		end()
		other = true
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave", d.Leave(ctx), nil)
	})
	nothingLeft(t, h)
}

// The others need not wait for who crashed or lost its session inside.
func TestTheEndOfASessionInsideHoldsNobodyUp(t *testing.T) {
	for _, fault := range []string{"crash c1", "learn-late c1"} {
		allLeavings(t, func(t *testing.T, how recipes.Leaving) {
			inside := 0
			h := play(t, func(*sim.World) { inside = 0 }, func(a actor) {
				d := a.double(4, how)
				a.is("Enter", d.Enter(ctx), nil)
				inside++
				_, ev, err := a.env.Await(ctx, d.Lost())
				if err != nil || ev.Type != zk.EventSession && ev.Type != zk.EventNodeDeleted && ev.Type != zk.EventNotWatching {
					a.t.Errorf("lost with %+v, %v", ev, err)
				}
				a.is("Leave", d.Leave(ctx), nil)
			}, func(a actor) {
				d := a.double(4, how)
				a.is("Enter", d.Enter(ctx), nil)
				inside++
				a.until(func() bool { return inside == 4 })
				a.happen(fault)
				a.is("Leave", d.Leave(ctx), nil)
			}, outlive(how, &inside), outlive(how, &inside))
			nothingLeft(t, h)
		})
	}
}

func outlive(how recipes.Leaving, inside *int) func(a actor) {
	return func(a actor) {
		d := a.double(4, how)
		a.is("Enter", d.Enter(ctx), nil)
		*inside++
		a.is("Leave", d.Leave(ctx), nil)
	}
}

// The session ends while the client waits to enter: it takes part with a new znode.
func TestEnterOutlivesItsSession(t *testing.T) {
	var struck bool
	h := play(t, func(*sim.World) { struck = false }, func(a actor) {
		d := a.double(2, recipes.LeaveLowest)
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave", d.Leave(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return watches(a.world.History, 1, "getW") })
		a.happen("learn-late c1")
		struck = true
		d := a.double(2, recipes.LeaveLowest)
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave", d.Leave(ctx), nil)
	})
	if !struck {
		t.Error("no session ended")
	}
	nothingLeft(t, h)
}

// An operator deletes the znode of a client that waits: it comes with a new one,
// whether it waits for others or for the end of the round before.
func TestEnterOutlivesItsZnode(t *testing.T) {
	for _, n := range []int{1, 2} {
		var waiting, deleted bool
		h := play(t, func(*sim.World) { waiting, deleted = false, false }, func(a actor) {
			d := a.double(n, recipes.LeaveLowest)
			if n == 1 {
				a.is("Enter", d.Enter(ctx), nil)
			}
			waiting = true
			a.until(func() bool { return deleted })
			if n == 2 {
				a.is("Enter", d.Enter(ctx), nil)
			}
			a.is("Leave", d.Leave(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return waiting })
			d := a.double(n, recipes.LeaveLowest)
			a.env.Go("operator", func() {
				var own string
				a.until(func() bool {
					if z := d.Znodes(); len(z) > 0 {
						own = z[0]
					}
					return own != "" && watches(a.world.History, 2, "getW")
				})
				for range 30 {
					a.env.Now()
				}
				a.is("Delete", a.Delete(own, -1), nil)
				deleted = true
			})
			a.is("Enter", d.Enter(ctx), nil)
			a.is("Leave", d.Leave(ctx), nil)
		})
		nothingLeft(t, h)
	}
}

func TestADoubleBarrierReturnsWhatWaitingDoesNotCure(t *testing.T) {
	for _, perms := range []int32{zk.PermRead | zk.PermDelete, zk.PermCreate | zk.PermDelete} {
		h := play(t, func(w *sim.World) {
			create("/apps", openACL)(w)
			create("/apps/double", zk.WorldACL(perms))(w)
		}, func(a actor) {
			d := a.double(1, recipes.LeaveLowest)
			a.is("Enter", d.Enter(ctx), zk.ErrNoAuth)
			if d.Znodes() != nil {
				a.t.Errorf("knows of %v", d.Znodes())
			}
		})
		nothingLeft(t, h)
	}
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	h := play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		d := recipes.NewDoubleBarrier(a.Conn, a.env, "/apps/double", 1, recipes.DoubleBarrierOptions{ACL: mine})
		a.is("Enter", d.Enter(ctx), nil)
		for _, path := range []string{"/apps", "/apps/double", "/apps/double/ready", d.Znodes()[0]} {
			if acl, _, err := a.GetACL(path); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
		a.is("Leave", d.Leave(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestCloseEndsADoubleBarrier(t *testing.T) {
	allLeavings(t, func(t *testing.T, how recipes.Leaving) {
		inside := false
		h := play(t, func(*sim.World) { inside = false }, func(a actor) {
			d := a.double(2, how)
			a.is("Enter", d.Enter(ctx), nil)
			a.env.Go("closer", func() {
				a.until(func() bool { return a.random.IntN(40) == 0 && inside })
				a.Close()
			})
			if err := d.Leave(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
				a.t.Errorf("Leave: %v", err)
			}
			a.is("Leave again", d.Leave(ctx), recipes.ErrOutside)
			a.is("Enter", d.Enter(ctx), zk.ErrClosing)
		}, func(a actor) {
			d := a.double(2, how)
			a.is("Enter", d.Enter(ctx), nil)
			inside = true
			a.until(func() bool { return !a.world.Clients()[0].HasSession() })
			a.is("Leave", d.Leave(ctx), nil)
		})
		nothingLeft(t, h)
	})
}

// Other children of the znode are nobody's members, and a barrier whose znodes an
// operator has deleted is made anew.
func TestADoubleBarrierMakesWhatItNeeds(t *testing.T) {
	h := play(t, func(w *sim.World) {
		for _, path := range []string{"/apps", "/apps/double", "/apps/double/stranger"} {
			create(path, openACL)(w)
		}
	}, repeat(2, func(a actor) {
		d := a.double(2, recipes.LeaveLowest)
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave", d.Leave(ctx), nil)
	})...)
	nothingLeft(t, h)
	if n := h.Tree[len(h.Tree)-2]; n.Path != "/apps/double/ready" || n.Version != 1 ||
		strings.Count(n.Data, "member-") != 2 {
		t.Errorf("%+v", n)
	}
}

// A create whose answer was lost may be executed after the next try, in a session that its client has given up and the
// servers still keep. Both are of one participant.
func TestTriesOfOneEnterCountOnce(t *testing.T) {
	h := play(t, nil, func(a actor) {
		a.idle = true
		limited, cancel := a.env.WithTimeout(ctx, time.Minute)
		defer cancel()
		a.is("Enter", a.double(3, recipes.LeaveLowest).Enter(limited), context.DeadlineExceeded)
	}, func(a actor) {
		var other string
		for other == "" {
			names, _, _ := a.Children("/apps/double")
			for _, name := range names {
				if strings.HasPrefix(name, "member-") {
					other = name
				}
			}
		}
		late := "/apps/double/" + strings.TrimSuffix(other, "000") + "001"
		_, err := a.Create(late, nil, 0, openACL)
		a.is("Create", err, nil)
		limited, cancel := a.env.WithTimeout(ctx, time.Minute)
		defer cancel()
		a.is("Enter", a.double(3, recipes.LeaveLowest).Enter(limited), context.DeadlineExceeded)
		a.is("Delete", a.Delete(late, -1), nil)
	})
	nothingLeft(t, h)
}

// losesTry is a connection that, once then is set, loses the first multi that creates a znode, and sends the next one.
type losesTry struct {
	recipes.Conn
	then func()
	lost []any
}

func (c *losesTry) Multi(ops ...any) ([]zk.MultiResponse, error) {
	creates := slices.ContainsFunc(ops, func(op any) bool { _, ok := op.(*zk.CreateRequest); return ok })
	if creates && c.then != nil {
		if c.lost == nil {
			c.lost = ops
			return nil, zk.ErrConnectionClosed
		}
		defer c.then()
	}
	return c.Conn.Multi(ops...)
}

// A try that is executed late, beside the next one, is gone with that; it cannot be when the round has begun.
func TestALateTryDoesNotOutliveItsRound(t *testing.T) {
	for _, within := range []bool{true, false} {
		h := play(t, nil, func(a actor) {
			c := &losesTry{Conn: a.Conn}
			d := recipes.NewDoubleBarrier(c, a.env, "/apps/double", 1, recipes.DoubleBarrierOptions{})
			a.is("Enter", d.Enter(ctx), nil)
			a.is("Leave", d.Leave(ctx), nil)
			late := func(want error) {
				_, err := a.Conn.Multi(c.lost...)
				a.is("late multi", err, want)
			}
			if c.then = func() {}; within {
				c.then = func() { late(nil) }
			}
			a.is("Enter", d.Enter(ctx), nil)
			late(zk.ErrBadVersion)
			a.is("Leave", d.Leave(ctx), nil)
			limited, cancel := a.env.WithTimeout(ctx, time.Minute)
			defer cancel()
			a.is("Enter", a.double(2, recipes.LeaveLowest).Enter(limited), context.DeadlineExceeded)
		})
		nothingLeft(t, h)
	}
}

func TestRealClientsMeet(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	const n, rounds = 6, 5
	allLeavings(t, func(t *testing.T, how recipes.Leaving) {
		ctx := bounded(t)
		var begun, leaving [rounds]atomic.Int32
		var all sync.WaitGroup
		for range n {
			c := dial(t, addrs)
			all.Go(func() {
				d := recipes.NewDoubleBarrier(c, c.Env(), "/"+t.Name(), n, recipes.DoubleBarrierOptions{Leaving: how})
				for r := range rounds {
					begun[r].Add(1)
					if err := d.Enter(ctx); err != nil || begun[r].Load() != n {
						t.Errorf("Enter: %v, with %d", err, begun[r].Load())
						return
					}
					leaving[r].Add(1)
					if err := d.Leave(ctx); err != nil || leaving[r].Load() != n {
						t.Errorf("Leave: %v, with %d", err, leaving[r].Load())
						return
					}
				}
			})
		}
		all.Wait()
	})
}

// ExampleDoubleBarrier is two workers that compute together.
func ExampleDoubleBarrier() {
	ctx := context.Background()
	program := func(conn recipes.Conn, env recipes.Env, id int) {
		env.Sleep(ctx, time.Duration(id)*time.Second) // virtual time, as all here
		barrier := recipes.NewDoubleBarrier(conn, env, "/double", 2, recipes.DoubleBarrierOptions{})
		fmt.Printf("c%d comes\n", id)
		if err := barrier.Enter(ctx); err != nil {
			fmt.Println(err)
			return
		}
		env.Sleep(ctx, time.Duration(id)*time.Minute)
		fmt.Printf("c%d is done\n", id)
		if err := barrier.Leave(ctx); err != nil {
			fmt.Println(err)
			return
		}
		env.Sleep(ctx, time.Duration(id)*time.Second)
		fmt.Printf("c%d goes\n", id)
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) { program(c.Conn(), c.Env(), c.ID()) })
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// c1 comes
	// c2 comes
	// c1 is done
	// c2 is done
	// c1 goes
	// c2 goes
}
