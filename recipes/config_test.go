package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

const configDir = "/apps/config"

func newConfig(a actor) *recipes.Config {
	return recipes.NewConfig(a.Conn, a.env, configDir, recipes.ConfigOptions{})
}

func newFlagged(a actor) *recipes.FlaggedConfig {
	return recipes.NewFlaggedConfig(a.Conn, a.env, configDir, recipes.ConfigOptions{})
}

// values makes a set of words "name=value".
func values(words ...string) map[string][]byte {
	set := map[string][]byte{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		set[name] = []byte(value)
	}
	return set
}

func (a actor) set(what string, set recipes.ConfigSet, err error, want ...string) recipes.ConfigSet {
	a.t.Helper()
	if err != nil || !maps.EqualFunc(set.Values, values(want...), slices.Equal) {
		a.t.Errorf("%s: %q, %v; want %v", what, set.Values, err, want)
	}
	return set
}

func TestAConfigurationIsComparedAndSet(t *testing.T) {
	h := play(t, nil, func(a actor) {
		c := newConfig(a)
		none, err := c.Get(ctx)
		a.set("Get before anything", none, err)
		if none.Zxid != 0 {
			a.t.Errorf("zxid %x", none.Zxid)
		}
		a.is("Update", c.Update(ctx, none, values("a=1", "b=1", "c=")), nil)
		first, err := c.Get(ctx)
		a.set("Get", first, err, "a=1", "b=1", "c=")
		a.is("Update from nothing", c.Update(ctx, none, values("a=2")), recipes.ErrConfigChanged)
		a.is("Update", c.Update(ctx, first, values("a=2", "b=1", "d=2")), nil)
		second, err := c.Get(ctx)
		a.set("Get", second, err, "a=2", "b=1", "d=2")
		if second.Zxid <= first.Zxid {
			a.t.Errorf("zxid %x after %x", second.Zxid, first.Zxid)
		}
		a.is("Update from the first", c.Update(ctx, first, values("a=3")), recipes.ErrConfigChanged)
		if _, stat, err := a.Exists(configDir + "/b"); err != nil || stat.Version != 0 {
			a.t.Errorf("a value that does not change was written: %v, %v", stat, err)
		}
		a.is("Update to nothing", c.Update(ctx, second, nil), nil)
		empty, err := c.Get(ctx)
		a.set("Get", empty, err)
		for _, name := range []string{"", "a/b", "..", "_r_1"} {
			a.is("Update of "+name, c.Update(ctx, empty, values(name+"=1")), zk.ErrInvalidPath)
			a.is("Update of "+name, newFlagged(a).Update(ctx, values(name+"=1")), zk.ErrInvalidPath)
		}
		// What somebody does by hand is found, not overwritten.
		_, err = a.Create(configDir+"/a", nil, 0, openACL)
		a.is("Create", err, nil)
		a.is("Update of another set", c.Update(ctx, empty, values("a=1")), recipes.ErrConfigChanged)
		byHand, err := c.Get(ctx)
		a.set("Get", byHand, err, "a=")
		a.is("Update", c.Update(ctx, byHand, values("a=1")), nil)
	})
	nothingLeft(t, h)
}

func TestAFlaggedConfigurationIsReplaced(t *testing.T) {
	h := play(t, nil, func(a actor) {
		c, atOnce := newFlagged(a), newConfig(a)
		set, err := c.Get(ctx)
		a.set("Get before anything", set, err)
		a.is("Update", c.Update(ctx, values("a=1", "b=1")), nil)
		set, err = c.Get(ctx)
		a.set("Get", set, err, "a=1", "b=1")
		a.is("Update", c.Update(ctx, values("a=2", "c=2")), nil)
		set, err = atOnce.Get(ctx)
		a.set("Get by a Config", set, err, "a=2", "c=2")
		a.is("Update by a Config", atOnce.Update(ctx, set, values("a=3")), nil)
		set, err = c.Get(ctx)
		a.set("Get", set, err, "a=3")
		a.is("Update to nothing", c.Update(ctx, nil), nil)
		set, err = c.Get(ctx)
		a.set("Get", set, err)
		a.is("Delete", a.Delete(configDir, -1), nil)
		a.is("Update", c.Update(ctx, values("a=4")), nil)
	})
	nothingLeft(t, h)
}

func TestAnUpdateThatDiesLeavesTheConfigurationInvalidUntilTheNext(t *testing.T) {
	died, invalid := false, 0
	play(t, func(*sim.World) { died = false }, func(a actor) {
		a.is("Update", newFlagged(a).Update(ctx, values("a=1", "b=1", "c=1")), nil)
		a.env.Go("killer", func() {
			a.until(func() bool { return a.random.IntN(15) == 0 })
			died = true
			a.happen("crash c1")
		})
		newFlagged(a).Update(ctx, values("a=2", "b=2", "d=2"))
		a.until(func() bool { return false })
	}, func(a actor) {
		a.until(func() bool { return died && !slices.Contains(a.wanted, "crash c1") })
		c := newFlagged(a)
		set, err := c.Get(ctx)
		switch {
		case err == recipes.ErrConfigInvalid:
			invalid++
		case string(set.Values["a"]) == "1":
			a.set("Get", set, err, "a=1", "b=1", "c=1")
		default:
			a.set("Get", set, err, "a=2", "b=2", "d=2")
		}
		a.is("Update", c.Update(ctx, values("a=3", "e=3")), nil)
		set, err = newConfig(a).Get(ctx)
		a.set("Get", set, err, "a=3", "e=3")
	})
	if invalid == 0 {
		t.Error("no updater died at work")
	}
}

func TestTheLaterOfTwoFlaggedUpdatesWins(t *testing.T) {
	var ended []string
	overtaken := 0
	h := play(t, func(*sim.World) { ended = nil }, func(a actor) {
		updateFlagged(a, "1", &ended, &overtaken)
	}, func(a actor) {
		updateFlagged(a, "2", &ended, &overtaken)
	}, func(a actor) {
		updateFlagged(a, "3", &ended, &overtaken)
		a.until(func() bool { return len(ended) == 3 })
		set, err := newFlagged(a).Get(ctx)
		a.set("Get", set, err, "a="+string(set.Values["a"]), "b="+string(set.Values["a"]))
	})
	nothingLeft(t, h)
	if overtaken == 0 {
		t.Error("no two updates at once")
	}
}

func updateFlagged(a actor, value string, ended *[]string, overtaken *int) {
	switch err := newFlagged(a).Update(ctx, values("a="+value, "b="+value)); err {
	case nil:
	case recipes.ErrConfigChanged:
		*overtaken++
	default:
		a.t.Error(err)
	}
	*ended = append(*ended, value)
}

func TestAnUpdateIsMadeOnceWhateverIsLost(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1", "disconnect c1"} {
		over := false
		h := play(t, func(*sim.World) { over = false }, func(a actor) {
			c, f := newConfig(a), newFlagged(a)
			for i := range 5 {
				set, err := c.Get(ctx)
				a.is("Get", err, nil)
				a.is("Update", c.Update(ctx, set, values(fmt.Sprintf("a=%d", i), "b=")), nil)
				a.is("flagged Update", f.Update(ctx, values(fmt.Sprintf("a=%d", i), "c=")), nil)
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

func TestACachedConfigurationFollows(t *testing.T) {
	for _, fault := range []string{"", "disconnect c1", "learn-late c1"} {
		var told []string
		h := play(t, func(*sim.World) { told = nil }, func(a actor) {
			running, stop := context.WithCancel(ctx)
			cached := recipes.NewCachedConfig(a.Conn, a.env, configDir, func(set recipes.ConfigSet) {
				told = append(told, string(set.Values["n"]))
			})
			if set := cached.Get(); set.Zxid != 0 || len(set.Values) > 0 {
				a.t.Errorf("before Run: %v", set)
			}
			a.env.Go("wait", func() {
				a.until(func() bool { return string(cached.Get().Values["n"]) == "9" })
				stop()
			})
			a.is("Run", cached.Run(running), context.Canceled)
			if string(cached.Get().Values["n"]) != "9" {
				a.t.Errorf("after Run: %v", cached.Get())
			}
		}, func(a actor) {
			for i := range 10 {
				a.is("Update", newFlagged(a).Update(ctx, values(fmt.Sprintf("n=%d", i))), nil)
				if fault != "" && i%3 == 0 {
					a.happen(fault)
				}
			}
		})
		nothingLeft(t, h)
		if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != "9" {
			t.Errorf("%s: told of %v", fault, told)
		}
	}
}

// A second coroutine keeps asking, so that its answers come first after a
// reconnect and move the zxid from which on the watch is asked for again.
func TestACachedConfigurationMissesNothingAfterTwoDisconnects(t *testing.T) {
	const updates = 40
	var seen string
	play(t, func(*sim.World) { seen = "" }, func(a actor) {
		running, stop := context.WithCancel(ctx)
		cached := recipes.NewCachedConfig(a.Conn, a.env, configDir,
			func(set recipes.ConfigSet) { seen = string(set.Values["n"]) })
		a.env.Go("other", func() {
			for seen != fmt.Sprint(updates-1) {
				a.Exists("/")
			}
			stop()
		})
		a.is("Run", cached.Run(running), context.Canceled)
	}, func(a actor) {
		c := newConfig(a)
		for i := range updates {
			set, err := c.Get(ctx)
			a.is("Get", err, nil)
			a.env.Go("disconnect", func() {
				for range 2 {
					for range a.random.IntN(12) {
						a.env.Now()
					}
					a.happen("disconnect c1")
				}
			})
			a.is("Update", c.Update(ctx, set, values(fmt.Sprintf("n=%d", i))), nil)
			a.until(func() bool { return seen == fmt.Sprint(i) && len(a.wanted) == 0 })
		}
	})
}

func TestACachedConfigurationEndsWithItsConnection(t *testing.T) {
	play(t, nil, func(a actor) {
		cached := recipes.NewCachedConfig(a.Conn, a.env, configDir, nil)
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(20) == 0 })
			a.Close()
		})
		a.is("Run", cached.Run(ctx), zk.ErrClosing)
	})
	play(t, create("/config", zk.WorldACL(zk.PermWrite)), func(a actor) {
		a.is("Run", recipes.NewCachedConfig(a.Conn, a.env, "/config", nil).Run(ctx), zk.ErrNoAuth)
	})
}

func TestAConfigurationWithADoneContext(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		c, f := newConfig(a), newFlagged(a)
		a.is("Update", c.Update(done, recipes.ConfigSet{}, values("a=1")), context.Canceled)
		a.is("flagged Update", f.Update(done, values("a=1")), context.Canceled)
		_, err := c.Get(done)
		a.is("Get", err, context.Canceled)
		a.is("Run", recipes.NewCachedConfig(a.Conn, a.env, configDir, nil).Run(done), context.Canceled)
		a.Close()
		if err := c.Update(ctx, recipes.ConfigSet{}, values("a=1")); !errors.Is(err, zk.ErrClosing) {
			a.t.Errorf("Update after Close: %v", err)
		}
		a.is("flagged Update after Close", f.Update(ctx, values("a=1")), zk.ErrClosing)
	})
	if len(h.Tree) > 1 {
		t.Errorf("%v", h.Tree)
	}
}

func TestAConfigurationWithoutPermission(t *testing.T) {
	for _, perms := range []int32{zk.PermRead, zk.PermRead | zk.PermWrite, zk.PermRead | zk.PermCreate | zk.PermDelete} {
		h := play(t, create("/config", zk.WorldACL(perms)), func(a actor) {
			c := recipes.NewConfig(a.Conn, a.env, "/config", recipes.ConfigOptions{})
			set, err := c.Get(ctx)
			a.set("Get", set, err)
			a.is("Update", c.Update(ctx, set, values("a=1")), zk.ErrNoAuth)
			f := recipes.NewFlaggedConfig(a.Conn, a.env, "/config", recipes.ConfigOptions{})
			a.is("flagged Update", f.Update(ctx, values("a=1")), zk.ErrNoAuth)
		})
		nothingLeft(t, h)
	}
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		opt := recipes.ConfigOptions{ACL: mine}
		a.is("Update", recipes.NewConfig(a.Conn, a.env, "/config", opt).Update(ctx, recipes.ConfigSet{}, values("a=1")), nil)
		a.is("Update", recipes.NewFlaggedConfig(a.Conn, a.env, "/config", opt).Update(ctx, values("a=1", "b=1")), nil)
		for _, path := range []string{"/config", "/config/a", "/config/b"} {
			if acl, _, err := a.GetACL(path); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
	})
}

// Reading leaves no watches, and a stable session no channels.
func TestReadingLeavesNothing(t *testing.T) {
	h := play(t, nil, func(a actor) {
		env := &counting{Env: a.env}
		c := recipes.NewConfig(a.Conn, env, configDir, recipes.ConfigOptions{})
		set, err := c.Get(ctx)
		a.is("Get", err, nil)
		a.is("Update", c.Update(ctx, set, values("a=1")), nil)
		for range 20 {
			_, err = c.Get(ctx)
			a.is("Get", err, nil)
		}
		if n := env.pending(); n > 0 {
			a.t.Errorf("%d channels wait for a change of state", n)
		}
	})
	for _, e := range h.Events {
		if e.Kind == history.Call && strings.HasSuffix(e.Op, "W") {
			t.Errorf("%v", e)
		}
	}
}

// ExampleConfig changes one value of a configuration in the simulator, unless
// somebody else was first; live.Dial gives conn and env of a real ensemble.
func ExampleConfig() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		ctx := context.Background()
		config := recipes.NewConfig(c.Conn(), c.Env(), "/config", recipes.ConfigOptions{})
		set, _ := config.Get(ctx)
		changed := maps.Clone(set.Values)
		changed["color"] = []byte("blue")
		err := config.Update(ctx, set, changed)
		if errors.Is(err, recipes.ErrConfigChanged) {
			fmt.Println("get and try again")
		}
		set, err = config.Get(ctx)
		fmt.Println(string(set.Values["color"]), err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output: blue <nil>
}

// ExampleCachedConfig shows a reader at work, and an updater.
func ExampleCachedConfig() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		ctx, stop := context.WithCancel(context.Background())
		cached := recipes.NewCachedConfig(c.Conn(), c.Env(), "/config", func(set recipes.ConfigSet) {
			if color, ok := set.Values["color"]; ok {
				fmt.Println("now", string(color))
				stop()
			}
		})
		c.Env().Go("update", func() {
			config := recipes.NewFlaggedConfig(c.Conn(), c.Env(), "/config", recipes.ConfigOptions{})
			config.Update(ctx, map[string][]byte{"color": []byte("blue"), "size": []byte("7")})
		})
		fmt.Println(cached.Run(ctx))
		fmt.Println(string(cached.Get().Values["size"]))
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// now blue
	// context canceled
	// 7
}
