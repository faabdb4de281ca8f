package recipes_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// lateNamer is a connection whose first registration is executed late, when its client has taken another number.
type lateNamer struct {
	recipes.Conn
	a     actor
	name  string // that is registered first
	tries int
	late  bool
	taken func()
	free  func()
}

func (l *lateNamer) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) != 3 {
		return l.Conn.Multi(ops...)
	}
	switch l.tries++; l.tries {
	case 1:
		l.name = strings.TrimPrefix(ops[1].(*zk.CreateRequest).Path, "/names/")
		l.a.wanted = append(l.a.wanted, "disconnect c1", "lost-early c1")
	case 2:
		l.taken()
	}
	return l.Conn.Multi(ops...)
}

func (l *lateNamer) Delete(path string, version int32) error {
	if l.tries > 1 && !l.late {
		l.late = true
		l.free()
		l.a.happen("late c1")
	}
	return l.Conn.Delete(path, version)
}

// Where somebody has chosen the name of a number, but it has become free when its request is executed late, the next
// one is not registered as well.
func TestANumberThatSomebodyHasChosenIsNotRegisteredLate(t *testing.T) {
	late := 0
	play(t, func(*sim.World) {}, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{Owner: "other"})
		a.is("Register", n.Register(ctx, "x", nil), nil)
		l := &lateNamer{Conn: a.Conn, a: a}
		l.taken = func() { a.is("Register", n.Register(ctx, l.name, nil), nil) }
		l.free = func() { a.is("Unregister", n.Unregister(ctx, l.name), nil); late++ }
		got, err := recipes.NewNames(l, a.env, "/names", recipes.NamesOptions{Owner: "own"}).RegisterNext(ctx, "p", nil)
		a.is("RegisterNext", err, nil)
		for range 1000 {
			a.env.Now()
		}
		if all, err := n.List(ctx); len(all) != 2 {
			a.t.Errorf("%q, %v; own is %q", all, err, got)
		}
	})
	if late == 0 {
		t.Error("nothing was late")
	}
}
