package catalog

import (
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const barrierPath = "/barrier"

// barrierRounds is [workload.BarrierRounds] with our barrier.
func barrierRounds(change, wait workload.Limiter) func(p *engine.Process) {
	return workload.BarrierRounds(change, wait, newBarrier)
}

func newBarrier(p *engine.Process) workload.Barrier {
	return recipes.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), recipes.BarrierOptions{})
}

// barrierAsked makes a program in which the first client holds the barrier in each round, and the others only wait for
// it, again and again.
func barrierAsked(newBarrier func(p *engine.Process) workload.Barrier) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := workload.NewGate(p, newBarrier(p), workload.Unlimited, workload.Unlimited)
		if p.ID == 1 {
			g.Stay = 10
			g.Rounds(p.Rounds, g.Keep)
		} else {
			g.Rounds(2*p.Rounds, g.Pass)
		}
	}
}

// barrierChanged is a program in which the first client only holds the barrier, and the second only releases it.
func barrierChanged(p *engine.Process) {
	g := workload.NewGate(p, newBarrier(p), workload.Unlimited, workload.Unlimited)
	turn := g.Open
	if p.ID == 1 {
		turn = g.Shut
	}
	g.Rounds(p.Rounds, turn)
}

// lastChangeStands is the judge of barrierChanged: if the last change began after all others had ended, its state is
// what is left.
func lastChangeStands(h *history.History) error {
	var last history.Event
	var alone int32 // the object whose change it is
	underway := 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.Invoke:
			underway++
			last, alone = history.Event{}, e.Object
			if underway > 1 {
				alone = 0
			}
		case history.Return:
			if underway--; e.Object == alone {
				last = e
			}
		}
	}
	for _, z := range h.Tree {
		if z.Path == barrierPath && last.Op != "" && last.Err == nil && (z.Data == "held") != (last.Op == "hold") {
			return fmt.Errorf("c%d's %s was the last change, and the barrier's data are %q", last.Client, last.Op, z.Data)
		}
	}
	return nil
}

// askedScenario has leaders deposed under clients that only ask: only a write of their own tells them so.
func askedScenario(s engine.Scenario) engine.Scenario {
	s.Servers, s.Faults = []int{3}, faults.MustParse("depose=3 elect=1")
	return s
}

// barrierRelay makes a program in which one client holds the broken barrier, the second passes it and holds it for
// long, and the others wait in each round.
func barrierRelay(f mutants.Flaw) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := workload.NewGate(p, mutants.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), f), workload.Unlimited,
			workload.Unlimited)
		if p.ID == 1 {
			g.Rounds(1, g.Keep)
			return
		}
		workload.Steps(p, 8)
		if p.ID == 2 {
			g.Stay = 30
			g.Rounds(1, g.Relay)
		} else {
			g.Rounds(p.Rounds, g.Pass)
		}
	}
}

// heldAgain makes a program in which the first client opens the barrier for a moment in each round and leaves it held,
// and the others wait for it once, until they lose patience.
func heldAgain(newBarrier func(p *engine.Process) workload.Barrier) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := workload.NewGate(p, newBarrier(p), workload.Cancelled, workload.Limited)
		if p.ID == 1 {
			g.Rounds(p.Rounds, g.Blink)
		} else {
			g.Rounds(1, g.Try)
		}
	}
}

// heldAgainScenario is what all scenarios of such programs have in common.
func heldAgainScenario(s engine.Scenario) engine.Scenario {
	s.Rounds = 3
	s = workload.BaseBarrier(s)
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Passage{})
	return s
}

// barrierMutant is a scenario of a broken barrier that must be caught.
func barrierMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Program, s.Rounds = barrierRelay(f), 5
	s.Setup = []model.Request{engine.Mkdir(barrierPath)}
	return workload.BaseBarrier(s)
}

var barrierScenarios = []engine.Scenario{
	workload.BaseBarrier(engine.Scenario{
		Name: "barrier/barrier", Doc: "keepers that may end and waiters that give up, under every fault",
		Rounds: 2, Program: barrierRounds(workload.Cancelled, workload.Limited),
		Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalLostChange, workload.GoalOpened, workload.GoalHeldAgain,
			workload.GoalGaveUp("wait")},
	}),
	workload.BaseBarrier(engine.Scenario{
		Name: "barrier/patient", Doc: "keepers that never end, and nobody gives up",
		Rounds: 3, Program: barrierRounds(workload.Unlimited, workload.Unlimited),
		Faults: faults.Contract().Except("crash", "cancel"),
		Goals:  []engine.Goal{workload.GoalLostChange, workload.GoalOpened, workload.GoalHeldAgain},
	}),

	workload.BaseBarrier(engine.Scenario{
		Name: "barrier/at-work", Doc: "a keeper works while it holds the barrier, and others see its work behind it",
		Rounds: 3, Program: workload.BarrierAtWork(newBarrier), Faults: faults.Contract().Except("crash", "cancel"),
		Setup: makeZnodes(workload.WorkDir, "0"), Words: []string{workload.Saw}, Finally: workload.SeesWork,
		Heeds: workload.SeenWork,
		Goals: []engine.Goal{workload.GoalLostChange, workload.GoalOpened},
	}),
	askedScenario(workload.BaseBarrier(engine.Scenario{
		Name: "barrier/asked", Doc: "clients that do nothing but wait, while leaders are deposed",
		Rounds: 3, Program: barrierAsked(newBarrier),
		Goals: []engine.Goal{workload.GoalOpened},
	})),
	askedScenario(func() engine.Scenario {
		s := workload.BaseBarrier(engine.Scenario{
			Name: "barrier/changed", Doc: "one client holds and one releases, while leaders are deposed",
			Rounds: 3, Program: barrierChanged, Finally: lastChangeStands, Heeds: []string{"hold", "release"},
		}).Without("barrier") // nobody waits
		s.Clients = 2
		return s
	}()),
	heldAgainScenario(engine.Scenario{
		Name: "barrier/held-again", Doc: "a keeper that opens for a moment and holds again, under every fault",
		Program: heldAgain(newBarrier),
		Faults:  faults.Contract().Except("overtake"), // a client that reconnects waits for what it watches
		Goals:   []engine.Goal{workload.GoalHeldAgain, workload.GoalGaveUp("wait")},
	}),
	heldAgainScenario(mutated(mutants.HeldAgain, engine.Scenario{
		Program: heldAgain(func(p *engine.Process) workload.Barrier {
			return mutants.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), mutants.HeldAgain)
		}),
		Setup: []model.Request{engine.Mkdir(barrierPath)},
	})),

	barrierMutant(mutants.ReleaseAgain,
		engine.Scenario{Faults: faults.MustParse("lose-reply=1@client=c1,op=set,nth=2")}),
	barrierMutant(mutants.StaleWait, engine.Scenario{Faults: faults.MustParse("stale-read=3")}),
}
