package catalog

import (
	"context"
	"errors"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// configScenarios are those of the configurations.
var configScenarios = []engine.Scenario{
	configScenario(engine.Scenario{
		Name: "config/config", Doc: "the configuration that is updated in one multi, under every fault",
		Source: "ZooKeeper recipes page, Configuration",
		Rounds: 2, Program: configRounds(sometimesThree, newConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{goalLostMulti, goalFollowed,
			{Name: "an update that comes too late", Reached: answered("update", func(e *history.Event) bool { return errors.Is(e.Err, recipes.ErrConfigChanged) })},
			{Name: "an outcome that nobody can know", Reached: answered("update", func(e *history.Event) bool {
				return errors.Is(e.Err, recipes.ErrUnknownOutcome) && !errors.Is(e.Err, context.Canceled)
			})}},
	}),
	configScenario(engine.Scenario{
		Name: "config/flagged", Doc: "the configuration that is updated behind a flag, under every fault",
		Source: "ZooKeeper: Wait-free coordination for Internet-scale systems (2010), section 2.3",
		Rounds: 2, Program: configRounds(sometimesThree, newFlaggedConfig), Faults: faults.Contract(),
		Goals: []engine.Goal{goalLostMulti, goalFollowed,
			{Name: "an update that another takes over", Reached: answered("update", func(e *history.Event) bool { return errors.Is(e.Err, recipes.ErrConfigChanged) })},
			{Name: "a reader that finds the configuration invalid", Reached: answered("get", func(e *history.Event) bool { return errors.Is(e.Err, recipes.ErrConfigInvalid) })},
			{Name: "an updater that dies at work", Reached: diedUpdating}},
	}).Without("tree"), // no znode is ephemeral

	configTwin(broken.TornConfig, engine.Scenario{Name: "config/torn-config", Doc: "values set one by one with neither flag nor multi",
		Source: "Junqueira and Reed, ZooKeeper (2013)", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configTwin(broken.TornRead, engine.Scenario{Name: "config/torn-read", Doc: "values set in one multi and read one by one",
		Source: "derived from row 36", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configTwin(broken.WatchTrust, engine.Scenario{Name: "config/watch-trust", Doc: "the watch on the flag is trusted after a reconnect",
		Source: "ZooKeeper: Wait-free coordination for Internet-scale systems (2010), section 2.3", Servers: []int{3}, Faults: faults.MustParse("lose-request=9@op=get,path=/config/b"),
		Caught: []string{"torn"}, Wakes: "lose-request of the last read"}),
	configTwin(broken.Unfenced, engine.Scenario{Name: "config/unfenced", Doc: "an update goes on when another has begun",
		Source: "derived from row 9", Caught: []string{"torn"}, Wakes: "the schedule alone"}),
	configTwin(broken.NoRearm, engine.Scenario{Name: "config/no-rearm", Doc: "a cached reader leaves its watch once",
		Source: "derived from one-shot watches", Caught: []string{"quiescence"}, Wakes: "the schedule alone"}),
	configTwin(broken.StaleConfig, engine.Scenario{Name: "config/no-sync", Doc: "the set is read without a sync",
		Source: "derived from stale reads", Servers: []int{3}, Faults: faults.MustParse("stale-read=3"),
		Caught: []string{"recency"}, Wakes: "a server that lags"}),
	configTwin(broken.KeepWatch, engine.Scenario{Name: "config/keep-watch", Doc: "a cached reader relies on its watch across disconnects",
		Source: "go-zookeeper conn.go, sendSetWatches", Clients: 8, Servers: []int{1},
		Faults: faults.MustParse("disconnect=30 lose-request=30@op=setWatches"),
		Caught: []string{"quiescence"}, Wakes: "two disconnects while others use the connection"}),
	configTwin(broken.DeniedOwn, engine.Scenario{Name: "config/denied-own", Doc: "a bad version after a lost reply is taken for another update",
		Source: "derived from row 28", Faults: faults.MustParse("lose-reply=2@op=set"),
		Caught: []string{"conflict"}, Wakes: "lose-reply of the last write"}),
}

// configScenario is what all scenarios of configurations have in common.
func configScenario(s engine.Scenario) engine.Scenario {
	s = withDefaults(s, 3)
	s.Checkers = []checkers.Checker{checkers.Torn{}, checkers.Recency{}, checkers.Conflict{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
	return s
}

// configTwin is a scenario of a broken configuration that must be caught.
func configTwin(f broken.Flaw, s engine.Scenario) engine.Scenario {
	s.Row = int(f)
	s.Setup = makeZnodes(configDir, "ready", configDir+"/a", "0/2", configDir+"/b", "0/2")
	newConfig := newBrokenConfig(f)
	names := func(int) []string { return []string{"a", "b"} }
	switch s.Name {
	case "config/watch-trust":
		s.Program, s.Rounds = configRounds(names, oneUpdater(newConfig)), 6
	case "config/keep-watch":
		s.Program, s.Rounds = configBusy(newConfig), 10
	default:
		s.Program, s.Rounds = configRounds(names, newConfig), 6
	}
	return configScenario(s)
}

// sometimesThree are the names of an update, so that values come and go.
func sometimesThree(number int) []string {
	if number/100%2 == 1 {
		return []string{"a", "b"}
	}
	return []string{"a", "b", "c"}
}

var goalFollowed = engine.Goal{Name: "a cached reader that goes on in a new session", Reached: func(h *history.History) bool {
	sessions := map[int32]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Session && e.Op == "StateExpired" {
			sessions[e.Client]++
		}
		if e.Kind == history.Told && sessions[e.Client] > 0 {
			return true
		}
	}
	return false
}}

// diedUpdating reports whether a client crashed in an update that had begun.
func diedUpdating(h *history.History) bool {
	updating, begun := map[int32]bool{}, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Op == "update":
			updating[e.Client] = e.Kind == history.Invoke
			begun[e.Client] = false
		case e.Kind == history.Changed && updating[e.Client]:
			begun[e.Client] = true
		case e.Kind == history.Crashed && begun[e.Client]:
			return true
		}
	}
	return false
}
