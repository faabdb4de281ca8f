package scenarios

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
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
func lockRounds(newLocker func(p *Process) locker) func(p *Process) {
	return lockAndStay(2, newLocker)
}

// lockAndStay is lockRounds with that many steps in the critical section.
func lockAndStay(stay int, newLocker func(p *Process) locker) func(p *Process) {
	return func(p *Process) {
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

// lockOnce is one round. It returns only errors that a lock must not have.
func lockOnce(p *Process, o Object, l locker, stay int, try bool) error {
	op, lock := "lock", l.Lock
	if try {
		op, lock = "trylock", l.TryLock
	}
	ctx, end := p.Interruptible()
	o.Invoke(op)
	err := lock(ctx)
	o.Return(op, err, errors.Is(err, recipes.ErrLocked))
	end()
	switch {
	case errors.Is(err, recipes.ErrLocked), errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	}
	znodes := l.Znodes()
	o.Acquired(znodes[0], l.Token())
	work(p, o, l, stay)
	o.Released()
	o.Invoke("unlock")
	err = l.Unlock(context.Background())
	o.Return("unlock", err, false)
	return err
}

// work is the critical section: it stops when the lock is lost, and writes to
// the resource in between.
func work(p *Process, o Object, l holder, steps int) {
	lost := l.Lost()
	for range steps {
		p.Step()
		if len(lost) > 0 {
			o.Lost()
			return
		}
		o.Write(l.Token())
	}
}

// twoWorkers makes a program in which two goroutines of one process compete.
func twoWorkers(newLocker func(p *Process) locker) func(p *Process) {
	one := lockRounds(newLocker)
	return func(p *Process) {
		done := make(chan zk.Event, 1)
		p.Env.Go("worker", func() {
			one(p)
			done <- zk.Event{}
		})
		one(p)
		p.Env.Await(context.Background(), done)
	}
}

func newLock(p *Process) locker {
	return recipes.NewLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newSingleNodeLock(p *Process) locker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newBroken(f broken.Flaw) func(p *Process) locker {
	return func(p *Process) locker { return broken.NewLock(p.Conn, p.Env, p.Path(lockDir), f) }
}

var lockSetup = []model.Request{{Op: model.OpCreate, Path: lockDir, ACL: zk.WorldACL(zk.PermAll)}}

// lockCheckers is everything that every lock must satisfy.
var lockCheckers = []checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Fenced{}, checkers.Liveness{},
	checkers.Linearizability{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

var lockFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: lockDir}})

// lockScenario is what all scenarios of locks have in common.
func lockScenario(s Scenario) Scenario {
	s.Setup, s.Checkers = lockSetup, lockCheckers
	if s.Clients == 0 {
		s.Clients = 3
	}
	if s.Servers == nil {
		s.Servers = []int{1, 3}
	}
	return s
}

// twin is a scenario of a broken lock that must be caught.
func twin(name string, f broken.Flaw, s Scenario) Scenario {
	s.Name, s.Row = "lock/"+name, int(f)
	if s.Program == nil {
		s.Program, s.Rounds = lockRounds(newBroken(f)), 2
	}
	return lockScenario(s)
}

var (
	goalLostCreate = Goal{"a lost reply after a create", lostCreate}
	goalExpiry     = Goal{"a session that ends while its client holds the lock", expiredHolding}
	goalQueue      = Goal{"three clients in the queue", func(h *history.History) bool { return longestQueue(h) >= 3 }}
)

// lostCreate reports whether a create was executed whose client was told that
// the connection is lost.
func lostCreate(h *history.History) bool { return lostReply(h, "create") }

// lostReply is lostCreate for an operation that creates znodes.
func lostReply(h *history.History, op string) bool {
	created := map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Call && e.Op == op:
			created[e.Client] = false
		case e.Kind == history.Created:
			created[e.Client] = true
		case e.Kind == history.Reply && e.Op == op && e.Err == zk.ErrConnectionClosed && created[e.Client]:
			return true
		}
	}
	return false
}

func expiredHolding(h *history.History) bool {
	holding := map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Acquired:
			holding[e.Path] = true
		case e.Kind == history.Deleted && e.Client == 0 && holding[e.Path]:
			return true
		case e.Kind == history.Released:
			clear(holding)
		}
	}
	return false
}

func longestQueue(h *history.History) int {
	now, most := 0, 0
	for i := range h.Events {
		e := &h.Events[i]
		if e.Session == 0 {
			continue
		}
		switch e.Kind {
		case history.Created:
			now++
		case history.Deleted:
			now--
		}
		most = max(most, now)
	}
	return most
}

// lockPatiently is a program that tries again when Lock fails, as a caller does
// who knows that connections come and go.
func lockPatiently(newLocker func(p *Process) locker) func(p *Process) {
	return func(p *Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		for range 4 {
			if lockOnce(p, o, l, 2, false) == nil {
				return
			}
		}
	}
}

// plan parses the fault plan of a scenario literal.
func plan(s string) faults.Plan {
	p, err := faults.Parse(s)
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return p
}
