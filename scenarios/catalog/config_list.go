package catalog

import (
	"context"
	"errors"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// configScenarios are those of the configurations.
var configScenarios = []engine.Scenario{
	configScenario(engine.Scenario{
		Name: "config/config", Doc: "the configuration that is updated in one multi, under every fault",
		Source: "ZooKeeper recipes page, Configuration",
		Rounds: 2, Program: workload.ConfigRounds(workload.SometimesThree, newConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalLostMulti, workload.GoalFollowed,
			{Name: "an update that comes too late",
				Reached: workload.Answered("update", func(e *history.Event) bool {
					return errors.Is(e.Err,
						recipes.ErrConfigChanged)
				})},
			{Name: "an outcome that nobody can know", Reached: workload.Answered("update", func(e *history.Event) bool {
				return errors.Is(e.Err, recipes.ErrUnknownOutcome) && !errors.Is(e.Err, context.Canceled)
			})}},
	}),
	configScenario(engine.Scenario{
		Name: "config/flagged", Doc: "the configuration that is updated behind a flag, under every fault",
		Source: "ZooKeeper: Wait-free coordination for Internet-scale systems (2010), section 2.3",
		Rounds: 2, Program: workload.ConfigRounds(workload.SometimesThree, newFlaggedConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalLostMulti, workload.GoalFollowed,
			{Name: "an update that another takes over",
				Reached: workload.Answered("update", func(e *history.Event) bool {
					return errors.Is(e.Err,
						recipes.ErrConfigChanged)
				})},
			{Name: "a reader that finds the configuration invalid",
				Reached: workload.Answered("get", func(e *history.Event) bool {
					return errors.Is(e.Err,
						recipes.ErrConfigInvalid)
				})},
			{Name: "an updater that dies at work", Reached: workload.DiedUpdating}},
	}).Without("tree"), // no znode is ephemeral

	configMutant(mutants.TornConfig, engine.Scenario{Name: "config/torn-config",
		Doc:    "values set one by one with neither flag nor multi",
		Source: "Junqueira and Reed, ZooKeeper (2013)", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configMutant(mutants.TornRead, engine.Scenario{Name: "config/torn-read",
		Doc:    "values set in one multi and read one by one",
		Source: "derived from row 36", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configMutant(mutants.WatchTrust, engine.Scenario{Name: "config/watch-trust",
		Doc:    "the watch on the flag is trusted after a reconnect",
		Source: "ZooKeeper: Wait-free coordination for Internet-scale systems (2010), section 2.3", Servers: []int{3},
		Faults: faults.MustParse("lose-request=9@op=get,path=/config/b"),
		Caught: []string{"torn"}, Wakes: "lose-request of the last read"}),
	configMutant(mutants.Unfenced, engine.Scenario{Name: "config/unfenced",
		Doc:    "an update goes on when another has begun",
		Source: "derived from row 9", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configMutant(mutants.NoRearm, engine.Scenario{Name: "config/no-rearm", Doc: "a cached reader leaves its watch once",
		Source: "derived from one-shot watches", Caught: []string{"quiescence"}, Wakes: "the schedule alone"}),
	configMutant(mutants.StaleConfig, engine.Scenario{Name: "config/no-sync", Doc: "the set is read without a sync",
		Source: "derived from stale reads", Servers: []int{3}, Faults: faults.MustParse("stale-read=3"),
		Caught: []string{"recency"}, Wakes: "a server that lags"}),
	configMutant(mutants.KeepWatch, engine.Scenario{Name: "config/keep-watch",
		Doc:    "a cached reader relies on its watch across disconnects",
		Source: "go-zookeeper conn.go, sendSetWatches", Clients: 8, Servers: []int{1},
		Faults: faults.MustParse("disconnect=30 lose-request=30@op=setWatches"),
		Caught: []string{"quiescence"}, Wakes: "two disconnects while others use the connection"}),
	configMutant(mutants.DeniedOwn, engine.Scenario{Name: "config/denied-own",
		Doc:    "a bad version after a lost reply is taken for another update",
		Source: "derived from row 28", Faults: faults.MustParse("lose-reply=2@op=set"),
		Caught: []string{"conflict"}, Wakes: "lose-reply of the last write"}),
}

// configScenario is what all scenarios of configurations have in common.
func configScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Checkers = workload.ConfigCheckers
	return s
}

// configMutant is a scenario of a broken configuration that must be caught.
func configMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s.Row = int(f)
	s.Setup = makeZnodes(workload.ConfigDir, "ready", workload.ConfigDir+"/a", "0/2", workload.ConfigDir+"/b", "0/2")
	newConfig := newBrokenConfig(f)
	names := func(int) []string { return []string{"a", "b"} }
	switch s.Name {
	case "config/watch-trust":
		s.Program, s.Rounds = workload.ConfigRounds(names, oneUpdater(newConfig)), 6
	case "config/keep-watch":
		s.Program, s.Rounds = workload.ConfigBusy(newConfig), 10
	default:
		s.Program, s.Rounds = workload.ConfigRounds(names, newConfig), 6
	}
	return configScenario(s)
}
