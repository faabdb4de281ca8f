package catalog

import (
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

const (
	semDir    = "/sem"
	semLeases = 2
)

func newSemaphore(p *engine.Process) workload.FullLeaser {
	return recipes.NewSemaphore(p.Conn, p.Env, p.Path(semDir), semLeases, recipes.LockOptions{})
}

func newBrokenSemaphore(f mutants.Flaw) func(p *engine.Process) workload.FullLeaser {
	return func(p *engine.Process) workload.FullLeaser {
		return mutants.NewSemaphore(p.Conn, p.Env, p.Path(semDir), semLeases, f)
	}
}

// semaphoreScenario is what all scenarios of semaphores have in common.
func semaphoreScenario(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{engine.Mkdir(semDir), engine.Mkdir(semDir + "/gate"), engine.Mkdir(semDir + "/leases")}
	s.Checkers = append(workload.LeaseCheckers(semLeases), s.Checkers...)
	return workload.WithDefaults(s, 4)
}

var semaphoreFaults = append(faults.MustParse("sequence=2@path=/sem/gate sequence=2@path=/sem/leases"),
	faults.Contract()...)

var semaphoreScenarios = []engine.Scenario{
	semaphoreScenario(engine.Scenario{
		Name: "semaphore/semaphore", Doc: "two leases for four clients under every fault",
		Rounds: 2, Program: workload.LeaseRounds(newSemaphore), Faults: semaphoreFaults,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalExpiry, goalLeases,
			{Name: "a client that waits for a lease",
				Reached: func(h *history.History) bool { return called(h, "childrenW", semDir+"/leases") }}},
	}.Symmetric(workload.ByThree)),
	workload.AtRest(semaphoreScenario(engine.Scenario{
		Name: "semaphore/idle", Doc: "holders of leases that do nothing but wait to be told that theirs is lost",
		Rounds: 2, Program: workload.LeaseAndStay(workload.UntilLost, newSemaphore), Faults: withLosses(semaphoreFaults),
		Goals: []engine.Goal{workload.GoalExpiry},
	}.Symmetric(workload.ByThree)), semLeases),
	semaphoreScenario(engine.Scenario{
		Name: "semaphore/fan-out", Doc: "a release wakes one client of six", Clients: 6,
		Faults: faults.MustParse("sequence=3@path=/sem/leases sequence=3@path=/sem/gate"),
		Program: func(p *engine.Process) {
			s := newSemaphore(p)
			if err := workload.LeaseOnce(p, p.Register(s.Znodes), s, 2, false); err != nil {
				p.Fail(err)
			}
		},
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1}}, Goals: []engine.Goal{goalLeases},
	}).Without("refusal"), // nobody tries

	semaphoreScenario(mutated(mutants.CountFirst, engine.Scenario{Rounds: 2,
		Program: workload.LeaseRounds(newBrokenSemaphore(mutants.CountFirst))})),
	workload.AtRest(semaphoreScenario(mutated(mutants.NearestLease, engine.Scenario{Rounds: 1,
		Program: workload.LeaseAndStay(workload.UntilLost, newBrokenSemaphore(mutants.NearestLease))})).Without("refusal"),
		semLeases), // nobody tries
	semaphoreScenario(mutated(mutants.LeakedLease, engine.Scenario{Rounds: 2,
		Program: workload.LeaseRounds(newBrokenSemaphore(mutants.LeakedLease)),
		Faults:  faults.MustParse("lose-reply=2@op=create,path=/sem/leases")})),
	semaphoreScenario(mutated(mutants.GoneLease, engine.Scenario{Rounds: 2,
		Program: workload.LeaseRounds(newBrokenSemaphore(mutants.GoneLease)),
		Faults:  faults.MustParse("lose-reply=2@op=delete,path=/sem/gate expire=2")})),
}

var goalLeases = workload.GoalLeases(semLeases)

// called reports whether a client has called an operation on a znode.
func called(h *history.History, op, path string) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Call && e.Op == op && e.Path == path
	})
}
