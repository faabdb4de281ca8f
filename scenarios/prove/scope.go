package prove

import (
	"zksim/faults"
	"zksim/scenarios"
)

// Scope is what a proof is about. All schedules within it are explored.
type Scope struct {
	Scenario *scenarios.Scenario // with its number of clients and rounds
	Servers  int                 // 1, or 3 with lagging followers
	Order    uint64              // as in sim.Config; not 0
	Faults   faults.Plan

	// Interleave has the steps of client code interleave with everything else,
	// goroutine by goroutine. Without it, code goes on without delay, the oldest
	// goroutine first, until it waits for a message, or lets others move by Step
	// or Env.Now. That is the grain at which protocols are usually modelled: what a
	// client does on a message is one step.
	Interleave bool
}

// budget is the largest number of faults in one run.
func (s *Scope) budget() int {
	n := 0
	for _, r := range s.Faults {
		if r.Fault != "sequence" {
			n += r.Budget
		}
	}
	return n
}

// Reductions are the ways to explore less than everything. Each is sound by itself
// and with the others. The zero value is plain depth-first search over states.
type Reductions struct {
	// Persistent explores only what a single client does, where nothing that
	// others do can make a difference to that.
	Persistent bool
	// Zxids takes states for the same that differ in the numbers of txns which
	// changed no znode.
	Zxids bool
}

// All is every reduction.
var All = Reductions{Persistent: true, Zxids: true}
