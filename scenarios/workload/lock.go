package workload

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// Locker is a lock under test. It may also be [Trying], [Losing], [Tokened] and [Placed].
type Locker interface {
	// Lock waits for the lock, until ctx is done: then it returns the error of ctx, and leaves nothing
	// behind. It is called again when it says that the connection was lost, unless ctx is done by then: so what
	// may be there after such an error it removes by itself.
	Lock(ctx context.Context) error
	// Unlock gives it up; it is called again, too.
	Unlock(ctx context.Context) error
}

// Trying is a lock that can be refused: TryLock returns recipes.ErrLocked, wrapped perhaps, when another
// client has or awaits it.
type Trying interface {
	TryLock(ctx context.Context) error
}

// FullLocker is a lock that tells all that can be judged.
type FullLocker interface {
	Locker
	Trying
	Losing
	Tokened
	Placed
}

// holder is what a critical section needs.
type holder interface {
	Losing
	Tokened
}

// someLock is a lock with those methods of a [FullLocker] that the recipe has.
type someLock struct {
	held
	lock, tryLock, unlock func(ctx context.Context) error
}

func (l someLock) Lock(ctx context.Context) error    { return l.lock(ctx) }
func (l someLock) Unlock(ctx context.Context) error  { return l.unlock(ctx) }
func (l someLock) TryLock(ctx context.Context) error { return l.tryLock(ctx) }

func (l someLock) tries() bool { return l.tryLock != nil }

// Locks is the scenario of a lock that anybody has written: three clients compete for it under every fault.
// What of it is judged depends on what l tells, see [Locker].
func Locks[L Locker](name string, newLock func(p *engine.Process) L) engine.Scenario {
	s := preset(name, "a lock under every fault", 2)
	s.Program = lockRounds(byTurns, func(p *engine.Process) FullLocker { return lockOf(p, newLock(p)) })
	s.Checkers = LockCheckers
	s.Goals = []engine.Goal{goalLostWrite, goalHolderExpired, goalContended}
	return WithDefaults(s.Symmetric(ByThree), 3).Without(withoutUntold[L]()...)
}

// lockOf completes a lock.
func lockOf(p *engine.Process, l Locker) someLock {
	x := someLock{held: heldBy(p, l), lock: patient(p, l.Lock), unlock: thorough(p, l.Unlock)}
	if y, ok := l.(Trying); ok {
		x.tryLock = patient(p, y.TryLock)
	}
	return x
}

// LockRounds makes a program that locks, works and unlocks in each round; every
// third attempt is a TryLock.
func LockRounds(newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return LockAndStay(2, newLocker)
}

// LockAndStay is lockRounds with that many steps in the critical section; see [UntilLost].
func LockAndStay(stay int, newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return lockRounds(always(stay), newLocker)
}

func lockRounds(stay func(p *engine.Process, r int) int, newLocker func(p *engine.Process) FullLocker,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		Rounds(p, func(r int) error { return LockOnce(p, o, l, stay(p, r), (p.ID+r)%3 == 2) })
	}
}

// ByThree tells clients apart that try, rather than wait, in every third round.
func ByThree(id, rounds int) int {
	if rounds == 1 && id%3 != 2 {
		return 0
	}
	return id%3 + 1
}

// BySix is byThree where odd and even clients have different roles.
func BySix(id, _ int) int { return id % 6 }

// LockOnce is one round. It returns only errors that a lock must not have.
func LockOnce(p *engine.Process, o engine.Object, l FullLocker, stay int, try bool) error {
	lock := func() (bool, error) { return o.Lock(l.Lock) }
	if try && tries(l) {
		lock = func() (bool, error) { return o.TryLock(l.TryLock) }
	}
	if held, err := lock(); !held {
		return err
	}
	o.Acquired(first(l), l.Token())
	Work(p, o, l, stay)
	o.Released()
	return o.Unlock(l.Unlock)
}

// UntilLost is how long a holder stays that has nothing to do: until it is told that what it holds is lost, or until
// nothing else can happen. Only of such a holder can the session end while it is disconnected, since code that has
// something to do is given the time to hear of that.
const UntilLost = -1

// remain is how a holder stays: it accesses something after each of that many steps, and stops when what it holds is
// lost, which it reports.
func remain(p *engine.Process, o engine.Object, lost <-chan zk.Event, steps int, access func()) bool {
	if steps == UntilLost {
		if !idle(p, lost) {
			return false
		}
		o.Lost()
		return true
	}
	for range steps {
		p.Step()
		if len(lost) > 0 {
			o.Lost()
			return true
		}
		access()
	}
	return false
}

// idle waits to be told of a loss, and reports whether it was.
func idle(p *engine.Process, lost <-chan zk.Event) bool {
	rested := make(chan zk.Event, 1)
	p.Env.Go("rest", func() {
		p.AtRest()
		rested <- zk.Event{}
	})
	i, _, _ := p.Env.Await(context.Background(), lost, rested)
	return i == 0
}

// UntilRest returns a context that is done when nothing else can happen.
func UntilRest(p *engine.Process) context.Context {
	ctx, end := context.WithCancel(context.Background())
	p.Env.Go("rest", func() {
		p.AtRest()
		end()
	})
	return ctx
}

// Work is the critical section: it stops when the lock is lost, and writes to
// the resource in between. It reports whether it was lost.
func Work(p *engine.Process, o engine.Object, l holder, steps int) bool {
	if steps != UntilLost {
		steps = Repeat(p, steps)
	}
	return remain(p, o, l.Lost(), steps, func() {
		if tokens(l) {
			o.Write(l.Token())
		}
	})
}

// AtRest adds the judge of waits to a scenario whose holders stay until nothing else can happen ([UntilLost]); of the
// thing that they wait for as many may be held at once as there are leases.
func AtRest(s engine.Scenario, leases int) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Waits{Leases: leases})
	return s
}

// TwoWorkers makes a program in which two goroutines of one process compete; in a brief run every other client
// has only one.
func TwoWorkers(newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return byTwo(LockRounds(newLocker))
}

// LockAtWork makes a program in which holders work for long, and two goroutines of each process wait no longer than
// they can, give up, and come back with the same object.
func LockAtWork(newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return byTwo(func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		Rounds(p, func(int) error {
			held, err := o.Attempt("lock", func(ctx context.Context) error {
				ctx, end := p.Env.WithTimeout(ctx, nap)
				defer end()
				return l.Lock(ctx)
			}, context.DeadlineExceeded)
			if !held {
				return err
			}
			o.Acquired(first(l), l.Token())
			Work(p, o, l, longWork)
			o.Released()
			return o.Unlock(l.Unlock)
		})
	})
}

// longWork is how many steps somebody works who works for long.
const longWork = 16

// byTwo has two goroutines of one process do the same; in a brief run every other client has only one.
func byTwo(one func(p *engine.Process)) func(p *engine.Process) {
	return func(p *engine.Process) {
		if !Leads(p) {
			one(p)
			return
		}
		done := make(chan zk.Event, 1)
		p.Env.Go("worker", func() {
			one(p)
			done <- zk.Event{}
		})
		one(p)
		p.Env.Await(context.Background(), done)
	}
}

// LockCheckers is everything that every lock must satisfy.
var LockCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Claim{}, checkers.Belief{}, checkers.Fenced{},
	checkers.Liveness{}, checkers.Linearizability{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
