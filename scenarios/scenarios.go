// Package scenarios is what a test imports. A [Scenario] is a workload on a recipe together with
// what may go wrong, what must hold and what must have happened. [Check] runs it over many seeds,
// [Fuzz] under Go's fuzzer.
package scenarios

import "zksim/scenarios/engine"

type (
	// Scenario is one experiment: who does what, what may go wrong, and what must hold.
	Scenario = engine.Scenario
	// Process is what a client's program sees.
	Process = engine.Process
	// Object is a recipe object under observation.
	Object = engine.Object
	// Goal is something that must happen in at least one run.
	Goal = engine.Goal
	// Resource is something outside of ZooKeeper that a lock guards.
	Resource = engine.Resource
	// T is what Check needs of a *testing.T.
	T = engine.T
)
