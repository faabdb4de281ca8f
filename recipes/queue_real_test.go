package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
)

// Consumers of two kinds share a queue; each claims with one goroutine and
// acknowledges with others.
func TestRealConsumersShareTheItems(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	consumers, items := 6, 60
	if testing.Short() {
		items = 12
	}
	bothModes(t, func(t *testing.T, opt recipes.QueueOptions) {
		ctx := bounded(t)
		var mu sync.Mutex
		var got []string
		note := func(data []byte) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, string(data))
		}
		var all sync.WaitGroup
		for c := range consumers {
			conn := dial(t, addrs)
			q := recipes.NewQueue(conn, conn.Env(), "/"+t.Name(), opt)
			all.Go(func() {
				for range items / consumers {
					if c%2 == 0 {
						data, err := q.Take(ctx)
						if err != nil {
							t.Error(err)
							return
						}
						note(data)
						continue
					}
					item, err := q.Claim(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					all.Go(func() {
						if err := item.Ack(ctx); err != nil {
							t.Error(err)
						}
						note(item.Data())
					})
				}
			})
		}
		conn := dial(t, addrs)
		q := recipes.NewQueue(conn, conn.Env(), "/"+t.Name(), opt)
		var want []string
		for i := range items {
			want = append(want, fmt.Sprintf("%03d", i))
			if err := q.Put(ctx, []byte(want[i])); err != nil {
				t.Fatal(err)
			}
		}
		all.Wait()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		if n, err := q.Len(ctx); n != 0 || err != nil {
			t.Errorf("%d items are left, %v", n, err)
		}
		if names, _, err := conn.Children("/" + t.Name()); err != nil || len(names) > 3 {
			t.Errorf("left behind: %v, %v", names, err)
		}
	})
}

func TestARealClaimEndsWithItsSession(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	one, two := dial(t, addrs), dial(t, addrs)
	q := recipes.NewPriorityQueue(one, one.Env(), "/q", recipes.QueueOptions{})
	for _, priority := range []uint16{10, 9} {
		if err := q.Put(ctx, []byte(fmt.Sprint(priority)), priority); err != nil {
			t.Fatal(err)
		}
	}
	item, err := q.Claim(ctx)
	if err != nil || string(item.Data()) != "9" {
		t.Fatal(item, err)
	}
	other := recipes.NewPriorityQueue(two, two.Env(), "/q", recipes.QueueOptions{})
	if data, err := other.Take(ctx); err != nil || string(data) != "10" {
		t.Errorf("%q, %v", data, err)
	}
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := other.Take(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Take of a claimed item: %v", err)
	}
	one.Close()
	if data, err := other.Take(ctx); err != nil || string(data) != "9" {
		t.Errorf("%q, %v", data, err)
	}
}
