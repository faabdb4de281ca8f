package catalog

import (
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// sessionsLast are the faults after which all clients still exist, with their sessions.
var sessionsLast = faults.Contract().Except("crash", "cancel", "expire", "learn-late", "late-request", "expiry-lag",
	"zombie", "pause", "depose")

// doubleBarrierScenarios are the scenarios of the double barrier.
var doubleBarrierScenarios = listed(slices.Concat(
	leavingScenarios("lowest", recipes.LeaveLowest, "the lowest waits for the highest and all others for the lowest",
		leavingFanOut(func(n int) (int, int) { return n - 1, 2 * (n - 1) })), // each for the lowest, then it for all
	leavingScenarios("naive", recipes.LeaveNaive, "those who leave watch all children",
		leavingFanOut(func(n int) (int, int) { return n - 1, n * (n - 1) / 2 })), // the i-th to go for the i-1 before it
	leavingScenarios("sequential", recipes.LeaveSequential, "those who leave watch one neighbour each", oneEach),
	[]engine.Scenario{
		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/crowd", Doc: "more clients than participants, under every fault", Clients: 4, Rounds: 2,
			Faults: faults.Contract(),
			Goals:  []engine.Goal{workload.GoalRounds, workload.GoalOutside},
		}, workload.Meeting{Enter: workload.Limited, Leave: workload.Unlimited, More: 2, Stay: 2,
			NewBarrier: newDoubleBarrier(recipes.LeaveLowest)}),
		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/new-sessions", Doc: "sessions end, and the next ones begin in the past", Clients: 4, Rounds: 2,
			Servers: []int{3},
			Faults:  faults.MustParse("learn-late=2 expiry-lag=2 stale-read=2 disconnect=1 failover=1"),
			Goals:   []engine.Goal{workload.GoalRounds, workload.GoalEndInside},
		}, workload.Meeting{More: 1, Enter: workload.Limited, Leave: workload.Unlimited, Stay: 2,
			NewBarrier: newDoubleBarrier(recipes.LeaveSequential)}),

		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/early", Doc: "participants come back in new sessions, while earlier ones live on", Clients: 3,
			Rounds: 3, Faults: early,
		}, workload.Meeting{Enter: workload.Limited, Leave: workload.Unlimited, More: 1, Stay: 2,
			NewBarrier: newDoubleBarrier(recipes.LeaveLowest)}),

		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/idle", Doc: "participants that do nothing inside but wait to be told of a loss", Clients: 3,
			Rounds: 2, Faults: withLosses(faults.Contract()),
			Goals: []engine.Goal{workload.GoalEndInside},
		}, workload.Meeting{Enter: workload.Limited, Leave: workload.Cancelled, Stay: workload.UntilLost,
			NewBarrier: newDoubleBarrier(recipes.LeaveLowest)}),

		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/at-work", Doc: "participants work for long inside, two of each process, and give up waiting",
			Clients: 2, Rounds: 2, Faults: withLosses(faults.Contract().Except("late-request")),
			Goals: []engine.Goal{workload.GoalGaveUp("enter"), workload.GoalEndInside},
		}, workload.Meeting{Enter: workload.Limited, Leave: workload.Cancelled, AtWork: true,
			NewBarrier: newDoubleBarrier(recipes.LeaveLowest)}),

		doubleBarrierMutant(mutants.CountReady, engine.Scenario{Rounds: 1}, workload.Meeting{}),
		doubleBarrierMutant(mutants.StaleReady, engine.Scenario{Rounds: 2}, workload.Meeting{}),
		doubleBarrierMutant(mutants.CountOnly, engine.Scenario{Rounds: 1}, workload.Meeting{Enter: workload.Unlimited}),
		doubleBarrierMutant(mutants.TimeoutStays, engine.Scenario{Rounds: 2}, workload.Meeting{}),
		doubleBarrierMutant(mutants.LeaveOnce, engine.Scenario{Rounds: 1}, workload.Meeting{}),
		doubleBarrierMutant(mutants.LateJoiner, engine.Scenario{Rounds: 1}, workload.Meeting{More: 1}),
		doubleBarrierMutant(mutants.WaitGone, engine.Scenario{
			Rounds: 2, Faults: faults.MustParse("learn-late=1"), SafetySteps: 60}, workload.Meeting{}),
		doubleBarrierMutant(mutants.SyncedRejoin, engine.Scenario{Rounds: 1, Clients: 5, Servers: []int{3},
			// two rules of each: more runs have both
			Faults: faults.MustParse("depose=1 depose=1 late-commit=9@op=create late-commit=9@op=create")},
			workload.Meeting{}),
		fanOut(mutated(mutants.LeaveHerd, engine.Scenario{Finally: oneEach, Heeds: leaving}), newHerd),
	},
))

// listed has the rounds of the recipes judged by their lists of members. Mutants keep none.
func listed(all []engine.Scenario) []engine.Scenario {
	for i := range all {
		s := &all[i]
		s.Checkers = slices.Clone(s.Checkers)
		if k := slices.Index(s.Checkers, checkers.Checker(checkers.Rounds{})); k >= 0 && !s.Broken() {
			s.Checkers[k] = checkers.Rounds{Listed: true}
		}
	}
	return all
}

// oneEach is the judge for members that watch one neighbour each. It counts the marks, of which the last is also for
// the highest, and the ends.
var oneEach = leavingFanOut(func(n int) (int, int) { return 1, (n - 1) + 1 + (n - 1) - 1 })

// fanOut makes a scenario without faults that counts who is notified.
func fanOut(s engine.Scenario, newBarrier func(p *engine.Process, n int) workload.FullDoubleBarrier) engine.Scenario {
	s.Clients, s.Rounds = 6, 1
	return workload.BaseDoubleBarrier(s, workload.Meeting{Enter: workload.Unlimited, Leave: workload.Unlimited, Stay: 2,
		NewBarrier: newBarrier}).Without("gather") // nobody gives up
}

// leavingScenarios are the scenarios of one way to leave: under every fault, with clients that give up; with clients
// that wait forever and must all get through all rounds; and without faults, judged by the members that they notify.
func leavingScenarios(
	name string, how recipes.Leaving, doc string, notified func(h *history.History) error,
) []engine.Scenario {
	return []engine.Scenario{
		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/" + name, Doc: doc + ", under every fault", Clients: 4, Rounds: 2, Faults: faults.Contract(),
			Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalOutside, workload.GoalGaveUp("enter"),
				workload.GoalGaveUp("leave"), workload.GoalEndInside},
		}, workload.Meeting{More: 1, Enter: workload.Limited, Leave: workload.Cancelled, Stay: 2,
			NewBarrier: newDoubleBarrier(how)}),
		workload.BaseDoubleBarrier(engine.Scenario{
			Name: "double-barrier/" + name + "-patient", Doc: doc + ", and nobody gives up", Rounds: 2, Faults: sessionsLast,
			Goals: []engine.Goal{workload.GoalRounds, workload.GoalLostCreate},
		}, workload.Meeting{Enter: workload.Unlimited, Leave: workload.Unlimited, Stay: 2,
			NewBarrier: newDoubleBarrier(how)}).Without("gather"), // nobody gives up
		fanOut(engine.Scenario{Name: "double-barrier/" + name + "-fan-out", Doc: doc + ", and notify no others",
			Finally: notified, Heeds: leaving}, newDoubleBarrier(how)),
	}
}
