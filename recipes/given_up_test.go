package recipes_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"zksim/recipes"
	"zksim/sim"
)

// The clean-up of a Join that was given up must not take the sign of life of the next one.
func TestAJoinAfterOneThatWasGivenUpStays(t *testing.T) {
	play(t, nil, func(a actor) {
		c, s := a.cancelledJoin()
		_, err := s.Join(ctx)
		a.is("Join again", err, nil)
		for range 100 {
			a.env.Now()
		}
		if d, err := a.patiently(c.Outcome); err == nil {
			a.t.Errorf("%v, though the site lives and has not voted", d)
		}
		a.is("Vote", s.Vote(ctx, true), nil)
		a.decides(recipes.Committed, c.Outcome)
	})
}

func (a actor) patiently(f func(context.Context) (recipes.Decision, error)) (recipes.Decision, error) {
	soon, end := a.env.WithTimeout(ctx, time.Minute)
	defer end()
	return f(soon)
}

func TestABeginThatIsGivenUpHasItsOwnNames(t *testing.T) {
	h := play(t, nil, func(a actor) {
		soon, cancel := context.WithCancel(ctx)
		c := recipes.NewTransaction(&losesMulti{a.Conn, cancel}, a.env, "/app/tx", recipes.TransactionOptions{})
		sites := []string{"a", "b"}
		a.is("Begin", c.Begin(soon, nil, sites...), context.Canceled)
		sites[0] = "x" // the caller has another use for it
	})
	onlyApp(t, h)
}

// A Hold that was given up may be executed late, in a session that its client has given up, unless the Release after it
// writes.
func TestAReleaseMakesAHoldThatWasGivenUpCertain(t *testing.T) {
	late := 0
	play(t, nil, func(a actor) {
		a.idle, a.tardy = true, true
		b := a.barrier("/barrier")
		a.is("Hold", b.Hold(ctx), nil)
		a.is("Release", b.Release(ctx), nil)
		for range 5 {
			soon, cancel := context.WithCancel(ctx)
			id, ended := a.SessionID(), false
			a.env.Go("striker", func() {
				a.until(func() bool { return ended || inFlight(a.world.History, "set") })
				if !ended {
					a.wanted = append(a.wanted, "disconnect c1", "lost-early c1")
					a.settled()
				}
				cancel()
			})
			err := b.Hold(soon)
			ended = true
			a.settled()
			if err != nil {
				a.until(func() bool { return a.SessionID() != id && a.SessionID() != 0 })
			}
			a.is("Release", b.Release(ctx), nil)
			for range 30 {
				if err != nil && canHappen(a.world, "late c1") {
					late++
					a.happen("late c1")
				}
				a.env.Now()
			}
			if data, _, err := a.Get("/barrier"); string(data) == "held" {
				a.t.Errorf("%q, %v after Release", data, err)
			}
		}
	})
	if late == 0 {
		t.Error("no Hold was late")
	}
}

// canHappen reports whether a transition of that name is possible.
func canHappen(w *sim.World, name string) bool {
	return slices.ContainsFunc(w.Normal(), func(t sim.Transition) bool { return w.Name(t) == name })
}

// tardyEnv is an Env whose next request begins late, after its caller has given up, and background work after that.
type tardyEnv struct {
	lateUndo
	giveUp func()
	begin  bool
}

func (e *tardyEnv) Within(ctx context.Context, f func()) bool {
	if e.giveUp == nil {
		return e.Env.Within(ctx, f)
	}
	e.giveUp()
	e.giveUp = nil
	e.Env.Go("tardy", func() {
		e.a.until(func() bool { return e.begin })
		f()
		e.release = true
	})
	return false
}

// A registration that was given up may be executed after Leave was called, or the next Next.
func TestAWorkerThatHasLeftIsGoneWhateverComesLate(t *testing.T) {
	for _, again := range []bool{false, true} {
		play(t, nil, func(a actor) {
			task := a.submit(a.client(), "x")
			a.is("Forget", task.Forget(ctx), nil)
			soon, cancel := context.WithCancel(ctx)
			env := &tardyEnv{lateUndo: lateUndo{Env: a.env, a: a}, giveUp: cancel}
			w := recipes.NewWorker(a.Conn, env, "/pool", recipes.PoolOptions{})
			_, err := w.Next(soon)
			a.is("Next", err, context.Canceled)
			if again {
				soon, end := a.env.WithTimeout(ctx, time.Second)
				_, err := w.Next(soon)
				a.is("Next", err, context.DeadlineExceeded)
				end()
			}
			a.env.Go("later", func() {
				for range 30 {
					a.env.Now()
				}
				env.begin = true
			})
			a.is("Leave", w.Leave(ctx), nil)
			a.until(func() bool { return env.release })
			for range 30 {
				a.env.Now()
			}
			if all, _, err := a.Children("/pool/workers"); len(all) > 0 || len(w.Znodes()) > 0 {
				a.t.Errorf("after Leave: %q, %v; the worker knows of %q", all, err, w.Znodes())
			}
		})
	}
}
