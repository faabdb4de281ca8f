package scenarios

import (
	"context"
	"slices"
	"testing"

	"zksim/recipes"
	"zksim/recipes/broken"
)

// A twin is caught because of its flaw alone: without it, what is left of it
// holds under the same faults.
func TestQueuesWithoutTheirFlawsHold(t *testing.T) {
	healthy := func(f func(broken.Flaw) func(*Process) queue) func(broken.Flaw) func(*Process) queue {
		return func(broken.Flaw) func(*Process) queue { return f(0) }
	}
	for _, s := range append(queueTwins(healthy(newBrokenQueue)), priorityTwins(healthy(newBrokenPriorityQueue))...) {
		s.Caught = nil
		rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 500}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s without its flaw: %+v, %v", s.Name, rep, err)
		}
	}
}

// More of everything than the scenarios have: clients, items and faults.
func TestQueuesHoldInACrowd(t *testing.T) {
	last := uint64(200)
	if testing.Short() {
		last = 50
	}
	many := slices.Clone(queueFaults)
	for i := range many {
		many[i].Budget *= 2
	}
	turns := newQueue(recipes.QueueOptions{Turns: true})
	for _, s := range []Scenario{
		queueScenario(Scenario{Name: "crowd/take", Clients: 5, Rounds: 3, Program: exchange(0, false, turns), Faults: many}),
		queueScenario(Scenario{Name: "crowd/claim", Clients: 5, Rounds: 3, Program: exchange(0, true, newQueue(recipes.QueueOptions{})), Faults: many}),
		queueScenario(Scenario{Name: "crowd/feed", Clients: 6, Rounds: 3, Program: feed(true, newQueue(recipes.QueueOptions{})), Faults: many}),
		priorityScenario(Scenario{Name: "crowd/priority", Clients: 5, Rounds: 4, Program: feed(false, newPriorityQueue), Faults: many}),
	} {
		rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}
