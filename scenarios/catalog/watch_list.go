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
			Source: "Curator, PathChildrenCache",
			Rounds: 3, Program: workload.WatchAndWrite(childrenCache)}),
	}
	watchScenarios = []engine.Scenario{
		workload.BaseWatcher(engine.Scenario{Name: "watch/data", Doc: "the watcher of data under every fault",
			Source: "Kazoo, DataWatch; Junqueira and Reed, ZooKeeper (2013), Dealing with state change",
			Rounds: 3, Program: workload.WatchAndWrite(dataWatch)}),
		workload.BaseWatcher(engine.Scenario{Name: "watch/children", Doc: "the watcher of children under every fault",
			Source: "Kazoo, ChildrenWatch",
			Rounds: 3, Program: workload.WatchAndWrite(childrenWatch)}),
		workload.BaseWatcher(engine.Scenario{Name: "watch/patient",
			Doc:    "the watcher that waits until the children have settled, under every fault",
			Source: "Kazoo, PatientChildrenWatch",
			Rounds: 3, Program: workload.WatchAndWrite(patientWatch)}),

		watchMutant("no-sync", mutants.NoSync, engine.Scenario{Doc: "reads in a new session without a sync",
			Source: "derived from go-zookeeper, which forgets the last zxid with the session", Servers: []int{3},
			Faults: faults.MustParse("learn-late=20@client=c1 failover=20@client=c1"), Rounds: 40,
			Program: workload.WatchTheOthers(brokenWatch(mutants.NoSync, workload.WatchItem)), Clients: 6, SafetySteps: 700,
			Caught: []string{"monotone"},
			Wakes:  "expire, then a server that lags"}),
		watchMutant("read-first", mutants.ReadFirst, engine.Scenario{Doc: "reads, and then leaves the watch by another " +
			"request",
			Source: "derived from museum row 3",
			Caught: []string{"convergence"},
			Wakes:  "the schedule alone"}),
		watchMutant("deaf", mutants.Deaf, engine.Scenario{Doc: "ignores the event that ends a watch with its session",
			Source: "kazoo PR 170, twitter commons#20", Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2"),
			Caught: []string{"convergence"},
			Wakes:  "expire"}),
		watchMutant("by-version", mutants.ByVersion, engine.Scenario{Doc: "tells states apart by their versions",
			Source: "derived from the restart of versions",
			Caught: []string{"convergence"},
			Wakes:  "the schedule alone"}),
		watchMutant("trusting", mutants.Trusting, engine.Scenario{Doc: "does not read again after the loss of the connection",
			Source: "derived from go-zookeeper, whose SetWatches goes to the back of the queue",
			Faults: faults.MustParse("disconnect=60@client=c1"), Clients: 2, Servers: []int{3}, SafetySteps: 700,
			Rounds: 4, Program: watchAtWork(mutants.Trusting),
			Caught: []string{"convergence"},
			Wakes:  "disconnect, twice in a row"}),
	}
)

// watchMutant is a scenario of a broken watcher that must be caught.
func watchMutant(name string, f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s.Name, s.Row = "watch/"+name, int(f)
	if s.Program == nil {
		s.Rounds, s.Program = 3, workload.WatchAndWrite(brokenWatch(f, workload.WatchItem))
	}
	return workload.BaseWatcher(s)
}
