package catalog

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// revocable is a lock under test that can be revoked.
type revocable interface {
	workload.FullRWLocker
	Revoked() <-chan zk.Event
}

const (
	revokerPause = 250 * time.Millisecond
	// holderPatience is how long a holder waits to be told. In a real run it is told at once.
	holderPatience = 5 * time.Second
)

// revocableRounds makes a program in which each client reads or writes in each round, and now and then revokes all
// locks that it sees. A holder gives up the lock when it is asked to. If locks are broken it does not: it works until
// it is told that the lock is lost. With both, locks are first revoked and then broken.
func revocableRounds(how pressure, newLock func(p *engine.Process) revocable) func(p *engine.Process) {
	return func(p *engine.Process) {
		done := make(chan zk.Event, 1)
		p.Env.Go("revoker", func() { revoker(p, how, done) })
		l := newLock(p)
		o := p.Register(l.Znodes)
		workload.Rounds(p, func(r int) error { return revocableOnce(p, o, l, (p.ID+r)%2 == 0, how) })
		done <- zk.Event{}
	}
}

// pressure is how holders are made to give up their locks.
type pressure uint8

const (
	asked  pressure = iota // they are revoked
	forced                 // they are broken
	both                   // they are revoked, and later broken
)

// revoker revokes or breaks each lock once, or does one after the other.
func revoker(p *engine.Process, how pressure, done <-chan zk.Event) {
	l := newRevocable(p).(*recipes.RevocableLock)
	o := p.Register(l.Znodes)
	var before []string
	for {
		ctx, end := p.Env.WithTimeout(context.Background(), revokerPause)
		_, _, err := p.Env.Await(ctx, done)
		end()
		if err == nil {
			return
		}
		paths, err := l.Queue(context.Background())
		for _, path := range paths {
			times := 0
			for _, x := range before {
				if x == path {
					times++
				}
			}
			if err != nil || times > 0 && how != both || times > 1 {
				continue
			}
			op, revoke := "revoke", l.Revoke
			if how == forced || times > 0 {
				op, revoke = "break", l.Break
			}
			before = append(before, path)
			o.Record(history.Event{Kind: history.Invoke, Op: op, Path: path})
			err = revoke(context.Background(), path)
			o.Record(history.Event{Kind: history.Return, Op: op, Path: path, Err: err})
		}
		if err != nil {
			p.Fail(err)
			return
		}
	}
}

// revocableOnce is one round. It returns only errors that a lock must not have.
func revocableOnce(p *engine.Process, o engine.Object, l revocable, read bool, how pressure) error {
	op, lock := "lock", l.Lock
	if read {
		op, lock = "rlock", l.RLock
	}
	if ok, err := o.Attempt(op, lock); !ok {
		return err
	}
	unlock := l.Unlock
	op = "unlock"
	if read {
		unlock = l.RUnlock
		op = "runlock"
		workload.Share(o, l)
	} else {
		o.Acquired(lastZnode(l), l.Token())
		workload.Work(p, o, l, 3)
	}
	if told := hold(p, o, l, how == forced); told && how == both {
		hold(p, o, l, true)
	}
	o.Released()
	return o.Must(op, unlock)
}

// hold waits until the lock is revoked or lost, and reports whether it is revoked. A stubborn holder ignores that.
func hold(p *engine.Process, o engine.Object, l revocable, stubborn bool) (told bool) {
	path := lastZnode(l)
	ctx, end := p.Env.WithTimeout(context.Background(), holderPatience)
	defer end()
	revoked := l.Revoked()
	if stubborn {
		revoked = nil
	}
	o.Record(history.Event{Kind: history.Invoke, Op: "hold", Path: path})
	i, _, err := p.Env.Await(ctx, l.Lost(), revoked)
	switch i {
	case 0:
		o.Lost()
	case 1:
		o.Record(history.Event{Kind: history.Told, Op: "revoked", Path: path})
	}
	o.Record(history.Event{Kind: history.Return, Op: "hold", Path: path, Err: err, OK: true})
	return i == 1
}

func newRevocable(p *engine.Process) revocable {
	return recipes.NewRevocableLock(p.Conn, p.Env, p.Path(rwDir), recipes.LockOptions{})
}

func newBrokenRevocable(f mutants.Flaw) func(p *engine.Process) revocable {
	return func(p *engine.Process) revocable { return mutants.NewRevocableLock(p.Conn, p.Env, p.Path(rwDir), f) }
}

// revocableScenario is what all scenarios of revocable locks have in common. The faults, and early timers, end soon:
// only what happens afterwards shows that nobody is told.
func revocableScenario(s engine.Scenario) engine.Scenario {
	s = rwScenario(s).Without("refusal") // nobody tries
	s.Checkers = append(s.Checkers, checkers.LostRevoke{})
	s.Clients = 2
	if s.SafetySteps = 150; s.Broken() {
		s.SafetySteps = 30
	}
	return s
}

var revocableScenarios = []engine.Scenario{
	revocableScenario(engine.Scenario{
		Name: "revocable/revocable", Doc: "all holders are asked back under every fault, and give up the lock",
		Rounds: 2, Program: revocableRounds(asked, newRevocable), Faults: rwFaults,
		Goals: []engine.Goal{workload.GoalExpiry, {Name: "a holder that is told", Reached: workload.Told("revoked")},
			{Name: "a lock that is revoked before it is held", Reached: revokedInQueue},
			{Name: "a lost reply after a revocation", Reached: workload.LostAfter("set", workload.Changed)}},
	}),
	revocableScenario(engine.Scenario{
		Name: "revocable/break", Doc: "all locks are broken under every fault, and holders go on until they hear of it",
		Rounds: 2, Program: revocableRounds(forced, newRevocable), Faults: rwFaults,
		Goals: []engine.Goal{workload.GoalExpiry, {Name: "a write of a holder whose lock was broken", Reached: brokenWrite}},
	}),
	revocableScenario(engine.Scenario{
		Name: "revocable/insist", Doc: "holders that are asked and do not give up the lock have it broken, and are told",
		Rounds: 2, Program: revocableRounds(both, newRevocable), Faults: rwFaults,
		Goals: []engine.Goal{{Name: "a holder that is told twice", Reached: toldTwice}},
	}),

	revocableScenario(mutated(mutants.LateRevoke, engine.Scenario{Rounds: 2,
		Program: revocableRounds(asked, newBrokenRevocable(mutants.LateRevoke))})),
	revocableScenario(mutated(mutants.DeafAfterAsked, engine.Scenario{Rounds: 2,
		Program: revocableRounds(both, newBrokenRevocable(mutants.DeafAfterAsked))})),
	revocableScenario(mutated(mutants.DeafHolder, engine.Scenario{Rounds: 2,
		Program: revocableRounds(forced, newBrokenRevocable(mutants.DeafHolder))})),
}

// revokedInQueue reports whether a client got the lock with a znode that was already revoked.
func revokedInQueue(h *history.History) bool {
	revoked := map[string]bool{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Return && e.Op == "revoke" && e.Err == nil:
			revoked[e.Path] = true
		case e.Kind == history.Acquired && revoked[e.Path]:
			return true
		}
	}
	return false
}

// toldTwice reports whether a client was told that its lock was revoked, and then that it was lost.
func toldTwice(h *history.History) bool {
	told := map[int32]bool{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Told && e.Op == "revoked":
			told[e.Object] = true
		case e.Kind == history.Released:
			delete(told, e.Object)
		case e.Kind == history.Lost && told[e.Object]:
			return true
		}
	}
	return false
}

// brokenWrite reports whether a holder tried to write after another client had deleted its znode.
func brokenWrite(h *history.History) bool {
	paths := map[int32]string{} // of the writer's znode
	gone := map[string]bool{}
	for _, e := range h.Events {
		switch e.Kind {
		case history.Acquired:
			paths[e.Object] = e.Path
		case history.Return:
			if e.Op == "break" {
				gone[e.Path] = true
			}
		case history.Write:
			if gone[paths[e.Object]] {
				return true
			}
		}
	}
	return false
}
