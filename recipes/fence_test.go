package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// fencing is a connection that counts the fences: multis without operations.
type fencing struct {
	recipes.Conn
	sent *int
}

func (f fencing) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	if len(ops) == 0 {
		*f.sent++
	}
	return f.Conn.Multi(ops...)
}

// Nothing is fenced where no answer was lost and no session has ended.
func TestTheUsualPathIsNotFenced(t *testing.T) {
	fences := 0
	use := func(a actor, conn recipes.Conn) {
		l := recipes.NewLock(conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		a.is("Unlock", l.Unlock(ctx), nil)
		d := recipes.NewDoubleBarrier(conn, a.env, "/double", 2, recipes.DoubleBarrierOptions{})
		a.is("Enter", d.Enter(ctx), nil)
		a.is("Leave", d.Leave(ctx), nil)
		q := recipes.NewQueue(conn, a.env, "/queue", recipes.QueueOptions{})
		a.is("Put", q.Put(ctx, nil), nil)
		_, err := q.Take(ctx)
		a.is("Take", err, nil)
		_, err = recipes.NewCounter(conn, a.env, "/counter", recipes.CounterOptions{}).Add(ctx, 1)
		a.is("Add", err, nil)
	}
	play(t, nil, func(a actor) { use(a, fencing{a.Conn, &fences}) }, func(a actor) { use(a, fencing{a.Conn, &fences}) })
	if fences > 0 {
		t.Errorf("%d fences in 20 runs", fences)
	}
}

// What became of a create whose answer was lost is settled behind a fence.
func TestALostAnswerIsSettledBehindAFence(t *testing.T) {
	play(t, create("/lock", openACL), func(a actor) {
		fences := 0
		a.wanted = append(a.wanted, "lose-reply c1")
		l := recipes.NewLock(fencing{a.Conn, &fences}, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		if a.is("Unlock", l.Unlock(ctx), nil); fences == 0 {
			a.t.Error("there was no fence")
		}
	})
}
