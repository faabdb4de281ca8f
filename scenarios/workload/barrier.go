package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Barrier is a barrier under test. When ctx is done, its methods return the error of ctx.
type Barrier interface {
	// Hold closes the barrier, if it is open.
	Hold(ctx context.Context) error
	// Release opens the barrier, no matter which client closed it.
	Release(ctx context.Context) error
	// Wait returns when the barrier is open.
	Wait(ctx context.Context) error
}

// someBarrier is a barrier whose operations are retried.
type someBarrier struct {
	hold, release, wait func(ctx context.Context) error
}

func (b someBarrier) Hold(ctx context.Context) error    { return b.hold(ctx) }
func (b someBarrier) Release(ctx context.Context) error { return b.release(ctx) }
func (b someBarrier) Wait(ctx context.Context) error    { return b.wait(ctx) }

// Barriers returns the scenario of a user's barrier: two clients hold and release it, and two wait for it, under every
// fault.
func Barriers[B Barrier](name string, newBarrier func(p *engine.Process) B) engine.Scenario {
	s := preset(name, "a barrier under every fault", 6)
	s.Program = barrierRounds(byTurns, Cancelled, Unhurried, func(p *engine.Process) Barrier {
		b := newBarrier(p)
		return someBarrier{patient(p, b.Hold), thorough(p, b.Release), patient(p, b.Wait)}
	})
	s.Goals = []engine.Goal{goalLostWrite, goalWaited, GoalGaveUp("wait")}
	s.Finally, s.Heeds = passesWhatIsOpen, []string{"hold", "release", "wait", "impatient", "calm"}
	return BaseBarrier(s)
}

// BarrierRounds makes a program in which one half of the clients hold the barrier in each round and the others wait for
// it as often.
func BarrierRounds[B Barrier](change, wait Limiter, newBarrier func(p *engine.Process) B) func(p *engine.Process) {
	return barrierRounds(always(3), change, wait, newBarrier)
}

func barrierRounds[B Barrier](stay func(p *engine.Process, r int) int, change, wait Limiter,
	newBarrier func(p *engine.Process) B,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := NewGate(p, newBarrier(p), change, wait)
		Rounds(p, func(r int) error {
			if p.ID > p.Clients/2 {
				return g.Pass()
			}
			g.Stay = stay(p, r)
			return g.Keep()
		})
	}
}

// Limiter makes the context of an operation, and the function that ends it.
type Limiter func(o engine.Object) (context.Context, context.CancelFunc)

// Limited returns a context that the fault "cancel" may cancel and that also ends by itself, for operations that wait
// for somebody who may never come. In the simulator any timer may fire next, so the context ends only after several
// timers, two in a brief run. The client records that it is impatient only before the last one: a client that was
// impatient from the beginning would have met nobody.
func Limited(o engine.Object) (context.Context, context.CancelFunc) { return limited(o, nap) }

// Unhurried is Limited for recipes whose pauses between tries are of unknown length. After it has recorded that it is
// impatient it gives them more time than that.
func Unhurried(o engine.Object) (context.Context, context.CancelFunc) { return limited(o, 20*nap) }

// limited is Limited with another length of the last nap.
func limited(o engine.Object, last time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := Cancelled(o)
	ctx, stop := context.WithCancel(ctx)
	o.Process().Env.Go("patience", func() {
		defer recipes.Forget(o.Process().Env)()
		for naps := max(2, Repeat(o.Process(), 20)); naps > 0; naps-- {
			d := nap
			if naps == 1 {
				o.Record(history.Event{Kind: history.Told, Op: "impatient"})
				d = last
			}
			if o.Process().Env.Sleep(ctx, d) != nil {
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

// limitedSteps is when faults end in the scenarios whose clients give up. From then on they give up only when there is
// nothing else to do.
const limitedSteps = 150

// Cancelled returns a context that the fault "cancel" may cancel.
func Cancelled(o engine.Object) (context.Context, context.CancelFunc) {
	return o.Process().Interruptible()
}

// Unlimited returns a context that does not end, for operations that wait for what must happen.
func Unlimited(engine.Object) (context.Context, context.CancelFunc) {
	return context.Background(), func() {}
}

// gate is a barrier under observation.
type gate struct {
	Barrier
	o            engine.Object
	p            *engine.Process
	change, wait Limiter // of Hold and Release, of Wait
	Stay         int     // steps for which a keeper holds it
}

// do runs an operation of the barrier and reports whether it succeeded. It returns only errors that a barrier must not
// have, not that it was given up.
func (g gate) do(op string, limit Limiter, f func(ctx context.Context) error) (done bool, err error) {
	ctx, end := limit(g.o)
	defer end()
	g.o.Invoke(op)
	err = f(ctx)
	g.o.Return(op, err, context.Canceled)
	return err == nil, IgnoreCanceled(err)
}

// Open opens the barrier, even if the first try is given up.
func (g gate) Open() error {
	done, err := g.do("release", g.change, g.Release)
	if !done && err == nil {
		_, err = g.do("release", Unlimited, g.Release)
	}
	return err
}

// Keep holds the barrier for a while.
func (g gate) Keep() error {
	err := g.Shut()
	Steps(g.p, g.Stay)
	return errors.Join(err, g.Open())
}

// Pass waits at the barrier. If it gives up, it assumes that the keeper has ended, and opens the barrier.
func (g gate) Pass() error {
	passed, err := g.do("wait", g.wait, g.Wait)
	if passed || err != nil {
		return err
	}
	return g.Open()
}

// Blink holds the barrier, opens it, and holds it again at once.
func (g gate) Blink() error {
	first := g.Shut()
	Steps(g.p, g.Stay)
	return errors.Join(first, g.Open(), g.Shut())
}

// Shut closes the barrier, and leaves it closed.
func (g gate) Shut() error {
	_, err := g.do("hold", g.change, g.Hold)
	return err
}

// Try waits at the barrier until it loses patience.
func (g gate) Try() error {
	_, err := g.do("wait", g.wait, g.Wait)
	return err
}

// Relay passes the barrier and then holds it.
func (g gate) Relay() error { return errors.Join(g.Pass(), g.Keep()) }

// NewGate returns the barrier b of a client, with the contexts of the operations that change it and of those that wait.
func NewGate(p *engine.Process, b Barrier, change, wait Limiter) gate {
	return gate{b, p.Register(nil), p, change, wait, 3}
}

// Rounds takes n turns, until one fails.
func (g gate) Rounds(n int, turn func() error) {
	for range n {
		if err := turn(); err != nil {
			g.p.Fail(err)
			return
		}
	}
}

// BaseBarrier returns s with what all scenarios of barriers have in common. They have no ephemeral znodes for
// checkers.Tree to judge.
func BaseBarrier(s engine.Scenario) engine.Scenario {
	s.Clients, s.Servers, s.SafetySteps = 4, []int{1, 3}, limitedSteps
	s.Checkers = []checkers.Checker{checkers.Barrier{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}}
	return s
}

// passesWhatIsOpen judges the progress of a barrier whose users give up after a while. When the faults are over, time
// passes only when nothing else can happen. So a client must not give up if the barrier was open when it became
// impatient and has not been held since. The barrier is certainly open after a release that began when no hold was in
// progress and none had failed: a failed hold may still take effect.
func passesWhatIsOpen(h *history.History) error {
	calm, open := false, false
	holds, releases, due := map[int32]bool{}, map[int32]bool{}, map[int32]bool{} // by object
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Calm:
			calm = true
		case e.Op == "hold" && e.Kind == history.Invoke:
			holds[e.Object], open = true, false
			clear(releases)
			clear(due)
		case e.Op == "hold" && e.Kind == history.Return && e.Err == nil:
			delete(holds, e.Object)
		case e.Op == "release" && e.Kind == history.Invoke:
			releases[e.Object] = len(holds) == 0
		case e.Op == "release" && e.Kind == history.Return:
			open = open || e.Err == nil && releases[e.Object]
		case e.Op == "wait" && e.Kind == history.Invoke:
			due[e.Object] = false
		case e.Op == "impatient" && e.Kind == history.Told:
			due[e.Object] = calm && open
		case e.Op == "wait" && e.Kind == history.Return && e.Err != nil && due[e.Object]:
			return fmt.Errorf("c%d gave up waiting at a barrier that was open, and nothing else could happen", e.Client)
		}
	}
	return nil
}

// Goals of barriers.
var (
	GoalLostChange = engine.Goal{Name: "a lost reply after the barrier was changed", Reached: LostAfter("", Changed)}
	GoalOpened     = engine.Goal{Name: "a client that waits until the barrier is released", Reached: wokenByRelease}
	GoalHeldAgain  = engine.Goal{Name: "a barrier that was held again before a waiter looked", Reached: heldAgain}
)

// goalWaited is the goal that a client has to wait at the barrier, and then passes it.
var goalWaited = engine.Goal{Name: "a client that waits until the barrier is opened",
	Reached: func(h *history.History) bool {
		closed, waits := false, map[int32]bool{} // by object
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case e.Kind == history.Return && e.Op == "hold" && e.Err == nil:
				closed = true
			case e.Kind == history.Invoke && e.Op == "release":
				closed = false
			case e.Kind == history.Invoke && e.Op == "wait":
				waits[e.Object] = closed
			case e.Kind == history.Return && e.Op == "wait" && e.Err == nil && waits[e.Object]:
				return true
			}
		}
		return false
	}}

// GoalGaveUp is the goal that an operation is given up.
func GoalGaveUp(op string) engine.Goal {
	return engine.Goal{Name: op + " is given up", Reached: Returned(op, context.Canceled)}
}

// wokenByRelease reports whether a client passed after it had been notified of a change.
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

// heldAgain reports whether a waiting client was notified of one change and passed after a second one, when the barrier
// was held again.
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
