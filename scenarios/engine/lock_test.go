package engine_test

import (
	"slices"

	"zksim/faults"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

var lockSetup = catalog.Named("lock/lock").Setup

// lockLike is the scenario of the lock with another name, two rounds, a plan, and only some of its goals.
func lockLike(name string, plan faults.Plan, goals ...string) engine.Scenario {
	s := *catalog.Named("lock/lock")
	s.Name, s.Rounds, s.Faults = name, 2, plan
	s.Goals = slices.DeleteFunc(slices.Clone(s.Goals), func(g engine.Goal) bool {
		return !slices.Contains(goals, g.Name)
	})
	return s
}
