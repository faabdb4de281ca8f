// Package herd measures the herd effect: how many clients a recipe wakes for each one that can go on. A [Variant] is a
// workload for any number of clients. [Measure] runs it in a timed simulation, which is a function of variant, clients
// and seed. [MeasureLive] runs it on a real ensemble, and [Variant.Compare] sets one beside the other. [WatchMemory]
// measures the memory that watches take.
//
// A test holds a recipe to its promises by scenarios.Herd, which tries these with growing numbers of clients ([Try]):
//
//	scenarios.Herd(t, herd.Locks("my/lock", newMyLock), herd.PerEvent(1), herd.Wasted(0), herd.SlopeBelow(0.1))
package herd

import (
	"zksim/model"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Variant is a way to wait in a recipe.
type Variant struct {
	Name string // recipe/variant
	Doc  string // who waits for what, in one sentence
	Goes string // what it means to go on: the useful event by which everything is counted

	// Claims are what the recipe's documentation promises. A variant that is there to show the herd has none.
	Claims []Claim

	// Most is the largest number of clients that the variant is measured with, 0 for any. It is for work that grows
	// with their square and takes too long beyond that.
	Most int

	Setup []model.Request // executed before the clients start

	// Program is what each client does. It records Released when it does what lets somebody go on, and Acquired when it
	// can go on itself, both by the Process that it is given. What comes before Process.Opening or Process.Turn returns
	// is not counted. It may run forever.
	Program func(p *Process)
	// Drive, if not nil, is what one more client does. That client is not one of those that wait, but it is counted
	// where notifications and requests are counted.
	Drive func(p *Process)
	// Brisk says that a change concerns so few clients that the time until all of them
	// wait again does not depend on their number. Without it, experiments with many
	// clients take long.
	Brisk bool
	// Open says what in the counts the protocol leaves to chance, and why. Such counts differ a little between a
	// simulation and a real ensemble. It is empty where they must be equal.
	Open string
	// Interval, if not 0, is the time between two events, in round trips.
	Interval float64
	// Timing of the simulation; zero is sim.DefaultTiming.
	Timing sim.Timing
	// Events returns how many events are measured: clients that go on, 1 or more.
	Events func(clients int) int
}

// Process is a client's program with its object in the history, and the pace of the experiment. The simulator goes by
// the clock and gives a herd time to come and to go. Real clients go by what is heard on their connections.
type Process struct {
	*engine.Process
	engine.Object
	N int // clients, the driver not counted

	pace pace
}
