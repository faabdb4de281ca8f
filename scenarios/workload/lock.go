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
	// Lock waits for the lock, until ctx is done; then it returns the error of ctx, and leaves nothing behind. After an
	// error of the connection it is called again, unless ctx is done by then: it must itself remove what may be left after
	// such an error.
	Lock(ctx context.Context) error
	// Unlock gives the lock up; it is also called again.
	Unlock(ctx context.Context) error
}

// Trying is a lock that can be refused: TryLock returns recipes.ErrLocked, which may be wrapped, when another client
// has or awaits the lock.
type Trying interface {
	TryLock(ctx context.Context) error
}

// FullLocker is a lock that reports all that can be judged.
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

// Locks returns the scenario of a user's lock: three clients compete for it under every fault. What is judged depends
// on the methods of L, see [Locker].
func Locks[L Locker](name string, newLock func(p *engine.Process) L) engine.Scenario {
	s := preset(name, "a lock under every fault", 2)
	s.Program = lockRounds(byTurns, func(p *engine.Process) FullLocker { return lockOf(p, newLock(p)) })
	s.Checkers = LockCheckers
	s.Goals = []engine.Goal{goalLostWrite, goalHolderExpired, goalContended}
	return WithDefaults(s.Symmetric(ByThree), 3).Without(withoutUntold[L]()...)
}

// lockOf adds to a lock what the programs need.
func lockOf(p *engine.Process, l Locker) someLock {
	x := someLock{held: heldBy(p, l), lock: patient(p, l.Lock), unlock: thorough(p, l.Unlock)}
	if y, ok := l.(Trying); ok {
		x.tryLock = patient(p, y.TryLock)
	}
	return x
}

// LockRounds makes a program that locks, works and unlocks in each round; every third attempt is a TryLock.
func LockRounds(newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return LockAndStay(2, newLocker)
}

// LockAndStay is LockRounds with that many steps in the critical section; see [UntilLost].
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

// ByThree separates the clients by the rounds in which they try instead of wait, every third one.
func ByThree(id, rounds int) int {
	if rounds == 1 && id%3 != 2 {
		return 0
	}
	return id%3 + 1
}

// BySix is ByThree for programs in which odd and even clients have different roles.
func BySix(id, _ int) int { return id % 6 }

// LockOnce makes one round. It returns only errors that a lock must not have.
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

// UntilLost is the stay of a holder that has nothing to do: until it is told that what it holds is lost, or until
// nothing else can happen. Only such a holder's session can end while it is disconnected: code that has something to do
// is given the time to hear of that.
const UntilLost = -1

// remain is the stay of a holder. It accesses something after each of that many steps. If what it holds is lost it
// stops, records that, and reports true.
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

// Work is the critical section. It writes to the resource in each step, and stops when the lock is lost. It reports
// whether the lock was lost.
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

// AtRest adds the judge of waits to a scenario whose holders stay until nothing else can happen ([UntilLost]). leases
// is how many clients may hold at once what the others wait for.
func AtRest(s engine.Scenario, leases int) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Waits{Leases: leases})
	return s
}

// TwoWorkers makes a program in which two goroutines of one process compete. In a brief run every other client has only
// one.
func TwoWorkers(newLocker func(p *engine.Process) FullLocker) func(p *engine.Process) {
	return byTwo(LockRounds(newLocker))
}

// LockAtWork makes a program in which holders work long. Two goroutines of each process wait with a deadline, give up,
// and come back with the same object.
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

// longWork is how many steps long work takes.
const longWork = 16

// byTwo runs the same in two goroutines of one process. In a brief run every other client has only one.
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

// LockCheckers are what every lock must satisfy.
var LockCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Claim{}, checkers.Belief{}, checkers.Fenced{},
	checkers.Liveness{}, checkers.Linearizability{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
