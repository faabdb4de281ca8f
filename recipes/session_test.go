package recipes_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/recipes"
	"zksim/sim"
)

// A client that may create below /app but not beside it makes what is missing below /app.
func TestMissingParentsAreMadeWhereThatIsAllowed(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		play(t, func(w *sim.World) {
			w.Prepare(model.Request{Op: model.OpCreate, Path: "/app", ACL: openACL})
			w.Prepare(model.Request{Op: model.OpSetACL, Path: "/", ACL: zk.WorldACL(zk.PermRead), Version: -1})
		}, func(a actor) {
			l := lock(a.Conn, a.env, "/app/locks/one", recipes.LockOptions{})
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
			a.is("Lock elsewhere", lock(a.Conn, a.env, "/other/one", recipes.LockOptions{}).Lock(ctx), zk.ErrNoAuth)
		})
	})
}

// unborn is a connection that has had no session yet.
type unborn struct {
	recipes.Conn
	asked int
}

func (u *unborn) SessionID() int64 { return 0 }

func (u *unborn) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	if u.asked++; u.asked > 100 {
		panic("asks on and on")
	}
	return u.Conn.Multi(ops...)
}

// The client library refuses such a path itself, be there a session or not.
func TestAnInvalidPathIsRefusedAtOnce(t *testing.T) {
	play(t, nil, func(a actor) {
		_, err := recipes.NewCounter(&unborn{Conn: a.Conn}, a.env, "no/slash", recipes.CounterOptions{}).Get(ctx)
		a.is("Get", err, zk.ErrInvalidPath)
	})
}

// quiet is an environment in which nothing is to be done in the background.
type quiet struct{ recipes.Env }

func (quiet) Go(name string, f func()) { panic(name + " in the background") }

// serverless is a connection to no server.
type serverless struct{ recipes.Conn }

func (serverless) Multi(...any) ([]zk.MultiResponse, error) { return nil, zk.ErrNoServer }

func (serverless) Create(string, []byte, int32, []zk.ACL) (string, error) { return "", zk.ErrNoServer }

func (serverless) State() zk.State { return zk.StateConnecting }

// Code that retries while no server can be reached accumulates nothing.
func TestWhatWasNeverSentNeedsNoCleaning(t *testing.T) {
	play(t, nil, func(a actor) {
		soon, end := a.env.WithTimeout(ctx, time.Second)
		defer end()
		conn, env := serverless{a.Conn}, quiet{a.env}
		_, err := recipes.NewTaskClient(conn, env, "/pool", recipes.PoolOptions{}).Submit(soon, nil)
		a.is("Submit", err, context.DeadlineExceeded)
		soon, end = a.env.WithTimeout(ctx, time.Second)
		defer end()
		d := recipes.NewDoubleBarrier(conn, env, "/double", 2, recipes.DoubleBarrierOptions{})
		a.is("Enter", d.Enter(soon), context.DeadlineExceeded)
		l := recipes.NewLock(conn, env, "/lock", recipes.LockOptions{})
		soon, end = a.env.WithTimeout(ctx, time.Second)
		defer end()
		a.is("Lock", l.Lock(soon), context.DeadlineExceeded)
	})
}

// cut is a connection that is lost at the first read that leaves a watch.
type cut struct {
	recipes.Conn
	lost bool
}

func (c *cut) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	if !c.lost {
		c.lost = true
		return false, nil, nil, zk.ErrConnectionClosed
	}
	return c.Conn.ExistsW(path)
}

// Nobody else is there, so the lock is not refused because of what the attempt itself
// has left.
func TestTryLockIsNotRefusedByItself(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		h := play(t, nil, func(a actor) {
			l := lock(&cut{Conn: a.Conn}, a.env, "/lock", recipes.LockOptions{})
			a.is("TryLock", l.TryLock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
		})
		nothingLeft(t, h)
	})
}
