package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
)

func TestRealClientsCountTogether(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	const clients, rounds = 5, 10
	var all sync.WaitGroup
	for i := range clients {
		c := dial(t, addrs)
		counter := recipes.NewCounter(c, c.Env(), "/apps/counter", recipes.CounterOptions{})
		all.Go(func() {
			for range rounds {
				if _, err := counter.Add(ctx, int64(i)); err != nil {
					t.Error(err)
				}
				for swapped := false; !swapped; { // adds one, too
					n, err := counter.Get(ctx)
					if err == nil {
						swapped, err = counter.CompareAndSet(ctx, n, n+1)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	c := dial(t, addrs)
	n, err := recipes.NewCounter(c, c.Env(), "/apps/counter", recipes.CounterOptions{}).Get(ctx)
	if want := int64(rounds * (clients + clients*(clients-1)/2)); n != want || err != nil {
		t.Errorf("%d, %v; want %d", n, err, want)
	}
	if left, _, err := c.Children("/apps/counter"); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRealNamesAreOfOneOwner(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	var mu sync.Mutex
	var owners, numbered []string
	var all sync.WaitGroup
	for i := range 5 {
		c := dial(t, addrs)
		names := recipes.NewNames(c, c.Env(), "/names", recipes.NamesOptions{})
		all.Go(func() {
			err := names.Register(ctx, "db", fmt.Appendf(nil, "host %d", i))
			next, err2 := names.RegisterNext(ctx, "job-", nil)
			if err != nil && err != recipes.ErrNameTaken || err2 != nil {
				t.Error(err, err2)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				owners = append(owners, fmt.Sprintf("host %d", i))
			}
			numbered = append(numbered, next)
		})
	}
	all.Wait()
	c := dial(t, addrs)
	names := recipes.NewNames(c, c.Env(), "/names", recipes.NamesOptions{})
	data, err := names.Resolve(ctx, "db")
	if len(owners) != 1 || string(data) != owners[0] || err != nil {
		t.Errorf("%v have it; it is %q, %v", owners, data, err)
	}
	if err := names.Unregister(ctx, "db"); err != recipes.ErrNotOwner {
		t.Error(err)
	}
	want := append([]string{"db"}, numbered...)
	slices.Sort(want)
	if list, err := names.List(ctx); !slices.Equal(list, want) || err != nil {
		t.Errorf("%v, %v; want %v", list, err, want)
	}
}

func TestARealConfigurationIsNeverTorn(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	const updates = 20
	whole := func(set recipes.ConfigSet) bool {
		return string(set.Values["a"]) == string(set.Values["b"]) && string(set.Values["a"]) == string(set.Values["c"])
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	for range 3 {
		c := dial(t, addrs)
		last := int64(0)
		cached := recipes.NewCachedConfig(c, c.Env(), "/config", func(set recipes.ConfigSet) {
			if !whole(set) || set.Zxid <= last {
				t.Errorf("told of %q, zxid %x after %x", set.Values, set.Zxid, last)
			}
			last = set.Zxid
			if string(set.Values["a"]) == "the end" {
				stop()
			}
		})
		all.Go(func() {
			if err := cached.Run(running); err != context.Canceled {
				t.Error(err)
			}
		})
	}
	c := dial(t, addrs)
	config := recipes.NewConfig(c, c.Env(), "/config", recipes.ConfigOptions{})
	flagged := recipes.NewFlaggedConfig(c, c.Env(), "/config", recipes.ConfigOptions{})
	for i := range updates {
		word := fmt.Sprint(i)
		if i == updates-1 {
			word = "the end"
		}
		next := values("a="+word, "b="+word, "c="+word)
		set, err := config.Get(ctx)
		if err == nil && i%2 == 0 {
			err = config.Update(ctx, set, next)
		} else if err == nil {
			err = flagged.Update(ctx, next)
		}
		if err != nil || !whole(set) {
			t.Errorf("%q, %v", set.Values, err)
		}
	}
	all.Wait()
}
