package catalog

import (
	"zksim/faults"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// watchScenarios are those of the watchers, cacheScenarios that of the cache.
var (
	cacheScenarios = []engine.Scenario{
		workload.BaseWatcher(engine.Scenario{Name: "cache/children", Doc: "the cache of children under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(childrenCache)}),
	}
	watchScenarios = []engine.Scenario{
		workload.BaseWatcher(engine.Scenario{Name: "watch/data", Doc: "the watcher of data under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(dataWatch)}),
		workload.BaseWatcher(engine.Scenario{Name: "watch/children", Doc: "the watcher of children under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(childrenWatch)}),
		workload.BaseWatcher(engine.Scenario{Name: "watch/patient",
			Doc:    "the watcher that waits until the children have settled, under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(patientWatch)}),

		watchMutant(mutants.NoSync, engine.Scenario{Servers: []int{3},
			Faults: faults.MustParse("learn-late=20@client=c1 failover=20@client=c1"), Rounds: 40,
			Program: workload.WatchTheOthers(brokenWatch(mutants.NoSync, workload.WatchItem)), Clients: 6,
			SafetySteps: 700}),
		watchMutant(mutants.ReadFirst, engine.Scenario{}),
		watchMutant(mutants.Deaf, engine.Scenario{
			Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2")}),
		watchMutant(mutants.ByVersion, engine.Scenario{}),
		watchMutant(mutants.Trusting, engine.Scenario{
			Faults: faults.MustParse("disconnect=60@client=c1"), Clients: 2, Servers: []int{3}, SafetySteps: 700,
			Rounds: 4, Program: watchAtWork(mutants.Trusting)}),
	}
)

// watchMutant is a scenario of a broken watcher that must be caught.
func watchMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	if s.Program == nil {
		s.Rounds, s.Program = 3, workload.WatchAndWrite(brokenWatch(f, workload.WatchItem))
	}
	return workload.BaseWatcher(s)
}
