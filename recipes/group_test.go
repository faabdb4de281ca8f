package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// group returns the group /group.
func (a actor) group(opt recipes.GroupOptions) *recipes.Group {
	return recipes.NewGroup(a.Conn, a.env, "/group", opt)
}

// join joins it under a name, which is the data as well.
func (a actor) join(opt recipes.GroupOptions, name string) *recipes.Membership {
	a.t.Helper()
	m, err := a.group(opt).Join(ctx, name, []byte(name))
	a.is("Join", err, nil)
	return m
}

// names lists the members.
func (a actor) names() string {
	members, err := a.group(recipes.GroupOptions{}).List(ctx)
	a.is("List", err, nil)
	var all []string
	for _, m := range members {
		if m.Stat == nil || m.Stat.EphemeralOwner == 0 {
			a.t.Errorf("%+v", m)
		}
		all = append(all, m.Name+"="+string(m.Data))
	}
	return strings.Join(all, " ")
}

// onlyTheGroupIsLeft fails if the end has other znodes than those of an empty group.
func onlyTheGroupIsLeft(t *testing.T, h *history.History) {
	t.Helper()
	for _, n := range h.Tree {
		if n.Owner != 0 || n.Path != "/" && n.Path != "/group" && n.Path != "/group/_owners" &&
			!strings.HasPrefix(n.Path, "/zookeeper") {
			t.Errorf("left behind: %s", n.Path)
		}
	}
}

func TestMembersJoinAndLeave(t *testing.T) {
	h := play(t, nil, func(a actor) {
		if all := a.names(); all != "" {
			a.t.Errorf("%q before anybody has joined", all)
		}
		data := []byte("one")
		m, err := a.group(recipes.GroupOptions{}).Join(ctx, "b", data)
		a.is("Join", err, nil)
		data[0] = 'x'
		n := a.join(recipes.GroupOptions{}, "a")
		if all := a.names(); all != "a=a b=one" {
			a.t.Errorf("%q", all)
		}
		_, err = a.group(recipes.GroupOptions{}).Join(ctx, "a", nil)
		a.is("Join again", err, recipes.ErrNameTaken)
		for _, name := range []string{"", "_owners", "x/y", "/"} {
			_, err := a.group(recipes.GroupOptions{}).Join(ctx, name, nil)
			a.is("Join as "+name, err, zk.ErrInvalidPath)
		}
		a.is("Leave", m.Leave(ctx), nil)
		a.is("Leave again", m.Leave(ctx), nil)
		if all := a.names(); all != "a=a" {
			a.t.Errorf("%q", all)
		}
		m = a.join(recipes.GroupOptions{}, "b")
		a.is("Leave", n.Leave(ctx), nil)
		a.is("Leave", m.Leave(ctx), nil)
	})
	onlyTheGroupIsLeft(t, h)
}

func TestAGroupWatchesItsMembers(t *testing.T) {
	var told []string
	want := []string{": ", "added a=a: a=a", "added b=b: a=a b=b", "removed a=a: b=b"}
	play(t, func(*sim.World) { told = nil }, func(a actor) {
		a.is("Watch", a.group(recipes.GroupOptions{}).Watch(ctx, func(now []recipes.Child, changes []recipes.Change) bool {
			told = append(told, inShort(now, changes))
			return len(told) < len(want)
		}), nil)
	}, func(a actor) {
		a.until(func() bool { return len(told) == 1 })
		m := a.join(recipes.GroupOptions{}, "a")
		a.until(func() bool { return len(told) == 2 })
		n := a.join(recipes.GroupOptions{}, "b")
		a.until(func() bool { return len(told) == 3 })
		a.is("Leave", m.Leave(ctx), nil)
		a.until(func() bool { return len(told) == 4 })
		a.is("Leave", n.Leave(ctx), nil)
	})
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// A member is the same after a disconnection, and made anew after the end of its
// session or when somebody has deleted it.
func TestLeaveWaitsUntilChangedHasReturned(t *testing.T) {
	called, returned, joined := 0, 0, false
	play(t, func(*sim.World) { called, returned, joined = 0, 0, false }, func(a actor) {
		m := a.join(recipes.GroupOptions{Changed: func(string, bool) {
			called++
			a.env.Sleep(ctx, time.Second)
			returned++
		}}, "m")
		joined = true
		a.until(func() bool { return called > 0 })
		a.is("Leave", m.Leave(ctx), nil)
		if called != returned {
			a.t.Errorf("%d calls of Changed have returned, of %d", returned, called)
		}
	}, func(a actor) {
		a.until(func() bool { return joined })
		deletes("/group/m")(a)
	})
}

func TestMembersStay(t *testing.T) {
	for name, x := range map[string]struct {
		strike func(other actor)
		same   bool
	}{
		"disconnect": {func(other actor) { other.happen("disconnect c1") }, true},
		"disconnect twice": {func(other actor) {
			other.happen("disconnect c1")
			other.happen("disconnect c1")
		}, true},
		"write":        {func(other actor) { other.is("Set", sets("/group/m", "m")(other), nil) }, true},
		"end":          {func(other actor) { other.happen("learn-late c1") }, false},
		"an operator":  {func(other actor) { other.is("Delete", deletes("/group/m")(other), nil) }, false},
		"a cruel one":  {func(other actor) { deletes("/group/m")(other); deletes("/group/m")(other) }, false},
		"lost replies": {func(other actor) { other.happen("learn-late c1"); other.happen("lose-reply c1") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var changed []bool
			var before, after *zk.Stat
			over := false
			h := play(t, func(*sim.World) { changed, before, over = nil, nil, false }, func(a actor) {
				opt := recipes.GroupOptions{Changed: func(name string, joined bool) {
					if name != "m" {
						a.t.Errorf("changed %q", name)
					}
					changed = append(changed, joined)
				}}
				m := a.join(opt, "m")
				_, stat, err := a.Exists("/group/m")
				a.is("Exists", err, nil)
				for range 300 { // until the member is watched
					a.env.Now()
				}
				before = stat
				a.until(func() bool { return over })
				a.is("Leave", m.Leave(ctx), nil)
			}, func(a actor) {
				a.until(func() bool { return before != nil })
				x.strike(a)
				for range 2000 {
					a.env.Now()
				}
				data, stat, err := a.Get("/group/m")
				if err != nil || string(data) != "m" {
					a.t.Errorf("%q, %v", data, err)
				}
				after, over = stat, true
			})
			if (after.Czxid == before.Czxid) != x.same {
				t.Errorf("made at 0x%x, then at 0x%x", before.Czxid, after.Czxid)
			}
			if len(changed)%2 != 0 || (len(changed) == 0) != (name == "write") {
				t.Errorf("changed %v", changed)
			}
			for i, joined := range changed {
				if joined != (i%2 == 1) {
					t.Errorf("changed %v", changed)
				}
			}
			onlyTheGroupIsLeft(t, h)
		})
	}
}

func TestAMemberWhoseNameWasTakenWaitsForIt(t *testing.T) {
	var joined, changed, taken bool
	h := play(t, func(*sim.World) { joined, changed, taken = false, false, false }, func(a actor) {
		m := a.join(recipes.GroupOptions{Changed: func(_ string, now bool) { joined, changed = now, true }}, "m")
		joined = true
		a.until(func() bool { return changed && joined && taken })
		if all := a.names(); all != "m=m" {
			a.t.Errorf("%q", all)
		}
		a.is("Leave", m.Leave(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return joined })
		_, err := a.group(recipes.GroupOptions{}).Join(ctx, "m", nil)
		a.is("Join", err, recipes.ErrNameTaken)
		for range 300 {
			a.env.Now()
		}
		a.happen("learn-late c1")
		m, err := a.group(recipes.GroupOptions{}).Join(ctx, "m", []byte("usurper"))
		if err == recipes.ErrNameTaken { // it was quicker
			taken = true
			return
		}
		a.is("Join", err, nil)
		for range 300 {
			a.env.Now()
		}
		if all := a.names(); all != "m=usurper" || joined {
			a.t.Errorf("%q, joined %t", all, joined)
		}
		taken = true
		a.is("Leave", m.Leave(ctx), nil)
	})
	onlyTheGroupIsLeft(t, h)
}

func TestACancelledJoinOrLeaveLeavesNothing(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		_, err := a.group(recipes.GroupOptions{}).Join(done, "m", nil)
		a.is("Join with a done context", err, context.Canceled)
		for range 20 {
			impatient, stop := context.WithCancel(ctx)
			a.env.Go("impatient", func() {
				a.until(func() bool { return a.random.IntN(20) == 0 })
				stop()
			})
			m, err := a.group(recipes.GroupOptions{}).Join(impatient, "m", nil)
			if err == nil {
				a.is("Leave with a done context", quietly(m.Leave(done)), nil)
			}
			stop()
		}
	}, func(a actor) {
		for range 3 {
			a.happen("lose-reply c1")
		}
	})
	onlyTheGroupIsLeft(t, h)
}

func TestMembershipsEndWithTheirConnection(t *testing.T) {
	var changed []bool
	h := play(t, func(*sim.World) { changed = nil }, func(a actor) {
		m := a.join(recipes.GroupOptions{Changed: func(_ string, joined bool) { changed = append(changed, joined) }}, "m")
		a.Close()
		a.until(func() bool { return len(changed) > 0 })
		if err := m.Leave(ctx); err != zk.ErrClosing {
			a.t.Errorf("Leave: %v", err)
		}
		_, err := a.group(recipes.GroupOptions{}).Join(ctx, "n", nil)
		a.is("Join", err, zk.ErrClosing)
		_, err = a.group(recipes.GroupOptions{}).List(ctx)
		a.is("List", err, zk.ErrClosing)
	})
	if !slices.Equal(changed, []bool{false}) {
		t.Errorf("changed %v", changed)
	}
	nothingLeft(t, h)
}

func TestAGroupHasAnACL(t *testing.T) {
	acl := zk.DigestACL(zk.PermAll, "me", "secret")
	play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		m := a.join(recipes.GroupOptions{ACL: acl}, "m")
		for _, path := range []string{"/group", "/group/m", "/group/_owners"} {
			got, _, err := a.GetACL(path)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(acl) {
				a.t.Errorf("%s: %v, %v", path, got, err)
			}
		}
		a.is("Leave", m.Leave(ctx), nil)
	})
	play(t, create("/group", zk.WorldACL(zk.PermRead)), func(a actor) {
		_, err := a.group(recipes.GroupOptions{}).Join(ctx, "m", nil)
		a.is("Join", err, zk.ErrNoAuth)
	})
}

func ExampleGroup() {
	ctx := context.Background()
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		group := recipes.NewGroup(c.Conn(), c.Env(), "/services/mail", recipes.GroupOptions{})
		if c.Name() == "c2" {
			c.Env().Sleep(ctx, time.Second)
			member, err := group.Join(ctx, "backup", []byte("host 2"))
			if err == nil {
				c.Env().Sleep(ctx, time.Minute)
				err = member.Leave(ctx)
			}
			if err != nil {
				fmt.Println(err)
			}
			return
		}
		err := group.Watch(ctx, func(now []recipes.Child, changes []recipes.Change) bool {
			for _, c := range changes {
				fmt.Printf("%s %s, %s\n", c.Kind, c.Name, c.Data)
			}
			return len(changes) == 0 || changes[0].Kind != recipes.Removed
		})
		fmt.Println(err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// added backup, host 2
	// removed backup, host 2
	// <nil>
}
