// Package catalog holds the scenarios of this module's recipes and of the mutants, which are recipes with one
// documented bug each.
package catalog

import (
	"slices"

	"zksim/scenarios/engine"
)

// All holds every scenario, in the order of the report.
var All = sourced(frugal(slices.Concat(
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
	elsewhereScenarios,
	goneScenarios,
	aloneScenarios,
	revocableScenarios,
	rwlockScenarios,
	semaphoreScenarios,
	watchScenarios,
	znodeScenarios,
	restartScenarios,
)))

// Named returns the scenario of that name. It panics if there is none: names are constants of a program.
func Named(name string) *engine.Scenario {
	i := slices.IndexFunc(All, func(s engine.Scenario) bool { return s.Name == name })
	if i < 0 {
		panic("catalog: no scenario is called " + name)
	}
	return &All[i]
}
