package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// barrier is a barrier under test.
type barrier interface {
	Hold(ctx context.Context) error
	Release(ctx context.Context) error
	Wait(ctx context.Context) error
}

const barrierPath = "/barrier"

// limiter makes the context of an operation, and the function that ends it.
type limiter func(o engine.Object) (context.Context, context.CancelFunc)

// limited returns a context that the fault "cancel" may cancel and that ends by
// itself, too, for those who wait for somebody who may never come. In the simulator
// any timer may fire next; it takes several to make it end, in a brief run two. The history is
// told before the last: who was impatient from the beginning would have met nobody.
func limited(o engine.Object) (context.Context, context.CancelFunc) {
	ctx, end := cancelled(o)
	ctx, stop := context.WithCancel(ctx)
	o.Process().Env.Go("patience", func() {
		defer o.Process().Env.Forget()()
		for naps := max(2, repeat(o.Process(), 20)); naps > 0; naps-- {
			if naps == 1 {
				o.Record(history.Event{Kind: history.Told, Op: "impatient"})
			}
			if o.Process().Env.Sleep(ctx, 100*time.Millisecond) != nil {
				return
			}
		}
		stop()
	})
	return ctx, func() {
		stop()
		end()
	}
}

// limitedSteps is when faults end in the scenarios whose clients give up: from then
// on they do so only when there is nothing else to do.
const limitedSteps = 150

// cancelled returns a context that the fault "cancel" may cancel.
func cancelled(o engine.Object) (context.Context, context.CancelFunc) {
	return o.Process().Interruptible()
}

// unlimited returns a context that does not end, for those who wait for what must
// happen.
func unlimited(engine.Object) (context.Context, context.CancelFunc) {
	return context.Background(), func() {}
}

// gaveUp reports whether err says only that a context has ended.
func gaveUp(err error) bool {
	return errors.Is(err, context.Canceled)
}

// gate is a barrier under observation.
type gate struct {
	barrier
	o            engine.Object
	p            *engine.Process
	change, wait limiter // of Hold and Release, of Wait
	stay         int     // steps for which a keeper holds it
}

// do runs an operation of the barrier and reports whether it was not given up. It
// returns only errors that a barrier must not have.
func (g gate) do(op string, limit limiter, f func(ctx context.Context) error) (done bool, err error) {
	ctx, end := limit(g.o)
	defer end()
	g.o.Invoke(op)
	err = f(ctx)
	g.o.Return(op, err, gaveUp(err))
	if gaveUp(err) {
		return false, nil
	}
	return err == nil, err
}

// open opens the barrier, even if it is told to give up.
func (g gate) open() error {
	done, err := g.do("release", g.change, g.Release)
	if !done && err == nil {
		_, err = g.do("release", unlimited, g.Release)
	}
	return err
}

// keep holds the barrier for a while.
func (g gate) keep() error {
	_, err := g.do("hold", g.change, g.Hold)
	for range g.stay {
		g.p.Step()
	}
	return errors.Join(err, g.open())
}

// pass waits at the barrier. Whoever has waited too long takes it that the keeper
// has ended, and opens it.
func (g gate) pass() error {
	passed, err := g.do("wait", g.wait, g.Wait)
	if passed || err != nil {
		return err
	}
	return g.open()
}

// relay passes the barrier and then holds it.
func (g gate) relay() error { return errors.Join(g.pass(), g.keep()) }

// barrierRounds makes a program in which one half of the clients hold the
// barrier in each round and the others wait for it as often.
func barrierRounds(change, wait limiter) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := newGate(p, recipes.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), recipes.BarrierOptions{}), change, wait)
		if p.ID <= p.Clients/2 {
			g.rounds(p.Rounds, g.keep)
		} else {
			g.rounds(p.Rounds, g.pass)
		}
	}
}

// barrierRelay is a program in which one client holds the broken barrier, the
// second passes it and holds it for long, and the others wait in each round.
func barrierRelay(f broken.Flaw) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := newGate(p, broken.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), f), unlimited, unlimited)
		if p.ID == 1 {
			g.rounds(1, g.keep)
			return
		}
		for range 8 {
			p.Step()
		}
		if p.ID == 2 {
			g.stay = 30
			g.rounds(1, g.relay)
		} else {
			g.rounds(p.Rounds, g.pass)
		}
	}
}

func newGate(p *engine.Process, b barrier, change, wait limiter) gate {
	return gate{b, p.Register(func() []string { return nil }), p, change, wait, 3}
}

// rounds takes a number of turns.
func (g gate) rounds(n int, turn func() error) {
	for range n {
		if err := turn(); err != nil {
			g.p.Fail(err)
			return
		}
	}
}

// barrierScenario is what all scenarios of barriers have in common. These have no ephemeral znodes for
// checkers.Tree to judge.
func barrierScenario(s engine.Scenario) engine.Scenario {
	s.Clients, s.Servers, s.SafetySteps = 4, []int{1, 3}, limitedSteps
	s.Checkers = []checkers.Checker{checkers.Barrier{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}}
	return s
}

// barrierTwin is a scenario of a broken barrier that must be caught.
func barrierTwin(name string, f broken.Flaw, s engine.Scenario) engine.Scenario {
	s.Name, s.Row, s.Caught = "barrier/"+name, int(f), []string{"barrier"}
	s.Program, s.Rounds = barrierRelay(f), 5
	s.Setup = []model.Request{{Op: model.OpCreate, Path: barrierPath, ACL: zk.WorldACL(zk.PermAll)}}
	return barrierScenario(s)
}

var barrierScenarios = []engine.Scenario{
	barrierScenario(engine.Scenario{
		Name: "barrier/barrier", Doc: "keepers that may end and waiters that give up, under every fault",
		Source: "ZooKeeper recipes page, Barriers", Rounds: 2, Program: barrierRounds(cancelled, limited), Faults: faults.Contract(),
		Goals: []engine.Goal{goalLostChange, goalOpened, goalHeldAgain, goalGaveUp("wait")},
	}),
	barrierScenario(engine.Scenario{
		Name: "barrier/patient", Doc: "keepers that never end, and nobody gives up",
		Source: "ZooKeeper recipes page, Barriers", Rounds: 3, Program: barrierRounds(unlimited, unlimited),
		Faults: faults.Contract().Except("crash", "cancel"),
		Goals:  []engine.Goal{goalLostChange, goalOpened, goalHeldAgain},
	}),

	barrierTwin("release-again", broken.ReleaseAgain, engine.Scenario{Doc: "a release whose reply was lost is repeated and opens the barrier that others hold",
		Source: "derived from the recipe page's delete", Faults: faults.MustParse("lose-reply=1@client=c1,op=set,nth=2"), Wakes: "lose-reply of the release"}),
	barrierTwin("stale-wait", broken.StaleWait, engine.Scenario{Doc: "the first look at the barrier is one into the past",
		Source: "derived from stale reads", Faults: faults.MustParse("stale-read=3"), Wakes: "a server that lags"}),
}

var (
	goalLostChange = engine.Goal{Name: "a lost reply after the barrier was changed", Reached: lostAfter("", changed)}
	goalOpened     = engine.Goal{Name: "a client that waits until the barrier is released", Reached: wokenByRelease}
	goalHeldAgain  = engine.Goal{Name: "a barrier that was held again before a waiter looked", Reached: heldAgain}
)

func goalGaveUp(op string) engine.Goal {
	return engine.Goal{Name: op + " is given up", Reached: returned(op, context.Canceled)}
}

// wokenByRelease reports whether a client passed after it had been notified.
func wokenByRelease(h *history.History) bool {
	notified := map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke:
			notified[e.Client] = false
		case e.Kind == history.Notify && e.Op == "changed":
			notified[e.Client] = true
		case e.Kind == history.Return && e.Op == "wait" && e.Err == nil && notified[e.Client]:
			return true
		}
	}
	return false
}

// heldAgain reports whether a client that waits was notified of one change and
// passed after a second one, with the barrier held again.
func heldAgain(h *history.History) bool {
	changes := map[int32]int{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Notify && e.Op == "changed":
			changes[e.Client] = 1
		case e.Kind == history.Changed:
			for c := range changes { // order-free: each is counted by itself
				changes[c]++
			}
		case e.Kind == history.Return && e.Op == "wait":
			if e.Err == nil && changes[e.Client] == 2 {
				return true
			}
			delete(changes, e.Client)
		}
	}
	return false
}
