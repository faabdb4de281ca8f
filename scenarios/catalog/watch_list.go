package catalog

import (
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// watchScenarios are the scenarios of the watchers, cacheScenarios those of the cache.
var (
	cacheScenarios = []engine.Scenario{
		workload.BaseWatcher(engine.Scenario{Name: "cache/children", Doc: "the cache of children under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(childrenCache)}),

		workload.BaseWatcher(mutated(mutants.Rewatch, engine.Scenario{
			Rounds: 3, Program: workload.WatchAndWrite(brokenCache)})),
		workload.BaseWatcher(mutated(mutants.Remade, engine.Scenario{
			Rounds: 3, Program: workload.WatchAndWrite(remadeCache)})),
	}
	watchScenarios = []engine.Scenario{
		workload.BaseWatcher(engine.Scenario{Name: "watch/data", Doc: "the watcher of data under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(dataWatch(workload.WatchItem))}),
		workload.BaseWatcher(engine.Scenario{Name: "watch/children", Doc: "the watcher of children under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(childrenWatch)}),
		workload.Patient(workload.BaseWatcher(engine.Scenario{Name: "watch/patient",
			Doc:    "the watcher that waits until the children have settled, under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(patientWatch)})),
		doubtful(workload.BaseWatcher(engine.Scenario{Name: "watch/doubts",
			Doc:    "the watcher of data, which tells of its doubts as well, under every fault",
			Rounds: 3, Program: workload.WatchAndWrite(watchData(workload.WatchItem, true))})),
		atWork(engine.Scenario{Name: "watch/at-work",
			Doc:     "watchers of data at a client that loses its connection again and again while it works",
			Program: watchAtWork(dataWatch)}),
		atWork(engine.Scenario{Name: "watch/caches-at-work",
			Doc:     "caches of children at a client that loses its connection again and again while it works",
			Program: watchAtWork(func(string) workload.Watching { return childrenCache })}),
		lagging(engine.Scenario{Name: "watch/lagging",
			Doc:     "watchers of all kinds at a client whose sessions end, and the next ones begin in the past",
			Program: watchLagging(dataWatch(workload.WatchItem), childrenWatch, childrenCache)}),

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
			Rounds: 4, Program: watchAtWork(func(path string) workload.Watching {
				return brokenWatch(mutants.Trusting, path)
			})}),
		workload.Patient(watchMutant(mutants.SettledOnce, engine.Scenario{Rounds: 3,
			Program: workload.WatchAndWrite(brokenPatientWatch)})),
		doubtful(watchMutant(mutants.SureEarly, engine.Scenario{Faults: faults.MustParse("disconnect=3")})),
	}
)

// atWork is a scenario whose first client loses its connection so often that watches are also lost.
func atWork(s engine.Scenario) engine.Scenario {
	s.Clients, s.Servers, s.SafetySteps, s.Rounds = 2, []int{3}, 700, 4
	s = workload.BaseWatcher(s)
	s.Faults = faults.MustParse("disconnect=60@client=c1")
	s.Goals = s.Goals[:1] // a watcher that is stopped when all is quiet
	return s
}

// lagging is a scenario whose first client has new sessions at servers that lag.
func lagging(s engine.Scenario) engine.Scenario {
	s.Clients, s.Servers, s.SafetySteps, s.Rounds = 3, []int{3}, 400, 8
	s = workload.BaseWatcher(s)
	s.Setup = append(s.Setup, engine.Mkdir(workload.WatchDir))
	s.Faults = faults.MustParse("learn-late=5@client=c1 expiry-lag=9@client=c1 failover=5@client=c1 " +
		"sequence=2@path=" + workload.WatchDir)
	return s
}

// doubtful adds the judge of doubts.
func doubtful(s engine.Scenario) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Suspicion{})
	return s
}

// watchMutant is a scenario of a broken watcher that must be caught.
func watchMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	if s.Program == nil {
		s.Rounds, s.Program = 3, workload.WatchAndWrite(brokenWatch(f, workload.WatchItem))
	}
	return workload.BaseWatcher(s)
}
