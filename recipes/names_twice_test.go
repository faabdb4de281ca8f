package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// losesAnswer is a connection that loses the answer to the first multi of so many operations.
type losesAnswer struct {
	recipes.Conn
	ops       int
	lost      bool
	meanwhile func()
}

func (l *losesAnswer) Multi(ops ...any) ([]zk.MultiResponse, error) {
	results, err := l.Conn.Multi(ops...)
	if len(ops) == l.ops && !l.lost {
		l.lost = true
		l.meanwhile()
		return nil, zk.ErrConnectionClosed
	}
	return results, err
}

// The first request of a client is no other: its session is not known before it is answered.
func TestANameThatIsUnregisteredBeforeItsAnswerStaysSo(t *testing.T) {
	play(t, nil, func(a actor) {
		opt := recipes.NamesOptions{Owner: "me"}
		other := recipes.NewNames(a.Conn, a.env, "/names", opt)
		n := recipes.NewNames(&losesAnswer{Conn: a.Conn, ops: 3, meanwhile: func() {
			a.is("Unregister", other.Unregister(ctx, "x"), nil)
		}}, a.env, "/names", opt)
		a.is("Register", n.Register(ctx, "x", nil), nil)
		if data, err := n.Resolve(ctx, "x"); err != recipes.ErrNoName {
			a.t.Errorf("%q, %v: it was registered twice", data, err)
		}
	})
}

// beforeMulti is a connection before whose first multi of so many operations something happens.
type beforeMulti struct {
	recipes.Conn
	ops       int
	meanwhile func()
}

func (b *beforeMulti) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if f := b.meanwhile; len(ops) == b.ops && f != nil {
		b.meanwhile = nil
		f()
	}
	return b.Conn.Multi(ops...)
}

// Of two that unregister a name one has done it.
func TestANameIsUnregisteredOnce(t *testing.T) {
	play(t, nil, func(a actor) {
		opt := recipes.NamesOptions{Owner: "me"}
		n := recipes.NewNames(a.Conn, a.env, "/names", opt)
		b := recipes.NewNames(&beforeMulti{a.Conn, 2, func() { a.is("Unregister", n.Unregister(ctx, "x"), nil) }}, a.env,
			"/names", opt)
		a.is("Register", n.Register(ctx, "x", nil), nil)
		a.is("Unregister what is gone by then", b.Unregister(ctx, "x"), recipes.ErrNoName)
	})
}
