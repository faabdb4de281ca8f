package catalog

import (
	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// lockScenarios are those of the locks.
var lockScenarios = []engine.Scenario{
	lockScenario(engine.Scenario{
		Name: "lock/lock", Doc: "the fair lock under every fault",
		Source: "ZooKeeper recipes page, Locks",
		Rounds: 2, Program: workload.LockRounds(newLock), Faults: lockFaults,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalExpiry, workload.GoalQueue},
	}),
	lockScenario(engine.Scenario{
		Name: "lock/workers", Doc: "two goroutines of each process compete for the fair lock",
		Source: "ZooKeeper recipes page, Locks", Clients: 2,
		Rounds: 2, Program: workload.TwoWorkers(newLock), Faults: lockFaults, Alike: workload.BySix,
		Goals: []engine.Goal{workload.GoalLostCreate, workload.GoalQueue},
	}),
	herdScenario(0, "lock/fan-out", "a release of the fair lock wakes one client of six", newLock),
	lockScenario(engine.Scenario{
		Name: "lock/single-node", Doc: "the lock on one znode under every fault",
		Source: "Junqueira and Reed, ZooKeeper (2013), the first master election",
		Rounds: 2, Program: workload.LockRounds(newSingleNodeLock), Faults: faults.Contract(), // it has no sequential znodes
		Goals: []engine.Goal{workload.GoalExpiry},
	}),

	mutant("plain-create", mutants.PlainCreate, engine.Scenario{Doc: "a create whose reply was lost is simply retried",
		Source: "Netflix/curator#3, ZOOKEEPER-1262, zk-ruby#54", Faults: faults.MustParse("lose-reply=2"),
		Caught: []string{"quiescence", "tree"},
		Wakes:  "lose-reply of the create"}),
	mutant("no-own-check", mutants.NoOwnCheck, engine.Scenario{Doc: "nobody looks whether the own znode is still listed",
		Source: "go-zookeeper lock.go", Faults: faults.MustParse("disconnect=2 expire=2 late-request=2 learn-late=2"),
		Caught: []string{"ownership", "belief"},
		Wakes:  "expire"}),
	mutant("ignore-exists", mutants.IgnoreExists, engine.Scenario{Doc: "the answer of the exists that leaves the watch " +
		"is ignored",
		Source: "Apache WriteLock, Helix PR 44",
		Caught: []string{"quiescence"},
		Wakes:  "the schedule alone"}),
	mutant("name-sort", mutants.NameSort, engine.Scenario{Doc: "children sorted by whole name, and so by GUID",
		Source: "ZOOKEEPER-2931, Accumulo PR 1926",
		Caught: []string{"ownership", "belief"},
		Wakes:  "the schedule alone"}),
	mutant("leak-on-error", mutants.LeakOnError, engine.Scenario{Doc: "an error after the create returns without " +
		"deleting the znode",
		Source: "samuel/go-zookeeper#229", Program: lockPatiently(newBroken(mutants.LeakOnError)),
		Faults: faults.MustParse("lose-request=1@op=children"),
		Caught: []string{"tree", "quiescence"},
		Wakes:  "lose-request of the listing"}),
	herdScenario(mutants.WatchFirst, "lock/watch-first", "all waiters watch the lowest znode",
		newBroken(mutants.WatchFirst)),
	herdScenario(7, "lock/single-node-herd", "everybody creates /lock and watches it", newSingleNodeLock),
	mutant("string-sequence", mutants.StringSequence, engine.Scenario{Doc: "sequence numbers compared as strings",
		Source: "kazoo#730, go-zookeeper PR 65", Faults: faults.MustParse("sequence=2@path=/lock"),
		Caught: []string{"ownership", "belief"},
		Wakes:  "sequence near 2^31-1"}),
	mutant("no-token", mutants.NoToken, engine.Scenario{Doc: "the holder writes to the resource without a token",
		Source: "CURATOR-206, libkv PR 156", Faults: faults.MustParse("pause=3 learn-late=3"), Rounds: 3,
		Program: workload.LockAndStay(16, newBroken(mutants.NoToken)),
		Caught:  []string{"fenced"},
		Wakes:   "a pause beyond the session's timeout (learn-late)"}),
	mutant("keep-held", mutants.KeepHeld, engine.Scenario{Doc: "unlock forgets the lock first and ignores the error of " +
		"the delete",
		Source: "CURATOR-678", Faults: faults.MustParse("lose-request=1@op=delete"),
		Caught: []string{"tree", "quiescence"},
		Wakes:  "lose-request of the delete"}),
	mutant("cancel-leak", mutants.CancelLeak, engine.Scenario{Doc: "on a cancelled context the znode that was perhaps " +
		"created stays",
		Source: "CURATOR-79, Vitess PR 15757", Faults: faults.MustParse("cancel=2 lose-reply=2"),
		Caught: []string{"tree"},
		Wakes:  "cancel with lose-reply"}),
	mutant("watch-only", mutants.WatchOnly, engine.Scenario{Doc: "waits for the deletion alone and hears nothing of the " +
		"session's end",
		Source: "kazoo PR 170, twitter commons#20", Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2"),
		Caught: []string{"quiescence"},
		Wakes:  "expire"}),
	mutant("wedged", mutants.Wedged, engine.Scenario{Doc: "NoNode at unlock returns before the state is cleared",
		Source: "go-zookeeper lock.go, gnmi-gateway#61", Faults: faults.MustParse("disconnect=2 expire=1"),
		Caught: []string{"liveness"},
		Wakes:  "expire while held"}),
	mutant("foreign-delete", mutants.ForeignDelete, engine.Scenario{Doc: "names come again, and a late unlock deletes " +
		"another's znode",
		Source: "zk-ruby#34", Faults: faults.MustParse("learn-late=3"), Servers: []int{1}, Rounds: 5,
		Program: workload.LockAndStay(30, newBroken(mutants.ForeignDelete)),
		Caught:  []string{"ownership", "belief"},
		Wakes:   "expire and the parent made anew"}),
	mutant("same-session", mutants.SameSession, engine.Scenario{Doc: "any first znode of the own session is taken for " +
		"the own",
		Source: "derived from per-thread locks", Clients: 2, Rounds: 1,
		Program: workload.TwoWorkers(newBroken(mutants.SameSession)),
		Caught:  []string{"ownership"},
		Wakes:   "the schedule alone"}),
	mutant("stale-try", mutants.StaleTry, engine.Scenario{Doc: "TryLock believes a listing of a server that lags",
		Source: "derived from stale reads", Servers: []int{3}, Faults: faults.MustParse("stale-read=3"),
		Caught: []string{"linearizability"},
		Wakes:  "a server that lags"}),
	mutant("closed-spin", mutants.ClosedSpin, engine.Scenario{Doc: "goes on reading a watch channel that was closed " +
		"with the session",
		Source: "derived from go-zookeeper's channels", Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2"),
		MaxSteps: 4000,
		Caught:   []string{"steps"},
		Wakes:    "expire"}),
	mutant("synced-retry", mutants.SyncedRetry, engine.Scenario{Doc: "a znode that is not seen behind a sync is created " +
		"again, under a new GUID",
		Source: "derived from leaders that were deposed, ZOOKEEPER-1675", Servers: []int{3}, Clients: 5,
		// two rules of each: more runs have both
		Faults: faults.MustParse("depose=1 depose=1 late-commit=9@op=create late-commit=9@op=create"),
		Caught: []string{"quiescence", "tree"},
		Wakes:  "depose, late-commit of the create"}),
	mutant("low-token", mutants.LowToken, engine.Scenario{Doc: "the token is the lower 32 bits of the zxid",
		Source: "derived from zxids, which start anew with each leader", Servers: []int{3},
		Faults: faults.MustParse("elect=2"),
		Caught: []string{"fenced"},
		Wakes:  "elect"}),
	mutant("few-tries", mutants.FewTries, engine.Scenario{Doc: "an unlock is given up after a few ErrNoServer",
		Source: "derived from retry policies", Servers: []int{3}, Faults: faults.MustParse("elect=2"),
		Caught: []string{"tree", "quiescence"},
		Wakes:  "elect"}),
}

// herdScenario is six clients without faults, judged by fan-out as well; f is 0
// where that must hold.
func herdScenario(f mutants.Flaw, name, doc string,
	newLocker func(p *engine.Process) workload.FullLocker) engine.Scenario {
	s := lockScenario(engine.Scenario{Name: name, Doc: doc, Source: "ZooKeeper recipes page, herd effect", Clients: 6,
		Rounds: 1, Program: workload.LockRounds(newLocker)})
	if f != 0 {
		s.Row, s.Wakes, s.Caught = int(f), "nothing is needed", []string{"herd"}
		s.Source = map[mutants.Flaw]string{mutants.WatchFirst: "kazoo commit 7dd4c4c, ZOOKEEPER-1483",
			7: "Junqueira and Reed, ZooKeeper (2013), the first master election"}[f]
	}
	s.Checkers = append(s.Checkers[:len(s.Checkers):len(s.Checkers)], checkers.Herd{PerEvent: 1})
	return s
}
