package workload

import (
	"context"
	"errors"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// RWLocker is a read/write lock under test. It may also be [Trying] and [TryingToRead], have a Downgrade, and be
// [Losing], [Tokened] and [Placed]. The znodes of readers then have names by which [checkers.Ownership] knows them.
type RWLocker interface {
	Locker
	// RLock and RUnlock are for readers, which share the lock with others.
	RLock(ctx context.Context) error
	RUnlock(ctx context.Context) error
}

// TryingToRead is Trying for readers.
type TryingToRead interface {
	TryRLock(ctx context.Context) error
}

// FullRWLocker is a read/write lock that reports all that can be judged.
type FullRWLocker interface {
	FullLocker
	RWLocker
	TryingToRead
}

// RWCheckers are what every read/write lock must satisfy.
var RWCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Claim{}, checkers.Belief{}, checkers.Fenced{},
	checkers.Liveness{},
	checkers.Refusal{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

// someRWLock is a read/write lock with those methods of a [FullRWLocker] that the recipe has.
type someRWLock struct {
	someLock
	rLock, tryRLock, rUnlock func(ctx context.Context) error
}

func (l someRWLock) RLock(ctx context.Context) error    { return l.rLock(ctx) }
func (l someRWLock) TryRLock(ctx context.Context) error { return l.tryRLock(ctx) }
func (l someRWLock) RUnlock(ctx context.Context) error  { return l.rUnlock(ctx) }

func (l someRWLock) tries() bool { return l.tryLock != nil && l.tryRLock != nil }

// RWLocks returns the scenario of a user's read/write lock: three clients read and write in turn under every fault.
func RWLocks[L RWLocker](name string, newLock func(p *engine.Process) L) engine.Scenario {
	s := preset(name, "a read/write lock under every fault", 3)
	s.Program = sharedRounds(byTurns, func(p *engine.Process) FullRWLocker { return rwLockOf(p, newLock(p)) })
	s.Checkers = RWCheckers
	s.Goals = []engine.Goal{goalLostWrite, goalHolderExpired, GoalReaders(2)}
	out := unless(has[L, Trying]() && has[L, TryingToRead](), withoutUntold[L](), "refusal")
	return WithDefaults(s, 3).Without(out...)
}

// rwLockOf adds to a read/write lock what the programs need.
func rwLockOf(p *engine.Process, l RWLocker) FullRWLocker {
	x := someRWLock{someLock: lockOf(p, l), rLock: patient(p, l.RLock), rUnlock: thorough(p, l.RUnlock)}
	if y, ok := l.(TryingToRead); ok {
		x.tryRLock = patient(p, y.TryRLock)
	}
	if d, ok := l.(downgrader); ok {
		return downgradable{x, d}
	}
	return x
}

// downgradable is a read/write lock that can also be downgraded.
type downgradable struct {
	someRWLock
	downgrader
}

// downgrader is a lock whose writer can become a reader.
type downgrader interface {
	Downgrade(ctx context.Context) error
}

// SharedRounds makes a program in which each client in turn reads, writes, and writes and downgrades. Clients begin
// with different ones; one attempt in five does not wait.
func SharedRounds(newLocker func(p *engine.Process) FullRWLocker) func(p *engine.Process) {
	return sharedRounds(always(2), newLocker)
}

// SharedIdly is SharedRounds with holders that do nothing, see [UntilLost].
func SharedIdly(newLocker func(p *engine.Process) FullRWLocker) func(p *engine.Process) {
	return sharedRounds(always(UntilLost), newLocker)
}

func sharedRounds(stay func(p *engine.Process, r int) int, newLocker func(p *engine.Process) FullRWLocker,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		Rounds(p, func(r int) error { return sharedOnce(p, o, l, (p.ID+r)%3, (p.ID+2*r)%5 == 0, stay(p, r)) })
	}
}

// What a client wants from a read/write lock.
const (
	ToRead = iota
	ToWrite
	ToDowngrade
)

// SharedOnce makes one round. It returns only errors that a lock must not have.
func SharedOnce(p *engine.Process, o engine.Object, l FullRWLocker, want int, try bool) error {
	return sharedOnce(p, o, l, want, try, 2)
}

// sharedOnce is SharedOnce with that many steps for a writer; a reader takes one more.
func sharedOnce(p *engine.Process, o engine.Object, l FullRWLocker, want int, try bool, stay int) error {
	read := stay
	if stay != UntilLost {
		read++
	}
	op, lock := "lock", l.Lock
	switch {
	case want == ToRead && try && tries(l):
		op, lock = "tryrlock", l.TryRLock
	case want == ToRead:
		op, lock = "rlock", l.RLock
	case try && tries(l):
		op, lock = "trylock", l.TryLock
	}
	if ok, err := o.Attempt(op, lock); !ok {
		return err
	}
	if want == ToRead {
		return readAndUnlock(p, o, l, read)
	}
	o.Acquired(last(l), l.Token())
	lost := Work(p, o, l, stay) // it may have received the only event of l.Lost
	if d, ok := l.(downgrader); ok && want == ToDowngrade && !lost && len(l.Lost()) == 0 {
		return downgrade(p, o, l, d, read)
	}
	o.Released()
	return o.Unlock(l.Unlock)
}

// downgrade continues as a reader. It records that it owns the lock as a reader before the call, since from then on
// others may read.
func downgrade(p *engine.Process, o engine.Object, l FullRWLocker, d downgrader, stay int) error {
	Share(o, l)
	ctx, end := p.Interruptible()
	o.Invoke("downgrade")
	err := d.Downgrade(ctx)
	o.Return("downgrade", err, recipes.ErrLost)
	end()
	switch {
	case err == nil:
		return readAndUnlock(p, o, l, stay)
	case errors.Is(err, recipes.ErrLost), errors.Is(err, context.Canceled):
		o.Released()
		return nil
	}
	return err
}

// Share records that the holder may believe that it holds the lock for reading.
func Share(o engine.Object, l FullRWLocker) {
	o.Record(history.Event{Kind: history.Acquired, Op: "read", Path: first(l), Value: l.Token()})
}

// readAndUnlock is what a reader does once it has the lock.
func readAndUnlock(p *engine.Process, o engine.Object, l FullRWLocker, stay int) error {
	Share(o, l)
	remain(p, o, l.Lost(), stay, func() {
		if tokens(l) {
			o.Read(l.Token())
		}
	})
	o.Released()
	return o.Must("runlock", l.RUnlock)
}

// GoalReaders is the goal that n clients hold the lock for reading at once.
func GoalReaders(n int) engine.Goal {
	count := map[int]string{2: "two", 3: "three"}[n]
	return engine.Goal{Name: count + " readers at once", Reached: func(h *history.History) bool {
		return mostHolders(h, func(e *history.Event) bool { return e.Op == "read" }) >= n
	}}
}
