package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// lateClaim is a connection whose first registration is executed late; before the second, another takes the name.
type lateClaim struct {
	recipes.Conn
	a     actor
	tries int
	taken func()
}

func (l *lateClaim) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 3 {
		switch l.tries++; l.tries {
		case 1:
			l.a.wanted = append(l.a.wanted, "disconnect c1", "lost-early c1")
		case 2:
			l.taken()
		}
	}
	return l.Conn.Multi(ops...)
}

// A client that is told that a name is another's has not registered it, and does not when the owner gives it up.
func TestARefusedNameIsNotRegisteredLate(t *testing.T) {
	refused := 0
	play(t, func(*sim.World) {}, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{Owner: "other"})
		a.is("Register", n.Register(ctx, "x", nil), nil)
		a.is("Unregister", n.Unregister(ctx, "x"), nil)
		l := &lateClaim{Conn: a.Conn, a: a}
		l.taken = func() { a.is("Register by another", n.Register(ctx, "x", []byte("other")), nil) }
		env := &lateUndo{Env: a.env, a: a}
		err := recipes.NewNames(l, env, "/names", recipes.NamesOptions{Owner: "own"}).Register(ctx, "x", []byte("own"))
		a.is("Register", err, recipes.ErrNameTaken)
		a.is("Unregister by the other", n.Unregister(ctx, "x"), nil)
		if canHappen(a.world, "late c1") {
			refused++
			a.happen("late c1")
		}
		for range 30 {
			a.env.Now()
		}
		if data, err := n.Resolve(ctx, "x"); err != recipes.ErrNoName {
			a.t.Errorf("%q, %v after a Register that was refused", data, err)
		}
		env.release = true
	})
	if refused == 0 {
		t.Error("nothing was late")
	}
}
