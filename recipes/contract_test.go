package recipes_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

func TestAVoteAfterTheDecisionIsAVote(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		play(t, nil, func(a actor) {
			c, s := a.transaction(form, ""), a.transaction(form, "a")
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.decides(recipes.Aborted, c.Finish)
			a.is("Vote no", s.Vote(ctx, false), nil)
			a.is("Vote yes", s.Vote(ctx, true), recipes.ErrVoted)
		})
	})
}

func TestANumberIsGivenOnceAtTheEndOfTheNumbers(t *testing.T) {
	play(t, func(w *sim.World) {
		create("/names", openACL)(w)
		w.SetCounter("/names", math.MaxInt32-1)
	}, func(a actor) {
		n := recipes.NewNames(a.Conn, a.env, "/names", recipes.NamesOptions{})
		var all []string
		for range 5 {
			name, err := n.RegisterNext(ctx, "job-", nil)
			if err != nil {
				break
			}
			all = append(all, name)
			a.is("Unregister", n.Unregister(ctx, name), nil)
		}
		if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			a.t.Errorf("%q", all)
		}
	})
}

func TestNamesThatNoZnodeCanHave(t *testing.T) {
	play(t, nil, func(a actor) {
		g := a.group(recipes.GroupOptions{})
		n := newNames(a, "")
		for _, name := range []string{".", "..", "a\x00", "\u0007", "\ue000"} {
			_, err := g.Join(ctx, name, nil)
			a.is("Join "+name, err, zk.ErrInvalidPath)
			a.is("Register "+name, n.Register(ctx, name, nil), zk.ErrInvalidPath)
			c := recipes.NewConfig(a.Conn, a.env, "/config", recipes.ConfigOptions{})
			f := recipes.NewFlaggedConfig(a.Conn, a.env, "/config", recipes.ConfigOptions{})
			values := map[string][]byte{name: nil}
			a.is("Update "+name, c.Update(ctx, recipes.ConfigSet{}, values), zk.ErrInvalidPath)
			a.is("flagged Update "+name, f.Update(ctx, values), zk.ErrInvalidPath)
			_, err = c.Get(ctx)
			a.is("Get", err, nil)
		}
	})
}

// lagsTwice is a connection to a server that lags, and after the end of the session to another one.
type lagsTwice struct {
	recipes.Conn
	past *zk.Stat
	n    int
}

// Multi without operations: the server does not lag any more.
func (c *lagsTwice) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	r, err := c.Conn.Multi(ops...)
	if err == nil && len(ops) == 0 && c.n >= 2 {
		c.n = 3
	}
	return r, err
}

func (c *lagsTwice) Exists(path string) (bool, *zk.Stat, error) {
	switch c.n++; c.n {
	case 1, 3: // a server that lags; the second time in a new session
		return true, c.past, nil
	case 2: // the connection is lost, and the session ends
		return false, nil, zk.ErrConnectionClosed
	}
	return c.Conn.Exists(path)
}

func TestAFlaggedUpdateThatIsAloneSucceeds(t *testing.T) {
	play(t, nil, func(a actor) {
		f := recipes.NewFlaggedConfig(a.Conn, a.env, "/config", recipes.ConfigOptions{})
		a.is("Update", f.Update(ctx, map[string][]byte{"a": []byte("1")}), nil)
		_, past, err := a.Exists("/config")
		a.is("Exists", err, nil)
		a.is("Update", f.Update(ctx, map[string][]byte{"a": []byte("2")}), nil)
		f = recipes.NewFlaggedConfig(&lagsTwice{Conn: a.Conn, past: past}, a.env, "/config", recipes.ConfigOptions{})
		a.is("Update", f.Update(ctx, map[string][]byte{"a": []byte("3")}), nil)
	})
}

func TestAWriterThatUnlocksIsToldOnce(t *testing.T) {
	play(t, nil, func(a actor) {
		a.idle = true
		l := recipes.NewRWLock(&noWriteDelete{Conn: a.Conn}, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		limited, end := a.env.WithTimeout(ctx, 4*tooLong)
		defer end()
		a.env.Go("unlock", func() {
			a.env.Sleep(ctx, 2*tooLong)
			l.Unlock(ctx)
		})
		var paths []string
		note := func(x recipes.Overdue) { paths = append(paths, x.Path) }
		m := recipes.NewMonitor(a.Conn, a.env, "/lock", recipes.MonitorOptions{Limit: tooLong, Alarm: note})
		a.is("Run", m.Run(limited), context.DeadlineExceeded)
		if len(paths) != 1 {
			a.t.Errorf("%q", paths)
		}
	})
}

// noWriteDelete stands for a client that is paused between the two deletes of an Unlock.
type noWriteDelete struct {
	recipes.Conn
}

func (c *noWriteDelete) Delete(path string, v int32) error {
	if strings.Contains(path, "-write-") {
		return zk.ErrNoAuth
	}
	return c.Conn.Delete(path, v)
}

// deleter is a connection beside somebody who tidies up.
type deleter struct {
	recipes.Conn
	done bool
}

func (c *deleter) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	made, err := c.Conn.Create(path, data, flags, acl)
	if path == "/a" && !c.done {
		c.done = true
		c.Conn.Delete("/a", -1)
	}
	return made, err
}

func TestALockIsMadeThoughItsParentIsTidiedUp(t *testing.T) {
	play(t, nil, func(a actor) {
		l := recipes.NewLock(&deleter{Conn: a.Conn}, a.env, "/a/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		a.is("Unlock", l.Unlock(ctx), nil)
	})
}

// losesMulti is a connection that loses the answer of a long multi, and something else happens before that is known.
type losesMulti struct {
	recipes.Conn
	meanwhile func()
}

func (c *losesMulti) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	r, err := c.Conn.Multi(ops...)
	if len(ops) > 2 && c.meanwhile != nil {
		f := c.meanwhile
		c.meanwhile = nil
		f()
		return nil, zk.ErrConnectionClosed
	}
	return r, err
}

func TestARegistrationThatIsUndoneIsNotMadeAgain(t *testing.T) {
	play(t, nil, func(a actor) {
		a.Exists("/") // there is a session
		conn := &losesMulti{Conn: a.Conn}
		n := recipes.NewNames(conn, a.env, "/names", recipes.NamesOptions{})
		unregistered := make(chan zk.Event, 1)
		conn.meanwhile = func() {
			a.env.Go("other", func() { // another goroutine, which Resolve has told of the name
				_, err := n.Resolve(ctx, "x")
				a.is("Resolve", err, nil)
				a.is("Unregister", n.Unregister(ctx, "x"), nil)
				unregistered <- zk.Event{}
			})
			a.env.Await(ctx, unregistered)
		}
		a.is("Register", n.Register(ctx, "x", nil), nil)
		_, err := n.Resolve(ctx, "x")
		a.is("Resolve after Unregister", err, recipes.ErrNoName)
	})
}

func TestATransactionThatIsForgottenDoesNotBeginAgain(t *testing.T) {
	play(t, nil, func(a actor) {
		a.Exists("/")
		conn := &losesMulti{Conn: a.Conn}
		conn.meanwhile = func() { // the site is there, and another coordinator ends it
			s, c := a.transaction(recipes.AllSites, "a"), a.transaction(recipes.AllSites, "")
			a.is("Vote", s.Vote(ctx, false), nil)
			a.decides(recipes.Aborted, s.Outcome)
			a.decides(recipes.Aborted, c.Outcome)
			a.is("Forget", errors.Join(s.Forget(ctx), c.Forget(ctx)), nil)
		}
		c := recipes.NewTransaction(conn, a.env, "/app/tx", recipes.TransactionOptions{})
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		if ok, _, err := a.Exists("/app/tx"); ok || err != nil {
			a.t.Errorf("it began again, %v", err)
		}
	})
}

// lateUndo is an Env whose background work begins late.
type lateUndo struct {
	recipes.Env
	a       actor
	release bool
}

func (e *lateUndo) Undo(name string, f func()) {
	e.Env.Undo(name, func() {
		e.a.until(func() bool { return e.release })
		f()
	})
}

// Of a claim that is lost, the znode may be another consumer's by the time that the clean-up comes.
func TestTheCleanUpOfALostClaimTakesNoOther(t *testing.T) {
	play(t, nil, func(a actor) {
		env := &lateUndo{Env: a.env, a: a}
		q := func() *recipes.Queue { return recipes.NewQueue(a.Conn, env, "/q", recipes.QueueOptions{}) }
		a.is("Put", q().Put(ctx, []byte("x")), nil)
		one, err := q().Claim(ctx)
		a.is("Claim", err, nil)
		a.is("an operator's Delete", a.Delete(one.Znodes()[0], -1), nil)
		a.is("Ack", one.Ack(ctx), recipes.ErrClaimLost)
		two, err := q().Claim(ctx)
		a.is("Claim by another consumer", err, nil)
		env.release = true
		for range 30 {
			a.env.Now()
		}
		_, err = q().TryClaim(ctx)
		a.is("TryClaim while another has it", err, recipes.ErrEmpty)
		a.is("Ack by who has it", two.Ack(ctx), nil)
	})
}

// seesChild is a connection that tells when a child was listed.
type seesChild struct {
	recipes.Conn
	seen bool
}

func (c *seesChild) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, event, err := c.Conn.ChildrenW(path)
	c.seen = c.seen || err == nil && len(names) > 0
	return names, stat, event, err
}

func TestAPatientWatchIsSureWhenItHasTold(t *testing.T) {
	var told bool
	play(t, func(w *sim.World) { told = false; create("/dir", openACL)(w) }, func(a actor) {
		conn, toldChild := &seesChild{Conn: a.Conn}, false
		w := recipes.NewPatientChildrenWatch(conn, a.env, "/dir", time.Second, recipes.WatchOptions{Suspect: func(now bool) {
			if !now && conn.seen && !toldChild {
				a.t.Error("sure before the child was told")
			}
		}})
		a.is("Run", w.Run(ctx, func(children []string, _ *zk.Stat) bool {
			told, toldChild = true, len(children) > 0
			return !toldChild
		}), nil)
	}, func(a actor) {
		a.until(func() bool { return told })
		a.happen("disconnect c1")
		_, err := a.Create("/dir/child", nil, 0, openACL)
		a.is("Create", err, nil)
	})
}
