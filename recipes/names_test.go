package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func newNames(a actor, owner string) *recipes.Names {
	return recipes.NewNames(a.Conn, a.env, "/apps/names", recipes.NamesOptions{Owner: owner})
}

func TestANameBelongsToWhoRegistersIt(t *testing.T) {
	h := play(t, nil, func(a actor) {
		mine, other := newNames(a, ""), newNames(a, "")
		resolve := func(name, want string, wantErr error) {
			a.t.Helper()
			data, err := other.Resolve(ctx, name)
			if string(data) != want || err != wantErr {
				a.t.Errorf("Resolve(%s): %q, %v; want %q, %v", name, data, err, want, wantErr)
			}
		}
		list := func(want ...string) {
			a.t.Helper()
			if names, err := other.List(ctx); !slices.Equal(names, want) || err != nil {
				a.t.Errorf("List: %v, %v; want %v", names, err, want)
			}
		}
		list()
		resolve("b", "", recipes.ErrNoName)
		a.is("Unregister", mine.Unregister(ctx, "b"), recipes.ErrNoName)
		a.is("Register", mine.Register(ctx, "b", []byte("here")), nil)
		a.is("Register again", mine.Register(ctx, "b", []byte("there")), recipes.ErrNameTaken)
		a.is("Register another's", other.Register(ctx, "b", []byte("there")), recipes.ErrNameTaken)
		a.is("Register", other.Register(ctx, "a", nil), nil)
		resolve("b", "here", nil)
		resolve("a", "", nil)
		list("a", "b")
		a.is("Unregister another's", other.Unregister(ctx, "b"), recipes.ErrNotOwner)
		a.is("Unregister", mine.Unregister(ctx, "b"), nil)
		a.is("Unregister again", mine.Unregister(ctx, "b"), recipes.ErrNoName)
		resolve("b", "", recipes.ErrNoName)
		a.is("Register", other.Register(ctx, "b", []byte("there")), nil)
		a.is("Unregister another's", mine.Unregister(ctx, "b"), recipes.ErrNotOwner)
		resolve("b", "there", nil)
		for _, name := range []string{"", "a/b", "/", "_c_x", ".", ".."} {
			a.is("Register "+name, mine.Register(ctx, name, nil), zk.ErrInvalidPath)
			_, err := mine.Resolve(ctx, name)
			a.is("Resolve "+name, err, zk.ErrInvalidPath)
			a.is("Unregister "+name, mine.Unregister(ctx, name), zk.ErrInvalidPath)
		}
		_, err := mine.RegisterNext(ctx, "a/b", nil)
		a.is("RegisterNext", err, zk.ErrInvalidPath)
		list("a", "b")
	})
	nothingLeft(t, h)
}

func TestANameOutlivesItsSessionAndItsOwnerMayComeBack(t *testing.T) {
	gone := false
	h := play(t, func(*sim.World) { gone = false }, func(a actor) {
		a.is("Register", newNames(a, "host-1").Register(ctx, "db", []byte("1")), nil)
		a.Close()
		gone = true
	}, func(a actor) {
		a.until(func() bool { return gone })
		a.is("Unregister by host", newNames(a, "host").Unregister(ctx, "db"), recipes.ErrNotOwner)
		restarted := newNames(a, "host-1")
		a.is("Register", restarted.Register(ctx, "db", []byte("2")), recipes.ErrNameTaken)
		a.is("Unregister", restarted.Unregister(ctx, "db"), nil)
		a.is("Register", restarted.Register(ctx, "db", []byte("2")), nil)
	})
	nothingLeft(t, h)
}

func TestNumbersOfNamesAreTheServers(t *testing.T) {
	var all []string
	register := func(a actor) {
		n := newNames(a, "")
		last := ""
		for range 4 {
			name, err := n.RegisterNext(ctx, "job-", []byte("x"))
			if err != nil || name <= last || !strings.HasPrefix(name, "job-") || len(name) != len("job-0000000000") {
				a.t.Errorf("%q after %q, %v", name, last, err)
			}
			last = name
			all = append(all, name)
		}
	}
	h := play(t, func(*sim.World) { all = nil }, register, register, register)
	nothingLeft(t, h)
	slices.Sort(all)
	if len(slices.Compact(all)) != 12 {
		t.Errorf("%v", all)
	}

	// A number that somebody has chosen as a name is passed over.
	play(t, nil, func(a actor) {
		n := newNames(a, "")
		first, err := n.RegisterNext(ctx, "job-", nil)
		a.is("RegisterNext", err, nil)
		var number int
		fmt.Sscanf(first, "job-%d", &number)
		for i := range 10 {
			a.is("Register", n.Register(ctx, fmt.Sprintf("job-%010d", number+10+i), nil), nil)
		}
		for range 20 {
			name, err := n.RegisterNext(ctx, "job-", nil)
			if data, err2 := n.Resolve(ctx, name); err != nil || err2 != nil || data != nil {
				a.t.Errorf("%q: %v, %v", name, err, err2)
			}
		}
	})
}

func TestNumbersOfNamesEnd(t *testing.T) {
	h := play(t, func(w *sim.World) {
		create("/names", openACL)(w)
		w.SetCounter("/names", math.MaxInt32-1)
	}, func(a actor) {
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{})
		var last string
		for {
			name, err := n.RegisterNext(ctx, "job-", nil)
			if err != nil {
				a.is("RegisterNext after "+last, err, recipes.ErrNameTaken)
				break
			}
			last = name
		}
		a.is("Unregister", n.Unregister(ctx, last), nil)
		for range 3 {
			_, err := n.RegisterNext(ctx, "job-", nil)
			a.is("RegisterNext after Unregister", err, recipes.ErrNameTaken)
		}
	})
	nothingLeft(t, h)
}

func TestANameServiceWithADoneContext(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		n := newNames(a, "")
		a.is("Register", n.Register(done, "a", nil), context.Canceled)
		_, err := n.RegisterNext(done, "a", nil)
		a.is("RegisterNext", err, context.Canceled)
		_, err = n.Resolve(done, "a")
		a.is("Resolve", err, context.Canceled)
		_, err = n.List(done)
		a.is("List", err, context.Canceled)
		a.is("Unregister", n.Unregister(done, "a"), context.Canceled)
		a.Close()
		if err := n.Register(ctx, "a", nil); !errors.Is(err, zk.ErrClosing) {
			a.t.Errorf("Register after Close: %v", err)
		}
	})
	if len(h.Tree) > 1 {
		t.Errorf("%v", h.Tree)
	}
}

func TestACancelledRegistrationIsTakenBack(t *testing.T) {
	var canceled, own int
	h := play(t, nil, func(a actor) {
		n := newNames(a, "")
		soon, cancel := context.WithCancel(ctx)
		a.env.Go("impatient", func() {
			a.until(func() bool { return a.random.IntN(20) == 0 })
			a.happen("lose-reply c1")
			cancel()
		})
		for i := 0; soon.Err() == nil; i++ {
			switch err := n.Register(soon, fmt.Sprint(i), nil); err {
			case nil:
				own++
				a.is("Unregister", n.Unregister(ctx, fmt.Sprint(i)), nil)
			case context.Canceled:
				canceled++
			default:
				a.t.Error(err)
			}
		}
	})
	nothingLeft(t, h)
	for _, node := range h.Tree {
		if node.Path != "/" && node.Path != "/apps" && node.Path != "/apps/names" {
			t.Errorf("%s stays", node.Path)
		}
	}
	if canceled == 0 || own == 0 {
		t.Errorf("%d cancelled, %d registered", canceled, own)
	}
}

func TestANameServiceWithoutPermission(t *testing.T) {
	h := play(t, create("/names", zk.WorldACL(zk.PermRead)), func(a actor) {
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{})
		a.is("Register", n.Register(ctx, "a", nil), zk.ErrNoAuth)
		_, err := n.RegisterNext(ctx, "a", nil)
		a.is("RegisterNext", err, zk.ErrNoAuth)
		a.is("Register by a/b", newNames(a, "a/b").Register(ctx, "a", nil), zk.ErrInvalidPath)
	})
	nothingLeft(t, h)
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	play(t, nil, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{ACL: mine})
		a.is("Register", n.Register(ctx, "a", nil), nil)
		other := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{Owner: "a/b"})
		if names, err := other.List(ctx); err != nil || !slices.Equal(names, []string{"a"}) {
			a.t.Errorf("List by a/b: %v, %v", names, err)
		}
		acl, _, err := a.GetACL("/names/a")
		if err != nil || !slices.Equal(acl, mine) {
			a.t.Errorf("%v, %v", acl, err)
		}
	}, func(a actor) {
		a.until(func() bool { ok, _, err := a.Exists("/names/a"); return ok && err == nil })
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{})
		_, err := n.Resolve(ctx, "a")
		a.is("Resolve by a stranger", err, zk.ErrNoAuth)
		a.is("Unregister by a stranger", n.Unregister(ctx, "a"), zk.ErrNoAuth)
	})
}

// ExampleNames registers and resolves in the simulator; live.Dial gives conn and
// env of a real ensemble.
func ExampleNames() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		ctx := context.Background()
		names := recipes.NewNames(c.Conn(), c.Env(), "/services", recipes.NamesOptions{Owner: "host-1"})
		fmt.Println(names.Register(ctx, "db", []byte("10.0.0.1:5432")))
		fmt.Println(names.Register(ctx, "db", []byte("10.0.0.2:5432")))
		data, err := names.Resolve(ctx, "db")
		fmt.Println(string(data), err)
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// recipes: name is taken
	// 10.0.0.1:5432 <nil>
}
