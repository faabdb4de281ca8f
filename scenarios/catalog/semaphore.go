package catalog

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// leaser is a semaphore under test.
type leaser interface {
	Acquire(ctx context.Context) error
	TryAcquire(ctx context.Context) error
	Release(ctx context.Context) error
	Lost() <-chan zk.Event
	Znodes() []string
}

const (
	semDir    = "/sem"
	semLeases = 2
)

// leaseRounds makes a program that acquires, works and releases in each round; every
// third attempt is a TryAcquire.
func leaseRounds(newLeaser func(p *engine.Process) leaser) func(p *engine.Process) {
	return func(p *engine.Process) {
		s := newLeaser(p)
		o := p.Register(s.Znodes)
		for r := range p.Rounds {
			if err := leaseOnce(p, o, s, (p.ID+r)%3 == 2); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// leaseOnce is one round. It returns only errors that a semaphore must not have.
func leaseOnce(p *engine.Process, o engine.Object, s leaser, try bool) error {
	op, acquire := "acquire", s.Acquire
	if try {
		op, acquire = "tryacquire", s.TryAcquire
	}
	if ok, err := o.Attempt(op, acquire); !ok {
		return err
	}
	znodes := s.Znodes()
	o.Acquired(znodes[len(znodes)-1], 0)
	lost := s.Lost()
	for range 2 {
		p.Step()
		if len(lost) > 0 {
			o.Lost()
			break
		}
	}
	o.Released()
	return o.Must("release", s.Release)
}

func newSemaphore(p *engine.Process) leaser {
	return recipes.NewSemaphore(p.Conn, p.Env, p.Path(semDir), semLeases, recipes.LockOptions{})
}

func newBrokenSemaphore(f broken.Flaw) func(p *engine.Process) leaser {
	return func(p *engine.Process) leaser {
		return broken.NewSemaphore(p.Conn, p.Env, p.Path(semDir), semLeases, f)
	}
}

// semaphoreScenario is what all scenarios of semaphores have in common.
func semaphoreScenario(s engine.Scenario) engine.Scenario {
	acl := zk.WorldACL(zk.PermAll)
	s.Setup = []model.Request{{Op: model.OpCreate, Path: semDir, ACL: acl}, {Op: model.OpCreate, Path: semDir + "/gate", ACL: acl},
		{Op: model.OpCreate, Path: semDir + "/leases", ACL: acl}}
	s.Checkers = append([]checkers.Checker{checkers.Ownership{Leases: semLeases}, checkers.Belief{Leases: semLeases}, checkers.Liveness{},
		checkers.Refusal{Leases: semLeases}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}, s.Checkers...)
	if s.Clients == 0 {
		s.Clients = 4
	}
	s.Servers = []int{1, 3}
	return s
}

var semaphoreFaults = append(faults.MustParse("sequence=2@path=/sem/gate sequence=2@path=/sem/leases"), faults.Contract()...)

var semaphoreScenarios = []engine.Scenario{
	semaphoreScenario(engine.Scenario{
		Name: "semaphore/semaphore", Doc: "two leases for four clients under every fault",
		Source: "Curator InterProcessSemaphoreV2",
		Rounds: 2, Program: leaseRounds(newSemaphore), Alike: byThree, Faults: semaphoreFaults,
		Goals: []engine.Goal{goalLostCreate, goalExpiry, goalLeases,
			{Name: "a client that waits for a lease", Reached: func(h *history.History) bool { return called(h, "childrenW", semDir+"/leases") }}},
	}),
	semaphoreScenario(engine.Scenario{
		Name: "semaphore/fan-out", Doc: "a release wakes one client of six",
		Source: "ZooKeeper recipes page, herd effect", Clients: 6,
		Program: func(p *engine.Process) {
			s := newSemaphore(p)
			if err := leaseOnce(p, p.Register(s.Znodes), s, false); err != nil {
				p.Fail(err)
			}
		},
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1}}, Goals: []engine.Goal{goalLeases},
	}).Without("refusal"), // nobody tries

	semaphoreScenario(engine.Scenario{
		Name: "semaphore/count-first", Doc: "counts the leases before it creates its own", Row: int(broken.CountFirst),
		Source: "derived from kazoo Semaphore._get_lease", Rounds: 2, Program: leaseRounds(newBrokenSemaphore(broken.CountFirst)),
		Caught: []string{"ownership", "belief"}, Wakes: "the schedule alone",
	}),
	semaphoreScenario(engine.Scenario{
		Name: "semaphore/leaked-lease", Doc: "a create of a lease whose reply was lost is simply retried", Row: int(broken.LeakedLease),
		Source: "as Netflix/curator#3", Rounds: 2, Program: leaseRounds(newBrokenSemaphore(broken.LeakedLease)),
		Faults: faults.MustParse("lose-reply=2@op=create,path=/sem/leases"),
		Caught: []string{"tree", "quiescence"}, Wakes: "lose-reply of the create",
	}),
}

var goalLeases = engine.Goal{Name: "all leases held at once", Reached: func(h *history.History) bool {
	holding := map[int32]bool{}
	for _, e := range h.Events {
		switch e.Kind {
		case history.Acquired:
			holding[e.Object] = true
		case history.Released, history.Lost:
			delete(holding, e.Object)
		}
		if len(holding) == semLeases {
			return true
		}
	}
	return false
}}

// called reports whether a client has called an operation on a znode.
func called(h *history.History, op, path string) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Call && e.Op == op && e.Path == path
	})
}
