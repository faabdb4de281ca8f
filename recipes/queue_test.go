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

	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

func (a actor) queue(opt recipes.QueueOptions) *recipes.Queue {
	return recipes.NewQueue(a.Conn, a.env, "/q", opt)
}

// puts puts items.
func (a actor) puts(q *recipes.Queue, items ...string) {
	a.t.Helper()
	for _, x := range items {
		a.is("Put", q.Put(ctx, []byte(x)), nil)
	}
}

// takes takes items and reports those that are not as wanted.
func (a actor) takes(take func(context.Context) ([]byte, error), want ...string) {
	a.t.Helper()
	for _, x := range want {
		if data, err := take(ctx); err != nil || string(data) != x {
			a.t.Errorf("took %q, %v; want %q", data, err, x)
		}
	}
}

// claim claims an item.
func (a actor) claim(q *recipes.Queue, want string) *recipes.QueueItem {
	a.t.Helper()
	item, err := q.Claim(ctx)
	if err != nil {
		panic(err)
	}
	if string(item.Data()) != want {
		a.t.Errorf("claimed %q, want %q", item.Data(), want)
	}
	return item
}

// size checks how many items there are.
func (a actor) size(q *recipes.Queue, want int) {
	a.t.Helper()
	if n, err := q.Len(ctx); n != want || err != nil {
		a.t.Errorf("Len: %d, %v; want %d", n, err, want)
	}
}

func bothModes(t *testing.T, f func(t *testing.T, opt recipes.QueueOptions)) {
	t.Run("all at once", func(t *testing.T) { f(t, recipes.QueueOptions{}) })
	t.Run("in turns", func(t *testing.T) { f(t, recipes.QueueOptions{Turns: true}) })
}

// nothingButItems fails if anything is left of claims and receipts.
func nothingButItems(t *testing.T, h *history.History) {
	t.Helper()
	nothingLeft(t, h)
	for _, n := range h.Tree {
		if name, ok := strings.CutPrefix(n.Path, "/q/"); ok && !slices.Contains([]string{"items", "claims", "turns"}, name) &&
			!strings.HasPrefix(name, "items/") {
			t.Errorf("%s is left", n.Path)
		}
	}
}

func TestAQueueIsFirstInFirstOut(t *testing.T) {
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		h := play(t, nil, func(a actor) {
			q := a.queue(opt)
			a.size(q, 0)
			_, err := q.TryTake(ctx)
			a.is("TryTake", err, recipes.ErrEmpty)
			_, err = q.TryClaim(ctx)
			a.is("TryClaim", err, recipes.ErrEmpty)
			a.puts(q, "a", "b", "c", "", "d")
			a.size(q, 5)
			a.takes(q.TryTake, "a", "b")
			a.takes(q.Take, "c", "", "d")
			_, err = q.TryTake(ctx)
			a.is("TryTake", err, recipes.ErrEmpty)
			a.size(q, 0)
		})
		nothingButItems(t, h)
	})
}

func TestAPriorityQueueHasTheLowestNumberFirst(t *testing.T) {
	h := play(t, nil, func(a actor) {
		q := recipes.NewPriorityQueue(a.Conn, a.env, "/q", recipes.QueueOptions{})
		for i, priority := range []uint16{10, 9, math.MaxUint16, 100, 9, 0, 10} {
			a.is("Put", q.Put(ctx, []byte(fmt.Sprint(priority, "-", i)), priority), nil)
		}
		a.takes(q.TryTake, "0-5", "9-1")
		a.is("Put", q.Put(ctx, []byte("late"), 1), nil)
		a.takes(q.Take, "late", "9-4", "10-0", "10-6", "100-3", "65535-2")
	})
	nothingButItems(t, h)
}

func TestAClaimedItemIsNobodyElses(t *testing.T) {
	h := play(t, nil, func(a actor) {
		q, other := a.queue(recipes.QueueOptions{}), a.queue(recipes.QueueOptions{})
		a.puts(q, "a", "b")
		x := a.claim(q, "a")
		if len(x.Znodes()) != 2 {
			a.t.Errorf("knows of %v", x.Znodes())
		}
		y := a.claim(other, "b")
		_, err := other.TryTake(ctx)
		a.is("TryTake with everything claimed", err, recipes.ErrEmpty)
		a.size(q, 2)

		a.is("Return", x.Return(ctx), nil)
		a.is("Return again", x.Return(ctx), recipes.ErrClaimLost)
		a.is("Ack after Return", x.Ack(ctx), recipes.ErrClaimLost)
		x = a.claim(other, "a") // it has kept its place
		a.is("Ack", x.Ack(ctx), nil)
		a.is("Ack again", x.Ack(ctx), recipes.ErrClaimLost)
		a.is("Return after Ack", x.Return(ctx), recipes.ErrClaimLost)
		if x.Znodes() != nil {
			a.t.Errorf("knows of %v", x.Znodes())
		}
		a.is("Ack", y.Ack(ctx), nil)
		a.size(q, 0)
	})
	nothingButItems(t, h)
}

// A Take in the middle of the queue passes over what others have claimed, and
// waiters hear of an item that is returned.
func TestAReturnedItemWakesAConsumerThatWaits(t *testing.T) {
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		var claimed bool
		h := play(t, func(*sim.World) { claimed = false }, func(a actor) {
			q := a.queue(opt)
			a.puts(q, "a")
			x := a.claim(q, "a")
			claimed = true
			for range 50 {
				a.env.Now()
			}
			a.is("Return", x.Return(ctx), nil)
		}, func(a actor) {
			a.until(func() bool { return claimed })
			a.takes(a.queue(opt).Take, "a")
		})
		nothingButItems(t, h)
	})
}

func TestTheClaimEndsWithTheSession(t *testing.T) {
	var claimed, settled bool
	h := play(t, func(*sim.World) { claimed, settled = false, false }, func(a actor) {
		q := a.queue(recipes.QueueOptions{})
		a.puts(q, "a", "b")
		x, y := a.claim(q, "a"), a.claim(q, "b")
		claimed = true
		a.until(func() bool { return settled })
		a.is("Ack of a lost claim", x.Ack(ctx), recipes.ErrClaimLost)
		a.is("Return of a lost claim", y.Return(ctx), nil)
		a.takes(q.TryTake, "b")
	}, func(a actor) {
		q := a.queue(recipes.QueueOptions{})
		a.until(func() bool { return claimed })
		a.happen("learn-late c1")
		a.is("Ack", a.claim(q, "a").Ack(ctx), nil)
		settled = true
	})
	nothingButItems(t, h)
}

// The operator has deleted the item, or a part of the claim: the rest goes, too.
func TestAnOperatorWhoDeletesLeavesNothingBehind(t *testing.T) {
	for name, victim := range map[string]func(a actor, x *recipes.QueueItem) string{
		"item": func(a actor, x *recipes.QueueItem) string {
			return strings.Replace(x.Znodes()[0], "claims", "items", 1)
		},
		"claim": func(a actor, x *recipes.QueueItem) string { return x.Znodes()[0] },
		"proof": func(a actor, x *recipes.QueueItem) string { return x.Znodes()[1] },
	} {
		t.Run(name, func(t *testing.T) {
			h := play(t, nil, func(a actor) {
				q := a.queue(recipes.QueueOptions{})
				a.puts(q, "a")
				x := a.claim(q, "a")
				a.is("Delete", a.Delete(victim(a, x), -1), nil)
				a.is("Ack", x.Ack(ctx), recipes.ErrClaimLost)
			})
			for _, path := range left(h) {
				if name != "proof" || !strings.HasPrefix(path, "/q/claims/") { // which could be another's by now
					t.Errorf("%s is left", path)
				}
			}
		})
	}
}

func TestAConsumerInAHurryLeavesNothingBehind(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		h := play(t, nil, func(a actor) {
			q := a.queue(opt)
			a.is("Put with a done context", q.Put(done, []byte("a")), context.Canceled)
			for what, take := range map[string]func(context.Context) ([]byte, error){"Take": q.Take, "TryTake": q.TryTake} {
				_, err := take(done)
				a.is(what+" with a done context", err, context.Canceled)
			}
			_, err := q.Claim(done)
			a.is("Claim with a done context", err, context.Canceled)
			for range 3 {
				soon, end := a.env.WithTimeout(ctx, time.Second)
				_, err = q.Take(soon)
				a.is("Take with a timeout", err, context.DeadlineExceeded)
				end()
			}
			waiting, stop := context.WithCancel(ctx)
			a.env.Go("impatient", func() {
				a.until(func() bool { return a.random.IntN(30) == 0 })
				stop()
			})
			_, err = q.Claim(waiting)
			a.is("Claim with a context that ends", err, context.Canceled)
			a.size(q, 0)
			a.puts(q, "b")
			a.takes(q.Take, "b") // the watches that were left do no harm
		})
		nothingButItems(t, h)
	})
}

// A settlement whose context is done goes on in the background.
func TestAnItemIsSettledInTheBackground(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, x := range []struct {
		name   string
		settle func(i *recipes.QueueItem) error
		after  []string // in the queue
	}{
		{"Ack", func(i *recipes.QueueItem) error { return i.Ack(done) }, nil},
		{"Return", func(i *recipes.QueueItem) error { return i.Return(done) }, []string{"a"}},
	} {
		h := play(t, nil, func(a actor) {
			q := a.queue(recipes.QueueOptions{})
			a.puts(q, "a")
			i := a.claim(q, "a")
			a.wanted = append(a.wanted, "lose-request c1")
			err := x.settle(i)
			if !errors.Is(err, context.Canceled) || errors.Is(err, recipes.ErrUnknownOutcome) != (x.name == "Ack") {
				a.t.Errorf("%s: %v", x.name, err)
			}
			a.is("Ack afterwards", i.Ack(ctx), recipes.ErrClaimLost)
			a.until(func() bool { names, _, err := a.Children("/q/claims"); return err == nil && len(names) == 0 })
			a.size(q, len(x.after))
			a.takes(q.TryTake, x.after...)
		})
		nothingButItems(t, h)
	}
}

func TestALostReplyNeitherDoublesNorLoses(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1", "disconnect c1"} {
		h := play(t, nil, func(a actor) {
			q := a.queue(recipes.QueueOptions{})
			_, err := q.TryTake(ctx) // makes the parents
			a.is("TryTake", err, recipes.ErrEmpty)
			a.wanted = append(a.wanted, fault)
			a.puts(q, "a")
			a.size(q, 1)
			for range 12 { // strikes each request of a claim in some order of events
				a.wanted = append(a.wanted, fault)
				a.is("Return", a.claim(q, "a").Return(ctx), nil)
			}
			i := a.claim(q, "a")
			a.wanted = append(a.wanted, fault)
			a.is("Ack", i.Ack(ctx), nil)
			a.size(q, 0)
			a.puts(q, "b")
			a.wanted = append(a.wanted, fault, fault, fault)
			a.takes(q.Take, "b")
			a.size(q, 0)
		})
		nothingButItems(t, h)
	}
}

func TestAQueueMakesItsParentsAndUsesItsACL(t *testing.T) {
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	var put bool
	h := play(t, func(*sim.World) { put = false }, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		q := recipes.NewQueue(a.Conn, a.env, "/apps/mine/q", recipes.QueueOptions{ACL: mine, Turns: true})
		a.puts(q, "a")
		put = true
		x := a.claim(q, "a")
		for _, path := range append(x.Znodes(), "/apps/mine/q/items", "/apps/mine/q/turns") {
			if acl, _, err := a.GetACL(path); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
		a.is("Ack", x.Ack(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return put })
		q := recipes.NewQueue(a.Conn, a.env, "/apps/mine/q", recipes.QueueOptions{})
		a.is("Put by a stranger", q.Put(ctx, nil), zk.ErrNoAuth)
		_, err := q.TryTake(ctx)
		a.is("TryTake by a stranger", err, zk.ErrNoAuth)
		_, err = q.Claim(ctx)
		a.is("Claim by a stranger", err, zk.ErrNoAuth)
		_, err = q.Len(ctx)
		a.is("Len by a stranger", err, zk.ErrNoAuth)
	})
	nothingLeft(t, h)
}

// A consumer that may not delete items puts them back into the queue.
func TestAnItemThatMayNotBeDeletedIsReturned(t *testing.T) {
	h := play(t, func(w *sim.World) {
		create("/q", openACL)(w)
		create("/q/items", zk.WorldACL(zk.PermAll&^zk.PermDelete))(w)
	}, func(a actor) {
		q := a.queue(recipes.QueueOptions{})
		a.puts(q, "a")
		_, err := q.Take(ctx)
		a.is("Take", err, zk.ErrNoAuth)
		x := a.claim(q, "a")
		a.is("Ack", x.Ack(ctx), zk.ErrNoAuth)
		a.is("Return", x.Return(ctx), nil)
		a.size(q, 1)
	})
	nothingButItems(t, h)
}

func TestTheQueueKeepsItsOrderWhereSequenceNumbersEnd(t *testing.T) {
	for before := range int32(4) {
		play(t, func(w *sim.World) {
			create("/q", openACL)(w)
			create("/q/items", openACL)(w)
			w.SetCounter("/q/items", math.MaxInt32-before)
		}, func(a actor) {
			q := a.queue(recipes.QueueOptions{})
			a.puts(q, "a", "b", "c", "d", "e")
			a.takes(q.TryTake, "a", "b", "c", "d", "e")
		})
	}
}

func TestCloseEndsAConsumerThatWaits(t *testing.T) {
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		h := play(t, nil, func(a actor) {
			q := a.queue(opt)
			a.env.Go("closer", func() {
				a.until(func() bool { return a.random.IntN(60) == 0 })
				a.Close()
			})
			if _, err := q.Take(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
				a.t.Errorf("Take: %v", err)
			}
			_, err := q.Take(ctx)
			a.is("Take again", err, zk.ErrClosing)
			if err := q.Put(ctx, nil); !errors.Is(err, zk.ErrClosing) {
				a.t.Errorf("Put: %v", err)
			}
		})
		nothingButItems(t, h)
	})
}

func TestAnIdleConsumerDoesNotPileUpWatches(t *testing.T) {
	play(t, nil, func(a actor) {
		a.idle = true // a read that is given up leaves its watch to nobody
		env, conn := &counting{Env: a.env}, watching{a.Conn, map[string]int{}}
		q := recipes.NewQueue(conn, env, "/q", recipes.QueueOptions{})
		a.puts(q, "a")
		x := a.claim(q, "a")
		for range 50 {
			soon, end := a.env.WithTimeout(ctx, time.Second)
			_, err := q.Take(soon)
			a.is("Take", err, context.DeadlineExceeded)
			end()
		}
		if n := env.pending(); conn.left["/q/items"] > 1 || conn.left["/q/claims"] > 1 || n > 1 {
			a.t.Errorf("watches %v and %d channels of the session", conn.left, n)
		}
		a.is("Ack", x.Ack(ctx), nil)
	})
}

// An item wakes all consumers that wait, or only the first.
func TestTurnsAreForTheSakeOfFanOut(t *testing.T) {
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		consume := func(a actor) {
			if _, err := a.queue(opt).Take(ctx); err != nil {
				a.t.Error(err)
			}
		}
		most := 0
		h := play(t, nil, consume, consume, consume, consume, func(a actor) {
			q := a.queue(opt)
			for range 4 {
				for range 200 { // until all wait
					a.env.Now()
				}
				a.puts(q, "x")
			}
		})
		nothingButItems(t, h)
		woken := map[int64]int{}
		for _, e := range h.Events {
			if e.Kind == history.Notify && e.Path == "/q/items" && e.Zxid != 0 {
				woken[e.Zxid]++
				most = max(most, woken[e.Zxid])
			}
		}
		if want := map[bool]int{false: 4, true: 1}[opt.Turns]; most != want {
			t.Errorf("a change of the items notified %d consumers, want %d", most, want)
		}
	})
}

// ExampleQueue shows both modes of delivery in the simulator.
func ExampleQueue() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		ctx := context.Background()
		queue := recipes.NewQueue(c.Conn(), c.Env(), "/jobs", recipes.QueueOptions{})
		for _, job := range []string{"sweep", "cook", "wash"} {
			if err := queue.Put(ctx, []byte(job)); err != nil {
				return
			}
		}
		// At most once: if the process ends now, the job is not done.
		job, err := queue.Take(ctx)
		fmt.Printf("%s %v\n", job, err)
		// At least once: if the process ends before Ack, another gets the job.
		for range 2 {
			item, err := queue.Claim(ctx)
			if err != nil {
				return
			}
			fmt.Printf("%s %v\n", item.Data(), item.Ack(ctx))
		}
		_, err = queue.TryTake(ctx)
		fmt.Println(err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// sweep <nil>
	// cook <nil>
	// wash <nil>
	// recipes: the queue is empty
}
