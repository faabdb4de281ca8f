package catalog

import (
	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const barrierPath = "/barrier"

// barrierRounds is that program with our barrier.
func barrierRounds(change, wait workload.Limiter) func(p *engine.Process) {
	return workload.BarrierRounds(change, wait, func(p *engine.Process) *recipes.Barrier {
		return recipes.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), recipes.BarrierOptions{})
	})
}

// barrierRelay is a program in which one client holds the broken barrier, the
// second passes it and holds it for long, and the others wait in each round.
func barrierRelay(f mutants.Flaw) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := workload.NewGate(p, mutants.NewBarrier(p.Conn, p.Env, p.Path(barrierPath), f), workload.Unlimited,
			workload.Unlimited)
		if p.ID == 1 {
			g.Rounds(1, g.Keep)
			return
		}
		for range 8 {
			p.Step()
		}
		if p.ID == 2 {
			g.Stay = 30
			g.Rounds(1, g.Relay)
		} else {
			g.Rounds(p.Rounds, g.Pass)
		}
	}
}

// barrierMutant is a scenario of a broken barrier that must be caught.
func barrierMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Program, s.Rounds = barrierRelay(f), 5
	s.Setup = []model.Request{{Op: model.OpCreate, Path: barrierPath, ACL: zk.WorldACL(zk.PermAll)}}
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

	barrierMutant(mutants.ReleaseAgain,
		engine.Scenario{Faults: faults.MustParse("lose-reply=1@client=c1,op=set,nth=2")}),
	barrierMutant(mutants.StaleWait, engine.Scenario{Faults: faults.MustParse("stale-read=3")}),
}
