// Package catalog is the scenarios of the recipes of this module, and of the mutants, which are recipes
// with one documented bug each.
package catalog

import (
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// All is every scenario, in the order of the report.
var All = sourced(frugal(prompt(slices.Concat(
	lockScenarios,
	barrierScenarios,
	cacheScenarios,
	commitScenarios,
	configScenarios,
	counterScenarios,
	doubleBarrierScenarios,
	electionScenarios,
	masterScenarios,
	memberScenarios,
	monitorScenarios,
	namesScenarios,
	priorityQueueScenarios,
	queueScenarios,
	refusalScenarios,
	deniedScenarios,
	struckScenarios,
	waitingScenarios,
	aloneScenarios,
	revocableScenarios,
	rwlockScenarios,
	semaphoreScenarios,
	watchScenarios,
	znodeScenarios,
	restartScenarios,
))))

// prompt returns the scenarios with claims judged as those of our recipes, which ask at the last moment whether the
// session has changed state. A semaphore cannot: while it leaves the gate, another goroutine guards its lease already,
// and news that were handed to that one, which has not gone on yet, are seen by nobody else.
func prompt(all []engine.Scenario) []engine.Scenario {
	for i := range all {
		s := &all[i]
		s.Checkers = slices.Clone(s.Checkers)
		for k, c := range s.Checkers {
			if c, ok := c.(checkers.Claim); ok && !s.Broken() && !strings.HasPrefix(s.Name, "semaphore/") {
				c.Prompt = true
				s.Checkers[k] = c
			}
		}
	}
	return all
}

// Named returns the scenario of that name. It panics if there is none: names are constants of a program.
func Named(name string) *engine.Scenario {
	i := slices.IndexFunc(All, func(s engine.Scenario) bool { return s.Name == name })
	if i < 0 {
		panic("catalog: no scenario is called " + name)
	}
	return &All[i]
}
