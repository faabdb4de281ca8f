package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// run is how all watchers run.
type run func(a actor, ctx context.Context, path string, opt recipes.WatchOptions, f func(what string) bool) error

// watchers are all watchers; each tells what it is told in words.
var watchers = map[string]run{
	"data": func(a actor, ctx context.Context, path string, opt recipes.WatchOptions, f func(string) bool) error {
		return recipes.NewDataWatch(a.Conn, a.env, path, opt).Run(ctx, func(data []byte, stat *zk.Stat) bool {
			if stat == nil {
				return f("none")
			}
			return f(fmt.Sprintf("%s v%d", data, stat.Version))
		})
	},
	"children": func(a actor, ctx context.Context, path string, opt recipes.WatchOptions, f func(string) bool) error {
		return recipes.NewChildrenWatch(a.Conn, a.env, path, opt).Run(ctx, inWords(f))
	},
	"patient": func(a actor, ctx context.Context, path string, opt recipes.WatchOptions, f func(string) bool) error {
		return recipes.NewPatientChildrenWatch(a.Conn, a.env, path, time.Second, opt).Run(ctx, inWords(f))
	},
	"cache": func(a actor, ctx context.Context, path string, opt recipes.WatchOptions, f func(string) bool) error {
		return recipes.NewChildrenCache(a.Conn, a.env, path, opt).Run(ctx,
			func(now []recipes.Child, changes []recipes.Change) bool {
				return f(inShort(now, changes))
			})
	},
}

func inWords(f func(string) bool) func(children []string, stat *zk.Stat) bool {
	return func(children []string, stat *zk.Stat) bool {
		if stat == nil {
			return f("none")
		}
		slices.Sort(children)
		return f(strings.Join(children, " "))
	}
}

// inShort is "changes: all", as in "added a=x, removed b=y: a=x".
func inShort(now []recipes.Child, changes []recipes.Change) string {
	var all, news []string
	for _, c := range now {
		all = append(all, fmt.Sprintf("%s=%s", c.Name, c.Data))
	}
	for _, c := range changes {
		news = append(news, fmt.Sprintf("%s %s=%s", c.Kind, c.Name, c.Data))
	}
	return strings.Join(news, ", ") + ": " + strings.Join(all, " ")
}

// act is something done to the znodes, and what a watcher tells of it.
type act struct {
	do   func(a actor) error
	told string
}

func makes(path, data string) func(a actor) error {
	return func(a actor) error { _, err := a.Create(path, []byte(data), 0, openACL); return err }
}

func sets(path, data string) func(a actor) error {
	return func(a actor) error { _, err := a.Set(path, []byte(data), -1); return err }
}

func deletes(path string) func(a actor) error {
	return func(a actor) error { return a.Delete(path, -1) }
}

// atOnce does several things between two answers to the watcher.
func atOnce(all ...any) func(a actor) error {
	return func(a actor) error { _, err := a.Multi(all...); return err }
}

func TestWatchersTellEveryChange(t *testing.T) {
	for name, acts := range map[string][]act{
		"data": {
			{nil, "none"},
			{makes("/w", "one"), "one v0"},
			{sets("/w", "two"), "two v1"},
			{sets("/w", "two"), "two v2"},
			{deletes("/w"), "none"},
			{makes("/w", "three"), "three v0"},
			{atOnce(&zk.DeleteRequest{Path: "/w", Version: -1},
				&zk.CreateRequest{Path: "/w", Data: []byte("four"), Acl: openACL}), "four v0"},
		},
		"children": {
			{nil, "none"},
			{makes("/w", ""), ""},
			{makes("/w/b", ""), "b"},
			{makes("/w/a", ""), "a b"},
			{deletes("/w/b"), "a"},
			{atOnce(&zk.DeleteRequest{Path: "/w/a", Version: -1}, &zk.DeleteRequest{Path: "/w", Version: -1}), "none"},
		},
		"patient": {
			{nil, "none"},
			{makes("/w", ""), ""},
			{makes("/w/b", ""), "b"},
			{deletes("/w/b"), ""},
			{deletes("/w"), "none"},
		},
		"cache": {
			{nil, ": "},
			{func(a actor) error {
				return atOnce(&zk.CreateRequest{Path: "/w", Acl: openACL},
					&zk.CreateRequest{Path: "/w/b", Data: []byte("1"), Acl: openACL})(a)
			}, "added b=1: b=1"},
			{makes("/w/a", "2"), "added a=2: a=2 b=1"},
			{sets("/w/b", "3"), "updated b=3: a=2 b=3"},
			{deletes("/w/a"), "removed a=2: b=3"},
			{atOnce(&zk.DeleteRequest{Path: "/w/b", Version: -1},
				&zk.CreateRequest{Path: "/w/b", Data: []byte("3"), Acl: openACL}), "removed b=3, added b=3: b=3"},
			{atOnce(&zk.DeleteRequest{Path: "/w/b", Version: -1}, &zk.DeleteRequest{Path: "/w", Version: -1}), "removed b=3: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			play(t, func(*sim.World) { told = nil }, func(a actor) {
				a.is("Run", watchers[name](a, ctx, "/w", recipes.WatchOptions{}, func(what string) bool {
					told = append(told, what)
					return len(told) < len(acts)
				}), nil)
			}, func(a actor) {
				for i, x := range acts {
					if x.do != nil {
						a.is("acting", x.do(a), nil)
					}
					a.until(func() bool { return len(told) > i })
				}
			})
			for i, x := range acts {
				if told[i] != x.told {
					t.Errorf("told %q, want %q", told[i], x.told)
				}
			}
		})
	}
}

func TestWatchersEndWithTheirContextAndTheirConnection(t *testing.T) {
	for name, run := range watchers {
		t.Run(name, func(t *testing.T) {
			never := func(string) bool { t.Error("told"); return true }
			play(t, create("/w", openACL), func(a actor) {
				done, cancel := context.WithCancel(ctx)
				cancel()
				a.is("with a done context", run(a, done, "/w", recipes.WatchOptions{}, never), context.Canceled)
				soon, end := a.env.WithTimeout(ctx, 10*time.Second)
				defer end()
				told := 0
				err := run(a, soon, "/w", recipes.WatchOptions{}, func(string) bool { told++; return true })
				a.is("with a timeout", err, context.DeadlineExceeded)
				if told > 1 || told == 0 && a.env.Now().IsZero() {
					a.t.Errorf("told %d times", told)
				}
				a.is("with a path that is none", run(a, ctx, "w", recipes.WatchOptions{}, never), zk.ErrInvalidPath)
				a.env.Go("closer", func() {
					a.until(func() bool { return told > 1 })
					a.Close()
				})
				told = 1
				a.is("after Close", run(a, ctx, "/w", recipes.WatchOptions{}, func(string) bool { told++; return true }),
					zk.ErrClosing)
			})
		})
	}
}

func TestWatchersReturnWhatWaitingDoesNotCure(t *testing.T) {
	for name, run := range watchers {
		t.Run(name, func(t *testing.T) {
			play(t, create("/w", zk.DigestACL(zk.PermAll, "me", "secret")), func(a actor) {
				a.is("Run", run(a, ctx, "/w", recipes.WatchOptions{}, func(string) bool { return true }), zk.ErrNoAuth)
			})
		})
	}
}

// What has not changed is not told again, whatever happens to the session, and
// what changed meanwhile is told.
func TestWatchersOutliveTheirSessions(t *testing.T) {
	for name, run := range watchers {
		for _, fault := range []string{"disconnect c1", "learn-late c1"} {
			t.Run(name+", "+fault, func(t *testing.T) {
				var told []string
				var doubts []bool
				play(t, func(w *sim.World) { told, doubts = nil, nil; create("/w", openACL)(w) }, func(a actor) {
					opt := recipes.WatchOptions{Suspect: func(x bool) { doubts = append(doubts, x) }}
					a.is("Run", run(a, ctx, "/w", opt, func(what string) bool { told = append(told, what); return len(told) < 2 }),
						nil)
				}, func(a actor) {
					a.until(func() bool { return len(told) == 1 })
					for range 300 { // until the watcher waits
						a.env.Now()
					}
					doubts = nil // those of the beginning
					a.happen(fault)
					a.until(func() bool { return slices.Contains(doubts, true) })
					a.until(func() bool { return slices.Contains(doubts, false) })
					if len(told) != 1 {
						a.t.Errorf("told %q", told)
					}
					if name == "data" {
						a.is("Set", sets("/w", "x")(a), nil)
					} else {
						a.is("Create", makes("/w/x", "x")(a), nil)
					}
				})
				if len(told) != 2 || told[0] == told[1] || len(doubts) < 2 || !doubts[0] || doubts[1] {
					t.Errorf("told %q, doubts %v", told, doubts)
				}
			})
		}
	}
}

func TestPatientWatchersWaitUntilNothingHappens(t *testing.T) {
	var told []string
	play(t, func(*sim.World) { told = nil }, func(a actor) {
		w := recipes.NewPatientChildrenWatch(a.Conn, a.env, "/w", time.Minute, recipes.WatchOptions{})
		var at time.Time
		a.is("Run", w.Run(ctx, inWords(func(what string) bool {
			told = append(told, what)
			at = a.env.Now()
			return what != "a b c"
		})), nil)
		_, stat, err := a.Exists("/w/c")
		a.is("Exists", err, nil)
		if quiet := at.Sub(time.UnixMilli(stat.Ctime)); quiet < time.Minute {
			a.t.Errorf("told after %v", quiet)
		}
	}, func(a actor) {
		for _, path := range []string{"/w", "/w/a", "/w/b", "/w/c"} {
			a.is("Create", makes(path, "")(a), nil)
			a.env.Sleep(ctx, time.Second)
		}
	})
	if !slices.Equal(told, []string{"a b c"}) {
		t.Errorf("told %q", told)
	}
}

func TestACacheOfTheRoot(t *testing.T) {
	play(t, create("/a", openACL), func(a actor) {
		a.is("Run", recipes.NewChildrenCache(a.Conn, a.env, "/", recipes.WatchOptions{}).Run(ctx,
			func(now []recipes.Child, _ []recipes.Change) bool {
				if !slices.ContainsFunc(now, func(c recipes.Child) bool { return c.Name == "a" && c.Stat.Czxid > 0 }) {
					a.t.Errorf("%+v", now)
				}
				return false
			}), nil)
	})
}

func TestACacheDoesNotOverlookAChildThatComesAndGoes(t *testing.T) {
	last := ""
	play(t, create("/w", openACL), func(a actor) {
		soon, end := a.env.WithTimeout(ctx, time.Hour)
		defer end()
		a.is("Run", watchers["cache"](a, soon, "/w", recipes.WatchOptions{}, func(what string) bool {
			_, last, _ = strings.Cut(what, ": ")
			return true
		}), context.DeadlineExceeded)
	}, func(a actor) {
		for i := range 10 {
			a.is("Create", makes("/w/a", fmt.Sprint(i))(a), nil)
			if i < 9 {
				a.is("Delete", deletes("/w/a")(a), nil)
			}
		}
		a.env.Sleep(ctx, time.Minute)
	})
	if last != "a=9" {
		t.Errorf("told last %q", last)
	}
}

func ExampleDataWatch() {
	ctx := context.Background()
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		conn, env := c.Conn(), c.Env()
		if c.Name() == "c2" {
			env.Sleep(ctx, time.Second)
			conn.Create("/settings", []byte("blue"), 0, zk.WorldACL(zk.PermAll))
			env.Sleep(ctx, time.Second)
			conn.Set("/settings", []byte("green"), -1)
			return
		}
		watch := recipes.NewDataWatch(conn, env, "/settings", recipes.WatchOptions{})
		err := watch.Run(ctx, func(data []byte, stat *zk.Stat) bool {
			fmt.Printf("%q, exists: %t\n", data, stat != nil)
			return string(data) != "green"
		})
		fmt.Println(err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// "", exists: false
	// "blue", exists: true
	// "green", exists: true
	// <nil>
}

// fleeting has a znode come and go before the first fence.
type fleeting struct {
	recipes.Conn
	path   string
	fences int
}

func (f *fleeting) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if f.fences++; f.fences == 1 {
		if _, err := f.Create(f.path, nil, 0, zk.WorldACL(zk.PermAll)); err == nil {
			f.Delete(f.path, -1)
		}
	}
	return f.Conn.Multi(ops...)
}

func TestAZnodeThatComesAndGoesBeforeItIsListedAgainHasNotSettled(t *testing.T) {
	play(t, nil, func(a actor) {
		conn := &fleeting{Conn: a.Conn, path: "/fleeting"}
		w := recipes.NewPatientChildrenWatch(conn, a.env, conn.path, time.Second, recipes.WatchOptions{})
		a.is("Run", w.Run(ctx, func([]string, *zk.Stat) bool { return false }), nil)
		if conn.fences != 2 {
			a.t.Errorf("told after %d times to settle, want 2", conn.fences)
		}
	})
}

func ExamplePatientChildrenWatch() {
	ctx := context.Background()
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		conn, env := c.Conn(), c.Env()
		if c.Name() == "c2" {
			for _, path := range []string{"/workers", "/workers/a", "/workers/b", "/workers/c"} {
				conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
				env.Sleep(ctx, time.Second)
			}
			return
		}
		watch := recipes.NewPatientChildrenWatch(conn, env, "/workers", time.Minute, recipes.WatchOptions{})
		err := watch.Run(ctx, func(children []string, _ *zk.Stat) bool {
			fmt.Println("share out the work among", len(children))
			return false
		})
		fmt.Println(err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// share out the work among 3
	// <nil>
}

func ExampleChildrenCache() {
	ctx := context.Background()
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		conn, env := c.Conn(), c.Env()
		conn.Create("/services", nil, 0, zk.WorldACL(zk.PermAll))
		conn.Create("/services/mail", []byte("host 1"), 0, zk.WorldACL(zk.PermAll))
		cache := recipes.NewChildrenCache(conn, env, "/services", recipes.WatchOptions{})
		err := cache.Run(ctx, func(now []recipes.Child, changes []recipes.Change) bool {
			for _, c := range changes {
				fmt.Printf("%s %s: %s\n", c.Kind, c.Name, c.Data)
			}
			if string(now[0].Data) == "host 2" {
				return false
			}
			conn.Set("/services/mail", []byte("host 2"), -1)
			return true
		})
		fmt.Println(err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// added mail: host 1
	// updated mail: host 2
	// <nil>
}
