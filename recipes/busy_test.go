package recipes_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

var errBusy = errors.New("unknown error: -127")

// busyServer is a connection to a server that throws one request away (THROTTLEDOP) for being busy.
type busyServer struct {
	recipes.Conn
	which func(path string) bool // of the deletes and multis
	done  *bool
}

func (c busyServer) throws(path string) error {
	if *c.done || !c.which(path) {
		return nil
	}
	*c.done = true
	return errBusy
}

func (c busyServer) Delete(path string, version int32) error {
	if err := c.throws(path); err != nil {
		return err
	}
	return c.Conn.Delete(path, version)
}

func (c busyServer) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) > 0 {
		if x, deletes := ops[0].(*zk.DeleteRequest); deletes {
			if err := c.throws(x.Path); err != nil {
				return nil, err
			}
		}
	}
	return c.Conn.Multi(ops...)
}

func (a actor) busy(which func(path string) bool) busyServer {
	return busyServer{a.Conn, which, new(bool)}
}

// What is given back while a server is busy would else stay for as long as the session lives, with nobody to answer
// for it.
func TestALockIsUnlockedThoughTheServerIsBusy(t *testing.T) {
	bothLocks(t, func(t *testing.T, lock maker) {
		nothingLeft(t, play(t, nil, func(a actor) {
			c := a.busy(func(string) bool { return true })
			l := lock(c, a.env, "/lock", recipes.LockOptions{})
			a.is("Lock", l.Lock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
			a.is("TryLock", l.TryLock(ctx), nil)
			a.is("Unlock", l.Unlock(ctx), nil)
			if !*c.done {
				a.t.Error("the server was not busy")
			}
		}))
	})
}

func TestATurnIsGivenBackThoughTheServerIsBusy(t *testing.T) {
	nothingLeft(t, play(t, nil, func(a actor) {
		turns := func(path string) bool { return strings.Contains(path, "/turns/") }
		q := recipes.NewQueue(a.busy(turns), a.env, "/queue", recipes.QueueOptions{Turns: true})
		a.puts(q, "a", "b")
		a.takes(q.Take, "a", "b")
	}))
}

func TestALeaderGoesOnThoughTheServerIsBusy(t *testing.T) {
	play(t, nil, func(a actor) {
		c := &busyOnce{Conn: a.Conn}
		e := recipes.NewElection(c, a.env, "/election", recipes.ElectionOptions{})
		a.is("Campaign", e.Campaign(ctx), nil)
		c.busy = true
		a.is("Acknowledge", e.Acknowledge(ctx), nil)
		a.is("Resign", e.Resign(ctx), nil)
	})
}

// busyOnce is a connection to a server that throws the next multi away.
type busyOnce struct {
	recipes.Conn
	busy bool
}

func (c *busyOnce) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if c.busy {
		c.busy = false
		return nil, errBusy
	}
	return c.Conn.Multi(ops...)
}

// stayBusy is a connection to a server that throws so many deletes away.
type stayBusy struct {
	recipes.Conn
	deletes int
}

func (c *stayBusy) Delete(path string, version int32) error {
	if c.deletes > 0 {
		c.deletes--
		return errBusy
	}
	return c.Conn.Delete(path, version)
}

// A server that throws requests away wants fewer of them. And the session stays as it is, so what waits for a change
// of its state at each try would pile up.
func TestABusyServerIsLeftAloneForAWhile(t *testing.T) {
	play(t, nil, func(a actor) {
		env := &counting{Env: a.env}
		l := recipes.NewLock(&stayBusy{a.Conn, 50}, env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		before := a.env.Now()
		a.is("Unlock", l.Unlock(ctx), nil)
		if took := a.env.Now().Sub(before); took < 5*time.Second {
			a.t.Errorf("50 tries within %v", took)
		}
		if n := env.pending(); n > 2 {
			a.t.Errorf("%d channels wait for a change of state", n)
		}
	})
}
