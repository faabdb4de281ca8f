package scenarios

import "slices"

// All is every scenario, in the order of the report.
var All = slices.Concat(
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
	revocableScenarios,
	rwlockScenarios,
	semaphoreScenarios,
	watchScenarios,
	znodeScenarios,
)
