package catalog

import (
	"context"
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/internal/mutants"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// A mutant is caught because of its flaw alone: without it, what is left of it
// holds under the same faults.
func TestQueuesWithoutTheirFlawsHold(t *testing.T) {
	type maker = func(mutants.Flaw) func(*engine.Process) workload.Consumer
	healthy := func(f maker) maker {
		return func(mutants.Flaw) func(*engine.Process) workload.Consumer { return f(0) }
	}
	for _, s := range append(queueMutants(healthy(newBrokenQueue)), priorityMutants(healthy(newBrokenPriorityQueue))...) {
		holdsWithoutItsFlaw(t, s)
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
	for _, s := range []engine.Scenario{
		queueScenario(engine.Scenario{Name: "crowd/take", Clients: 5, Rounds: 3, Program: workload.Exchange(0, false, turns),
			Faults: many}),
		queueScenario(engine.Scenario{Name: "crowd/claim", Clients: 5, Rounds: 3,
			Program: workload.Exchange(0, true, newQueue(recipes.QueueOptions{})), Faults: many}),
		queueScenario(engine.Scenario{Name: "crowd/feed", Clients: 6, Rounds: 3,
			Program: workload.Feed(true, newQueue(recipes.QueueOptions{})), Faults: many}),
		priorityScenario(engine.Scenario{Name: "crowd/priority", Clients: 5, Rounds: 4,
			Program: workload.Feed(false, newPriorityQueue), Faults: many}),
	} {
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}

// A consumer that has missed an item goes on with the next one, so that nobody waits in the end.
func TestAConsumerThatHasMissedAnItemIsSeenBeforeTheNextOneComes(t *testing.T) {
	s := *Named("queue/blind-wait")
	s.Program = workload.FeedAtRest(false, newBrokenQueue(mutants.BlindWait))
	r := engine.NewRunner()
	defer r.Close()
	seen := 0
	for seed := range uint64(300) {
		h := r.Seed(&s, seed+1).History
		waits, rests := checkers.Waits{For: checkers.AwaitedItem}.Check(h), checkers.Quiescence{}.Check(h)
		if waits.Level == checkers.Violated && rests.Level == checkers.OK {
			seen++
		}
	}
	if seen == 0 {
		t.Error("in no run of 300 does only waits object to a consumer that has missed an item")
	}
	t.Logf("%d runs of 300", seen)
}

// No two items or tasks have one number, however many rounds there are: a checker would take the second for the first.
func TestItemsAndTasksHoldInManyRounds(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for name, rounds := range map[string]int{"queue/queue": 120, "queue/claims": 120, "priority-queue/queue": 120,
		"priority-queue/claims": 120, "master/pool": 250} {
		s, err := Named(name).Sized(0, rounds)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			if res := r.Seed(&s, seed+1); res.Verdict.Level != checkers.OK {
				t.Errorf("%s, seed %d: %s", name, seed+1, res.Verdict)
			}
		}
	}
}
