package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func newCounter(a actor) *recipes.Counter {
	return recipes.NewCounter(a.Conn, a.env, "/apps/counter", recipes.CounterOptions{})
}

func TestACounterCounts(t *testing.T) {
	h := play(t, nil, func(a actor) {
		c := newCounter(a)
		number := func(what string, n int64, err error, want int64) {
			a.t.Helper()
			if n != want || err != nil {
				a.t.Errorf("%s: %d, %v; want %d", what, n, err, want)
			}
		}
		n, err := c.Get(ctx)
		number("Get before anything", n, err, 0)
		n, err = c.Add(ctx, 7)
		number("Add", n, err, 7)
		n, err = c.Add(ctx, -9)
		number("Add", n, err, -2)
		n, err = c.Get(ctx)
		number("Get", n, err, -2)
		for _, x := range []struct {
			old, next int64
			done      bool
		}{{0, 5, false}, {-2, math.MaxInt64, true}, {-2, 5, false}} {
			if ok, err := c.CompareAndSet(ctx, x.old, x.next); ok != x.done || err != nil {
				a.t.Errorf("CompareAndSet(%d, %d): %t, %v", x.old, x.next, ok, err)
			}
		}
		n, err = c.Add(ctx, 1)
		number("Add to the highest", n, err, math.MinInt64)

		_, err = a.Set("/apps/counter", []byte("12"), -1) // as Kazoo writes it
		a.is("Set", err, nil)
		n, err = c.Add(ctx, 1)
		number("Add", n, err, 13)
		_, err = a.Set("/apps/counter", []byte("twelve"), -1)
		a.is("Set", err, nil)
		if _, err = c.Add(ctx, 1); !errors.Is(err, strconv.ErrSyntax) {
			a.t.Errorf("Add to a word: %v", err)
		}
		if _, err = c.Get(ctx); !errors.Is(err, strconv.ErrSyntax) {
			a.t.Errorf("Get of a word: %v", err)
		}
	})
	nothingLeft(t, h)
}

func TestACounterCountsOnceWhateverIsLost(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1", "disconnect c1"} {
		over := false
		h := play(t, func(*sim.World) { over = false }, func(a actor) {
			c := newCounter(a)
			for i := int64(1); i <= 10; i++ {
				if n, err := c.Add(ctx, 1); n != i || err != nil {
					a.t.Errorf("%s: Add: %d, %v; want %d", fault, n, err, i)
				}
			}
			over = true
		}, func(a actor) {
			for !over {
				a.wanted = []string{fault}
				a.until(func() bool { return over || len(a.wanted) == 0 })
				for range a.random.IntN(30) {
					a.env.Now()
				}
			}
			a.wanted = nil
		})
		nothingLeft(t, h)
	}
}

func TestACounterSaysWhenItCannotKnow(t *testing.T) {
	unknown := 0
	h := play(t, nil, func(a actor) {
		c := newCounter(a)
		least, most := int64(0), int64(0)
		for range 20 {
			switch _, err := c.Add(ctx, 1); {
			case errors.Is(err, recipes.ErrUnknownOutcome):
				unknown++
				most++
			case err != nil:
				a.t.Error(err)
			default:
				least++
				most++
			}
		}
		if n, err := c.Get(ctx); n < least || n > most || err != nil {
			a.t.Errorf("%d, %v; want %d to %d", n, err, least, most)
		}
	}, func(a actor) {
		for range 5 {
			a.wanted = []string{"lose-reply c1", "expire c1"}
			for range 200 {
				a.env.Now()
			}
		}
		a.wanted = nil
	})
	nothingLeft(t, h)
	if unknown == 0 {
		t.Error("no session ended in a bad moment")
	}
}

func TestACounterWithADoneContextChangesNothing(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		c := newCounter(a)
		_, err := c.Add(done, 1)
		a.is("Add", err, context.Canceled)
		_, err = c.CompareAndSet(done, 0, 1)
		a.is("CompareAndSet", err, context.Canceled)
		_, err = c.Get(done)
		a.is("Get", err, context.Canceled)
		if n, err := c.Get(ctx); n != 0 || err != nil {
			a.t.Errorf("%d, %v", n, err)
		}
		a.Close()
		if _, err = c.Add(ctx, 1); !errors.Is(err, zk.ErrClosing) {
			a.t.Errorf("Add after Close: %v", err)
		}
	})
	if len(h.Tree) > 1 {
		t.Errorf("%v", h.Tree)
	}
}

func TestACounterWithoutPermission(t *testing.T) {
	for _, perms := range []int32{zk.PermRead, zk.PermRead | zk.PermWrite, zk.PermRead | zk.PermCreate} {
		h := play(t, create("/counter", zk.WorldACL(perms)), func(a actor) {
			c := recipes.NewCounter(a.Conn, a.env, "/counter", recipes.CounterOptions{})
			_, err := c.Add(ctx, 1)
			a.is("Add", err, zk.ErrNoAuth)
			if n, err := c.Get(ctx); n != 0 || err != nil {
				a.t.Errorf("%d, %v", n, err)
			}
		})
		nothingLeft(t, h)
	}
}

func TestACounterUsesItsACL(t *testing.T) {
	acl := zk.DigestACL(zk.PermAll, "me", "secret")
	play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		c := recipes.NewCounter(a.Conn, a.env, "/counter", recipes.CounterOptions{ACL: acl})
		_, err := c.Add(ctx, 1)
		a.is("Add", err, nil)
		if got, _, err := a.GetACL("/counter"); err != nil || fmt.Sprint(got) != fmt.Sprint(acl) {
			a.t.Errorf("%v, %v", got, err)
		}
	})
}

// ExampleCounter counts in the simulator; live.Dial gives conn and env of a real
// ensemble.
func ExampleCounter() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		counter := recipes.NewCounter(c.Conn(), c.Env(), "/visits", recipes.CounterOptions{})
		counter.Add(context.Background(), 2)
		n, err := counter.Add(context.Background(), 3)
		if errors.Is(err, recipes.ErrUnknownOutcome) {
			fmt.Println("perhaps counted, perhaps not")
		}
		fmt.Println(n, err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output: 5 <nil>
}
