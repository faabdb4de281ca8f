package catalog

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// locker is a lock under test.
type locker interface {
	Lock(ctx context.Context) error
	TryLock(ctx context.Context) error
	Unlock(ctx context.Context) error
	Lost() <-chan zk.Event
	Token() int64
	Znodes() []string
}

// holder is what a critical section needs.
type holder interface {
	Lost() <-chan zk.Event
	Token() int64
}

const lockDir = "/lock"

// lockRounds makes a program that locks, works and unlocks in each round; every
// third attempt is a TryLock.
func lockRounds(newLocker func(p *engine.Process) locker) func(p *engine.Process) {
	return lockAndStay(2, newLocker)
}

// lockAndStay is lockRounds with that many steps in the critical section.
func lockAndStay(stay int, newLocker func(p *engine.Process) locker) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		for r := range p.Rounds {
			if err := lockOnce(p, o, l, stay, (p.ID+r)%3 == 2); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// byThree tells clients apart that try, rather than wait, in every third round.
func byThree(id, rounds int) int {
	if rounds == 1 && id%3 != 2 {
		return 0
	}
	return id%3 + 1
}

// bySix is byThree where odd and even clients have different roles.
func bySix(id, _ int) int { return id % 6 }

// lockOnce is one round. It returns only errors that a lock must not have.
func lockOnce(p *engine.Process, o engine.Object, l locker, stay int, try bool) error {
	lock := func() (bool, error) { return o.Lock(l.Lock) }
	if try {
		lock = func() (bool, error) { return o.TryLock(l.TryLock) }
	}
	if held, err := lock(); !held {
		return err
	}
	znodes := l.Znodes()
	o.Acquired(znodes[0], l.Token())
	work(p, o, l, stay)
	o.Released()
	return o.Unlock(l.Unlock)
}

// work is the critical section: it stops when the lock is lost, and writes to
// the resource in between.
func work(p *engine.Process, o engine.Object, l holder, steps int) {
	lost := l.Lost()
	for range repeat(p, steps) {
		p.Step()
		if len(lost) > 0 {
			o.Lost()
			return
		}
		o.Write(l.Token())
	}
}

// twoWorkers makes a program in which two goroutines of one process compete; in a brief run every other client
// has only one.
func twoWorkers(newLocker func(p *engine.Process) locker) func(p *engine.Process) {
	one := lockRounds(newLocker)
	return func(p *engine.Process) {
		if !leads(p) {
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

func newLock(p *engine.Process) locker {
	return recipes.NewLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newSingleNodeLock(p *engine.Process) locker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newBroken(f broken.Flaw) func(p *engine.Process) locker {
	return func(p *engine.Process) locker { return broken.NewLock(p.Conn, p.Env, p.Path(lockDir), f) }
}

var lockSetup = []model.Request{{Op: model.OpCreate, Path: lockDir, ACL: zk.WorldACL(zk.PermAll)}}

// lockCheckers is everything that every lock must satisfy.
var lockCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Fenced{}, checkers.Liveness{},
	checkers.Linearizability{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

var lockFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: lockDir}})

// lockScenario is what all scenarios of locks have in common.
func lockScenario(s engine.Scenario) engine.Scenario {
	s.Setup, s.Checkers = lockSetup, lockCheckers
	if !s.Broken() && s.Alike == nil {
		s.Alike = byThree
	}
	return withDefaults(s, 3)
}

// twin is a scenario of a broken lock that must be caught.
func twin(name string, f broken.Flaw, s engine.Scenario) engine.Scenario {
	s.Name, s.Row = "lock/"+name, int(f)
	if s.Program == nil {
		s.Program, s.Rounds = lockRounds(newBroken(f)), 2
	}
	return lockScenario(s)
}

// lockPatiently is a program that tries again when Lock fails, as a caller does
// who knows that connections come and go.
func lockPatiently(newLocker func(p *engine.Process) locker) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		for range 4 {
			if lockOnce(p, o, l, 2, false) == nil {
				return
			}
		}
	}
}
