package catalog

import (
	"context"
	"errors"
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// configScenarios are the scenarios of the configurations.
var configScenarios = []engine.Scenario{
	configScenario(engine.Scenario{
		Name: "config/config", Doc: "the configuration that is updated in one multi, under every fault",
		Rounds: 2, Program: workload.ConfigRounds(workload.SometimesThree, newConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalLostMulti, workload.GoalFollowed,
			{Name: "an update that comes too late",
				Reached: workload.Returned("update", recipes.ErrConfigChanged)},
			{Name: "an outcome that nobody can know", Reached: workload.Answered("update", func(e *history.Event) bool {
				return errors.Is(e.Err, recipes.ErrUnknownOutcome) && !errors.Is(e.Err, context.Canceled)
			})}},
	}),
	stepByStep(configScenario(engine.Scenario{
		Name: "config/flagged", Doc: "the configuration that is updated behind a flag, under every fault",
		Rounds: 2, Program: workload.ConfigRounds(workload.SometimesThree, newFlaggedConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalLostMulti, workload.GoalFollowed,
			{Name: "an update that another takes over",
				Reached: workload.Returned("update", recipes.ErrConfigChanged)},
			{Name: "a reader that finds the configuration invalid",
				Reached: workload.Returned("get", recipes.ErrConfigInvalid)},
			{Name: "an updater that dies at work", Reached: workload.DiedUpdating}},
	})).Without("tree"), // no znode is ephemeral
	stepByStep(configScenario(engine.Scenario{
		Name: "config/mixed", Doc: "one configuration that some update in one multi, and others behind a flag, under every " +
			"fault",
		Rounds: 4, Program: workload.ConfigRounds(workload.SometimesThree, newMixedConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{workload.GoalFollowed,
			{Name: "an update that comes too late", Reached: workload.Returned("update", recipes.ErrConfigChanged)},
			{Name: "an update of what another is changing", Reached: workload.Returned("update", recipes.ErrConfigInvalid)}},
	})),

	configScenario(engine.Scenario{
		Name: "config/busy", Doc: "readers with much else to ask for follow one update, while connections are lost",
		Clients: 8, Rounds: 10, Program: workload.ConfigBusy(newConfig), Servers: []int{1},
		Setup:  configSetup,
		Faults: faults.MustParse("disconnect=30 lose-request=30@op=setWatches"),
	}).Without("conflict"), // one updates
	configScenario(engine.Scenario{
		Name: "config/lagging", Doc: "readers follow many updates, while their servers lag and sessions end",
		Rounds: 6, Program: workload.ConfigFollowed(newConfig), Servers: []int{3},
		Faults: faults.MustParse("learn-late=3 stale-read=3 failover=2 disconnect=2"), Setup: configSetup,
		Goals: []engine.Goal{workload.GoalFollowed},
	}).Without("conflict"), // one updates
	configScenario(engine.Scenario{
		Name: "config/lagging-flagged", Doc: "the same with updates behind a flag",
		Rounds: 4, Program: workload.ConfigFollowed(newFlaggedConfig), Servers: []int{3},
		Faults: faults.MustParse("learn-late=3 stale-read=3 failover=2 disconnect=2"), Setup: configSetup,
		Goals: []engine.Goal{workload.GoalFollowed},
	}).Without("conflict", "tree"), // one updates, and no znode is ephemeral
	configScenario(engine.Scenario{
		Name: "config/new-sessions", Doc: "a reader follows many updates in sessions that begin in the past", Clients: 2,
		Rounds: 12, Program: workload.ConfigFollowed(newConfig), Servers: []int{3}, Setup: configSetup,
		Faults: faults.MustParse("learn-late=9@client=c2 expiry-lag=9@client=c2 failover=9@client=c2"),
		Goals:  []engine.Goal{workload.GoalFollowed},
	}).Without("conflict"), // one updates

	{
		Name: "config/alone", Doc: "what the only updater has set is valid, whatever it has sent in earlier sessions",
		Clients: 1, Servers: []int{3}, Program: updatesAlone,
		Faults:   faults.MustParse("disconnect=1 depose=1 late-request=1"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Quiescence{}, checkers.Steps{}},
	},

	configMutant(mutants.TornConfig, engine.Scenario{}),
	configMutant(mutants.TornRead, engine.Scenario{}),
	configMutant(mutants.WatchTrust, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("lose-request=9@op=get,path=/config/b")}),
	configMutant(mutants.Unfenced, engine.Scenario{}),
	configMutant(mutants.NoRearm, engine.Scenario{}),
	configMutant(mutants.StaleConfig, engine.Scenario{Servers: []int{3},
		Faults: faults.MustParse("stale-read=3")}),
	configMutant(mutants.KeepWatch, engine.Scenario{Clients: 8, Servers: []int{1},
		Faults: faults.MustParse("disconnect=30 lose-request=30@op=setWatches")}),
	configMutant(mutants.DeniedOwn, engine.Scenario{Faults: faults.MustParse("lose-reply=2@op=set")}),
	configMutant(mutants.LateDate, engine.Scenario{}),
	stepByStep(configMutant(mutants.TakenOver, engine.Scenario{Faults: faults.MustParse("lose-request=2@op=set")})),
}

// configSetup is a configuration of two values.
var configSetup = makeZnodes(workload.ConfigDir, "ready",
	workload.ConfigDir+"/a", "0/2", workload.ConfigDir+"/b", "0/2")

// configScenario is what all scenarios of configurations have in common.
func configScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Checkers = slices.Clone(workload.ConfigCheckers)
	s.Checkers[slices.Index(s.Checkers, checkers.Checker(checkers.Conflict{}))] = checkers.Conflict{Flag: configFlag}
	return s
}

// configFlag is the data of the configuration's znode while an update goes on step by step.
const configFlag = "changing"

// stepByStep adds the judge of updates that take more than one step.
func stepByStep(s engine.Scenario) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Overtaken{Flag: configFlag})
	return s
}

// configMutant is a scenario of a broken configuration that must be caught.
func configMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Setup = configSetup
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
