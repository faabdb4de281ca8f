package catalog

import (
	"context"
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// lockScenarios are the scenarios of the locks.
var lockScenarios = []engine.Scenario{
	lockScenario(engine.Scenario{
		Name: "lock/lock", Doc: "the fair lock under every fault",
		Rounds: 2, Program: workload.LockRounds(newLock), Faults: lockFaults,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalExpiry, workload.GoalQueue},
	}),
	lockScenario(engine.Scenario{
		Name: "lock/workers", Doc: "two goroutines of each process compete for the fair lock", Clients: 2,
		Rounds: 2, Program: workload.TwoWorkers(newLock), Faults: lockFaults,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalQueue},
	}.Symmetric(workload.BySix)),
	lockScenario(engine.Scenario{
		Name: "lock/at-work", Doc: "holders work for long, and those who come wait with a deadline, give up and come back",
		Clients: 2, Rounds: 3, Program: workload.LockAtWork(newLock), Faults: lockFaults,
		Goals: []engine.Goal{workload.GoalQueue, {Name: "a client that gives up waiting",
			Reached: workload.Returned("lock", context.DeadlineExceeded)}},
	}.Symmetric(workload.BySix)),
	workload.AtRest(lockScenario(engine.Scenario{
		Name: "lock/idle", Doc: "holders that do nothing but wait to be told that the lock is lost",
		Rounds: 2, Program: workload.LockAndStay(workload.UntilLost, newLock), Faults: withLosses(lockFaults),
		Goals: []engine.Goal{workload.GoalExpiry},
	}).Without("fenced"), 0), // nobody writes
	herdScenario(engine.Scenario{Name: "lock/fan-out", Doc: "a release of the fair lock wakes one client of six",
		Faults: faults.MustParse("sequence=3@path=/lock")}, newLock),
	lockScenario(engine.Scenario{
		Name: "lock/single-node", Doc: "the lock on one znode under every fault",
		Rounds: 2, Program: workload.LockRounds(newSingleNodeLock), Faults: faults.Contract(), // it has no sequential znodes
		Goals: []engine.Goal{workload.GoalExpiry},
	}),

	lockMutant(mutants.PlainCreate, engine.Scenario{Faults: faults.MustParse("lose-reply=2")}),
	lockMutant(mutants.NoOwnCheck, engine.Scenario{
		Faults: faults.MustParse("disconnect=2 expire=2 late-request=2 learn-late=2")}),
	lockMutant(mutants.IgnoreExists, engine.Scenario{}),
	lockMutant(mutants.NameSort, engine.Scenario{}),
	lockMutant(mutants.LeakOnError, engine.Scenario{
		Program: lockPatiently(newBroken(mutants.LeakOnError)),
		Faults:  faults.MustParse("lose-request=1@op=children")}),
	herdScenario(mutated(mutants.WatchFirst, engine.Scenario{}), newBroken(mutants.WatchFirst)),
	herdScenario(mutated(7, engine.Scenario{}), newSingleNodeLock),
	lockMutant(mutants.StringSequence, engine.Scenario{
		Faults: faults.MustParse("sequence=2@path=/lock")}),
	lockMutant(mutants.NoToken, engine.Scenario{Faults: faults.MustParse("pause=3 learn-late=3"),
		Rounds: 3, Program: workload.LockAndStay(16, newBroken(mutants.NoToken))}),
	lockMutant(mutants.KeepHeld, engine.Scenario{
		Faults: faults.MustParse("lose-request=1@op=delete")}),
	lockMutant(mutants.CancelLeak, engine.Scenario{
		Faults: faults.MustParse("cancel=2 lose-reply=2")}),
	lockMutant(mutants.WatchOnly, engine.Scenario{
		Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2")}),
	lockMutant(mutants.Wedged, engine.Scenario{Faults: faults.MustParse("disconnect=2 expire=1")}),
	lockMutant(mutants.ForeignDelete, engine.Scenario{Faults: faults.MustParse("learn-late=3"),
		Servers: []int{1}, Rounds: 5, Program: workload.LockAndStay(30, newBroken(mutants.ForeignDelete))}),
	lockMutant(mutants.SameSession, engine.Scenario{Clients: 2, Rounds: 1,
		Program: workload.TwoWorkers(newBroken(mutants.SameSession))}),
	lockMutant(mutants.StaleTry, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("stale-read=3")}),
	lockMutant(mutants.ClosedSpin, engine.Scenario{
		Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2"), MaxSteps: 4000}),
	lockMutant(mutants.SyncedRetry, engine.Scenario{Servers: []int{3}, Clients: 5,
		// two rules of each: more runs have both
		Faults: faults.MustParse("depose=1 depose=1 late-commit=9@op=create late-commit=9@op=create")}),
	lockMutant(mutants.LowToken, engine.Scenario{Servers: []int{3}, Faults: faults.MustParse("elect=2")}),
	lockMutant(mutants.FewTries, engine.Scenario{Servers: []int{3}, Faults: faults.MustParse("elect=2")}),
	lockMutant(mutants.ExistsLeak, engine.Scenario{}),
	besideOthers(lockMutant(mutants.AnyName, engine.Scenario{})),
}

// withLosses is a plan with more disconnects, and more sessions that end during these.
func withLosses(plan faults.Plan) faults.Plan {
	return append(faults.MustParse("disconnect=2 expire=2"), plan...)
}

// besideOthers puts a znode that no lock has made into the lock's folder.
func besideOthers(s engine.Scenario) engine.Scenario {
	s.Setup = append(slices.Clip(s.Setup), engine.Mkdir(lockDir+"/README"))
	return s
}

// herdScenario is six clients without faults, judged by fan-out as well.
func herdScenario(s engine.Scenario, newLocker func(p *engine.Process) workload.FullLocker) engine.Scenario {
	s.Clients, s.Rounds, s.Program = 6, 1, workload.LockRounds(newLocker)
	s = lockScenario(s)
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Herd{PerEvent: 1})
	return s
}
