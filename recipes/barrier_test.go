package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/sim"
)

func (a actor) barrier(path string) *recipes.Barrier {
	return recipes.NewBarrier(a.Conn, a.env, path, recipes.BarrierOptions{})
}

func TestABarrierHoldsUntilItIsReleased(t *testing.T) {
	var held, released bool
	passed := 0
	wait := func(a actor) {
		a.until(func() bool { return held })
		a.is("Wait", a.barrier("/apps/mine/barrier").Wait(ctx), nil)
		if !released {
			a.t.Error("passed a barrier that is held")
		}
		passed++
	}
	h := play(t, func(*sim.World) { held, released, passed = false, false, 0 }, func(a actor) {
		b := a.barrier("/apps/mine/barrier")
		a.is("Wait before Hold", b.Wait(ctx), nil)
		a.is("Release before Hold", b.Release(ctx), nil)
		a.is("Hold", b.Hold(ctx), nil)
		a.is("Hold again", b.Hold(ctx), nil)
		held = true
		for range 50 {
			a.env.Now()
		}
		released = true
		a.is("Release", b.Release(ctx), nil)
		a.is("Release again", b.Release(ctx), nil)
		a.is("Wait after Release", b.Wait(ctx), nil)
	}, wait, wait)
	if passed != 2 {
		t.Errorf("%d passed", passed)
	}
	if n := h.Tree[len(h.Tree)-1]; n.Path != "/apps/mine/barrier" || n.Owner != 0 || n.Version != 2 {
		t.Errorf("%+v, want a persistent znode that was held once and released once", n)
	}
}

// A waiting client passes even if the barrier is held again before it can look.
func TestABarrierThatWasOpenLetsPassThoseWhoWaited(t *testing.T) {
	var waiting bool
	play(t, func(*sim.World) { waiting = false }, func(a actor) {
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(ctx), nil)
		waiting = true
		a.until(func() bool { return watches(a.world.History, 2, "getW") })
		a.happen("disconnect c2") // and hears of nothing
		a.is("Release", b.Release(ctx), nil)
		a.is("Hold", b.Hold(ctx), nil) // and it stays held
	}, func(a actor) {
		a.until(func() bool { return waiting })
		a.is("Wait", a.barrier("/barrier").Wait(ctx), nil)
	})
}

// watches reports whether the client has left a watch with that call.
func watches(h *history.History, client int32, op string) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Reply && e.Client == client && e.Op == op && e.Err == nil
	})
}

func TestAnAnswerThatIsLostIsSettled(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1", "disconnect c1"} {
		lost := 0
		play(t, nil, func(a actor) {
			b := a.barrier("/barrier")
			for range 3 {
				ended := false
				a.env.Go("striker", func() {
					a.until(func() bool { return ended || inFlight(a.world.History, "set") })
					if !ended {
						a.wanted = append(a.wanted, fault)
					}
				})
				a.is("Hold", b.Hold(ctx), nil)
				a.is("Release", b.Release(ctx), nil)
				ended, a.wanted = true, nil
			}
			a.until(func() bool {
				_, stat, err := a.Get("/barrier")
				if err == nil && stat.Version != 6 {
					a.t.Errorf("%s: version %d, want three holds and three releases", fault, stat.Version)
				}
				return err == nil
			})
			for _, e := range a.world.History.Events {
				if e.Kind == history.Reply && e.Op == "set" && e.Err != nil && e.Err != zk.ErrBadVersion {
					lost++
				}
			}
		})
		if lost < 10 {
			t.Errorf("%s: %d answers were lost", fault, lost)
		}
	}
}

// inFlight reports whether the last call has not been answered and is op.
func inFlight(h *history.History, op string) bool {
	for _, e := range slices.Backward(h.Events) {
		if e.Kind == history.Call || e.Kind == history.Reply {
			return e.Kind == history.Call && e.Op == op
		}
	}
	return false
}

func TestADoneContextEndsAllOfABarrier(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(done), context.Canceled)
		if ok, _, err := a.Exists("/barrier"); ok || err != nil {
			a.t.Errorf("a Hold that was given up made the znode, %v", err)
		}
		a.is("Hold", b.Hold(ctx), nil)
		a.is("Wait", b.Wait(done), context.Canceled)
		a.is("Release", b.Release(done), context.Canceled)
		soon, end := a.env.WithTimeout(ctx, time.Second)
		a.is("Wait", b.Wait(soon), context.DeadlineExceeded)
		end()
	})
	if n := h.Tree[len(h.Tree)-1]; n.Version != 1 || n.Data != "held" {
		t.Errorf("%+v, want it held", n)
	}
}

func TestABarrierReturnsWhatWaitingDoesNotCure(t *testing.T) {
	play(t, create("/barrier", zk.WorldACL(zk.PermDelete)), func(a actor) {
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(ctx), zk.ErrNoAuth)
		a.is("Release", b.Release(ctx), zk.ErrNoAuth)
		a.is("Wait", b.Wait(ctx), zk.ErrNoAuth)
	})
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		b := recipes.NewBarrier(a.Conn, a.env, "/apps/barrier", recipes.BarrierOptions{ACL: mine})
		a.is("Hold", b.Hold(ctx), nil)
		for _, path := range []string{"/apps", "/apps/barrier"} {
			if acl, _, err := a.GetACL(path); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
	})
}

func TestCloseEndsAWaitAtABarrier(t *testing.T) {
	play(t, nil, func(a actor) {
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(ctx), nil)
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(40) == 0 })
			a.Close()
		})
		a.is("Wait", b.Wait(ctx), zk.ErrClosing)
		a.is("Hold", b.Hold(ctx), zk.ErrClosing)
		a.is("Release", b.Release(ctx), zk.ErrClosing)
	})
}

// The session ends while the client waits, and the barrier is opened before it has
// a new one.
func TestAWaitOutlivesItsSession(t *testing.T) {
	var waiting bool
	play(t, func(*sim.World) { waiting = false }, func(a actor) {
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(ctx), nil)
		waiting = true
		a.until(func() bool { return watches(a.world.History, 2, "getW") })
		a.happen("learn-late c2")
		a.is("Release", b.Release(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return waiting })
		a.is("Wait", a.barrier("/barrier").Wait(ctx), nil)
	})
}

func TestRealBarriersHold(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	keeper := dial(t, addrs)
	b := recipes.NewBarrier(keeper, keeper.Env(), "/apps/barrier", recipes.BarrierOptions{})
	var waiters []*live.Client
	for range 3 {
		waiters = append(waiters, dial(t, addrs))
	}
	for range 5 {
		if err := b.Hold(ctx); err != nil {
			t.Fatal(err)
		}
		// The barrier is held until all have given up, however slow they are: a wait
		// whose reading is late may see a release that comes after its deadline.
		var gaveUp, all sync.WaitGroup
		gaveUp.Add(len(waiters))
		for _, c := range waiters {
			all.Go(func() {
				w := recipes.NewBarrier(c, c.Env(), "/apps/barrier", recipes.BarrierOptions{})
				soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				err := w.Wait(soon)
				cancel()
				gaveUp.Done()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Wait at a barrier that is held: %v", err)
				}
				if err := w.Wait(ctx); err != nil {
					t.Errorf("Wait: %v", err)
				}
			})
		}
		gaveUp.Wait()
		if err := b.Release(ctx); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	}
}

// ExampleBarrier keeps a worker waiting until all is prepared.
func ExampleBarrier() {
	ctx := context.Background()
	program := func(conn recipes.Conn, env recipes.Env, who string) {
		barrier := recipes.NewBarrier(conn, env, "/barrier", recipes.BarrierOptions{})
		if who == "c1" {
			fmt.Println("hold:", barrier.Hold(ctx))
			env.Sleep(ctx, time.Minute) // virtual time, as all here
			fmt.Println("prepared")
			barrier.Release(ctx)
			return
		}
		env.Sleep(ctx, time.Second)
		if err := barrier.Wait(ctx); err == nil {
			fmt.Println(who, "passes")
		}
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) { program(c.Conn(), c.Env(), c.Name()) })
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// hold: <nil>
	// prepared
	// c2 passes
}
