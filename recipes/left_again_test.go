package recipes_test

import (
	"path"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// lateWorker is a connection by which a worker registers in a session that it then gives up.
type lateWorker struct {
	recipes.Conn
	a     actor
	tries int
}

func (l *lateWorker) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 2 {
		if _, ok := ops[0].(*zk.CreateRequest); ok {
			if l.tries++; l.tries == 1 {
				l.a.wanted = append(l.a.wanted, "disconnect c1", "lost-early c1")
			}
		}
	}
	return l.Conn.Multi(ops...)
}

// A worker that has left may be registered late, by its first try. That ends with the session, and its tasks go to
// others.
func TestAWorkerThatIsRegisteredLateKeepsNoTask(t *testing.T) {
	late := 0
	play(t, func(*sim.World) {}, func(a actor) {
		a.idle, a.tardy = true, true
		a.avoid = func(name string) bool { return name == "lapse c1" }
		stop := a.master()
		defer stop()
		first := a.submit(a.client(), "x")
		w := recipes.NewWorker(&lateWorker{Conn: a.Conn, a: a}, a.env, "/pool", recipes.PoolOptions{})
		a.is("Done", w.Done(ctx, a.work(w, "x"), nil), nil)
		a.is("Forget", first.Forget(ctx), nil)
		name := path.Base(w.Znodes()[0])
		a.is("Leave", w.Leave(ctx), nil)
		for range 30 {
			a.env.Now()
		}
		if !canHappen(a.world, "late c1") {
			return
		}
		a.happen("late c1")
		if exists, _, err := a.Exists("/pool/workers/" + name); !exists || err != nil {
			return
		}
		late++
		second := a.submit(a.client(), "y")
		a.until(func() bool { names, _, err := a.Children("/pool/assign/" + name); return err == nil && len(names) > 0 })
		a.avoid = nil
		other := a.worker()
		a.is("Done", other.Done(ctx, a.work(other, "y"), []byte("done")), nil)
		a.results(second, "done")
		a.is("Leave", other.Leave(ctx), nil)
	})
	if late == 0 {
		t.Error("nothing was late")
	}
}

// Where somebody has deleted a claim, and another consumer has claimed the item, Return takes the claim of that one.
func TestAReturnAfterADeletedClaimEndsTheNextClaim(t *testing.T) {
	play(t, nil, func(a actor) {
		a.puts(a.queue(recipes.QueueOptions{}), "a")
		x := a.claim(a.queue(recipes.QueueOptions{}), "a")
		a.is("Delete", a.Delete(x.Znodes()[0], -1), nil)
		other := a.claim(a.queue(recipes.QueueOptions{}), "a")
		a.is("Return", x.Return(ctx), nil)
		a.takes(a.queue(recipes.QueueOptions{}).TryTake, "a")
		a.is("Ack", other.Ack(ctx), recipes.ErrClaimLost)
	})
}
