package recipes_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
)

func TestRealWatchersTellWhatHappens(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	watcher, writer := dial(t, addrs), dial(t, addrs)
	ctx, stop := context.WithCancel(bounded(t))
	data, children, cached := make(chan string, 100), make(chan []string, 100), make(chan string, 100)
	ends := make(chan error, 3)
	go func() {
		ends <- recipes.NewDataWatch(watcher, watcher.Env(), "/w", recipes.WatchOptions{}).Run(ctx,
			func(d []byte, stat *zk.Stat) bool {
				data <- string(d)
				return true
			})
	}()
	go func() {
		w := recipes.NewPatientChildrenWatch(watcher, watcher.Env(), "/w", 100*time.Millisecond, recipes.WatchOptions{})
		ends <- w.Run(ctx, func(names []string, _ *zk.Stat) bool {
			slices.Sort(names)
			children <- names
			return true
		})
	}()
	go func() {
		ends <- recipes.NewChildrenCache(watcher, watcher.Env(), "/w", recipes.WatchOptions{}).Run(ctx,
			func(now []recipes.Child, changes []recipes.Change) bool {
				cached <- inShort(now, changes)
				return true
			})
	}()
	for i, do := range []func(path string) error{
		func(path string) error { _, err := writer.Create(path, []byte("one"), 0, openACL); return err },
		func(path string) error { _, err := writer.Create(path+"/a", []byte("1"), 0, openACL); return err },
		func(path string) error { _, err := writer.Create(path+"/b", []byte("2"), 0, openACL); return err },
		func(path string) error { return writer.Delete(path+"/a", -1) },
		func(path string) error { _, err := writer.Set(path+"/b", []byte("3"), -1); return err },
		func(path string) error { _, err := writer.Set(path, []byte("two"), -1); return err },
	} {
		if err := do("/w"); err != nil {
			t.Fatal(i, err)
		}
	}
	await(t, data, func(s string) bool { return s == "two" })
	await(t, children, func(names []string) bool { return slices.Equal(names, []string{"b"}) })
	await(t, cached, func(s string) bool { return strings.HasSuffix(s, ": b=3") })
	stop()
	for range 3 {
		if err := <-ends; err != context.Canceled {
			t.Error(err)
		}
	}
}

// await receives until something fits.
func await[T any](t *testing.T, from <-chan T, fits func(T) bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case x := <-from:
			if fits(x) {
				return
			}
		case <-limit:
			t.Fatal("waited in vain")
		}
	}
}

func TestARealGroup(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	watcher := dial(t, addrs)
	group := recipes.NewGroup(watcher, watcher.Env(), "/group", recipes.GroupOptions{})
	told := make(chan []string, 100)
	watching, stop := context.WithCancel(ctx)
	end := make(chan error, 1)
	go func() {
		end <- group.Watch(watching, func(now []recipes.Child, _ []recipes.Change) bool {
			var names []string
			for _, c := range now {
				names = append(names, c.Name)
			}
			told <- names
			return true
		})
	}()
	dies, leaves := dial(t, addrs), dial(t, addrs)
	if _, err := recipes.NewGroup(dies, dies.Env(), "/group", recipes.GroupOptions{}).Join(ctx, "a",
		[]byte("1")); err != nil {
		t.Fatal(err)
	}
	other := recipes.NewGroup(leaves, leaves.Env(), "/group", recipes.GroupOptions{})
	if _, err := other.Join(ctx, "a", nil); err != recipes.ErrNameTaken {
		t.Errorf("%v", err)
	}
	m, err := other.Join(ctx, "b", []byte("2"))
	if err != nil {
		t.Fatal(err)
	}
	if members, err := group.List(ctx); err != nil || len(members) != 2 || string(members[1].Data) != "2" {
		t.Errorf("%+v, %v", members, err)
	}
	await(t, told, func(names []string) bool { return slices.Equal(names, []string{"a", "b"}) })
	dies.Close()
	await(t, told, func(names []string) bool { return slices.Equal(names, []string{"b"}) })
	if err := m.Leave(ctx); err != nil {
		t.Error(err)
	}
	await(t, told, func(names []string) bool { return len(names) == 0 })
	stop()
	if err := <-end; err != context.Canceled {
		t.Error(err)
	}
	if err := leaves.Wait(ctx); err != nil { // nothing goes on in the background
		t.Error(err)
	}
}

func TestRealMembershipsDoNotPileUpSessionEvents(t *testing.T) {
	c := dial(t, zkservertest.ForTest(t, 1).Addrs())
	env := &counting{Env: c.Env()}
	group := recipes.NewGroup(c, env, "/group", recipes.GroupOptions{})
	for range 100 {
		m, err := group.Join(t.Context(), "a", nil)
		if err == nil {
			err = m.Leave(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := env.pending(); n > 1 {
		t.Errorf("%d channels wait for a change of state", n)
	}
}
