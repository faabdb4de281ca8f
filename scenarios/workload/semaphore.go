package workload

import (
	"context"
	"fmt"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Leaser is a semaphore under test. It may also be [TryingToLease], [Losing] and [Placed].
type Leaser interface {
	// Acquire waits for a lease, like Lock of a [Locker], and Release gives it up.
	Acquire(ctx context.Context) error
	Release(ctx context.Context) error
}

// TryingToLease is a semaphore that can refuse: TryAcquire returns recipes.ErrLocked, which may be wrapped, when others
// have or await all leases.
type TryingToLease interface {
	TryAcquire(ctx context.Context) error
}

// FullLeaser is a semaphore that reports all that can be judged.
type FullLeaser interface {
	Leaser
	TryingToLease
	Losing
	Placed
}

// someLeaser is a semaphore with those methods of a [FullLeaser] that the recipe has.
type someLeaser struct {
	held
	acquire, tryAcquire, release func(ctx context.Context) error
}

func (s someLeaser) Acquire(ctx context.Context) error    { return s.acquire(ctx) }
func (s someLeaser) TryAcquire(ctx context.Context) error { return s.tryAcquire(ctx) }
func (s someLeaser) Release(ctx context.Context) error    { return s.release(ctx) }

func (s someLeaser) tries() bool { return s.tryAcquire != nil }

// Semaphores returns the scenario of a user's semaphore with that many leases: two clients more than there are leases
// compete for them under every fault. It panics if there is no lease.
func Semaphores[L Leaser](name string, leases int, newSemaphore func(p *engine.Process) L) engine.Scenario {
	if leases < 1 {
		panic(fmt.Sprintf("the semaphore of scenario %s has %d leases, expected 1 or more", name, leases))
	}
	s := preset(name, "a semaphore under every fault", 2)
	s.Program = leaseRounds(byTurns, func(p *engine.Process) FullLeaser { return leaserOf(p, newSemaphore(p)) })
	s.Checkers = LeaseCheckers(leases)
	s.Goals = []engine.Goal{goalLostWrite, goalHolderExpired, GoalLeases(leases), goalContended}
	out := unless(has[L, TryingToLease](), unless(has[L, Placed](), nil, "ownership"), "refusal")
	return WithDefaults(s.Symmetric(ByThree), leases+2).Without(out...)
}

// leaserOf adds to a semaphore what the programs need.
func leaserOf(p *engine.Process, l Leaser) someLeaser {
	x := someLeaser{held: heldBy(p, l), acquire: patient(p, l.Acquire), release: thorough(p, l.Release)}
	if y, ok := l.(TryingToLease); ok {
		x.tryAcquire = patient(p, y.TryAcquire)
	}
	return x
}

// LeaseCheckers are what every semaphore with that many leases must satisfy.
func LeaseCheckers(leases int) []checkers.Checker {
	return []checkers.Checker{checkers.Ownership{Leases: leases}, checkers.Claim{}, checkers.Belief{Leases: leases},
		checkers.Liveness{},
		checkers.Refusal{Leases: leases}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
}

// LeaseRounds makes a program that acquires, works and releases in each round; every third attempt is a TryAcquire.
func LeaseRounds(newLeaser func(p *engine.Process) FullLeaser) func(p *engine.Process) {
	return LeaseAndStay(2, newLeaser)
}

// LeaseAndStay is LeaseRounds with that many steps of work; see [UntilLost].
func LeaseAndStay(stay int, newLeaser func(p *engine.Process) FullLeaser) func(p *engine.Process) {
	return leaseRounds(always(stay), newLeaser)
}

func leaseRounds(stay func(p *engine.Process, r int) int, newLeaser func(p *engine.Process) FullLeaser,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		s := newLeaser(p)
		o := p.Register(s.Znodes)
		Rounds(p, func(r int) error { return LeaseOnce(p, o, s, stay(p, r), (p.ID+r)%3 == 2) })
	}
}

// LeaseOnce makes one round. It returns only errors that a semaphore must not have.
func LeaseOnce(p *engine.Process, o engine.Object, s FullLeaser, stay int, try bool) error {
	op, acquire := "acquire", s.Acquire
	if try && tries(s) {
		op, acquire = "tryacquire", s.TryAcquire
	}
	if ok, err := o.Attempt(op, acquire); !ok {
		return err
	}
	o.Acquired(last(s), 0)
	remain(p, o, s.Lost(), stay, func() {})
	o.Released()
	return o.Must("release", s.Release)
}

// GoalLeases is the goal that all leases are held at once.
func GoalLeases(leases int) engine.Goal {
	return engine.Goal{Name: "all leases held at once", Reached: func(h *history.History) bool {
		return mostHolders(h, func(*history.Event) bool { return true }) >= leases
	}}
}
