package catalog

import (
	"context"
	"slices"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// queueFaults are every fault, and the end of the sequence numbers.
var queueFaults = append(faults.Contract(),
	faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: queueDir + "/items"}})

// exchangeFaults are for clients that put as many items as they take: nobody waits for a watch.
var exchangeFaults = queueFaults.Except("watch-delay", "overtake")

// countFaults make answers old, or leave open what has happened.
var countFaults = faults.MustParse("depose=2 elect=1 stale-read=3 disconnect=2 lose-reply=2 learn-late=1")

// breakFaults leave open whether an acknowledgement was executed.
var breakFaults = faults.MustParse("lose-request=3 lose-reply=3 disconnect=2 learn-late=1 cancel=1")

// counted adds the judge of lengths.
func counted(s engine.Scenario) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Length{})
	return s
}

// waited is a scenario of a queue whose waits are also judged.
func waited(s engine.Scenario) engine.Scenario {
	s = queueScenario(s)
	s.Checkers = append(s.Checkers, checkers.Waits{For: checkers.AwaitedItem})
	return s
}

// queueScenarios are the scenarios of the queues.
var queueScenarios = append([]engine.Scenario{
	queueScenario(engine.Scenario{
		Name: "queue/queue", Doc: "clients put and take, at most once, under every fault",
		Rounds: 2, Program: workload.Exchange(0, false, newQueue(recipes.QueueOptions{})),
		Faults: exchangeFaults,
		Goals:  []engine.Goal{workload.GoalLostPut, workload.GoalLostTake, workload.GoalUnknownPut, workload.GoalUnknownTake},
	}.Symmetric(workload.Exchangers)).Without("doubled-effect"), // nobody acknowledges
	queueScenario(engine.Scenario{
		Name: "queue/claims", Doc: "clients put, claim and acknowledge, at least once, under every fault",
		Rounds: 2, Program: workload.Exchange(0, true, newQueue(recipes.QueueOptions{})), Faults: exchangeFaults,
		Goals: []engine.Goal{workload.GoalLostPut, workload.GoalLostAck, workload.GoalUnknownAck, workload.GoalClaimLost,
			workload.GoalAgain},
	}),
	waited(engine.Scenario{
		Name: "queue/feed", Doc: "consumers wait for the items of one producer, all at once",
		Rounds: 2, Program: workload.FeedAtRest(false, newQueue(recipes.QueueOptions{})), Faults: queueFaults,
		Goals: []engine.Goal{workload.GoalWoken, workload.GoalEmpty, workload.GoalUnknownPut},
	}).Without("doubled-effect"),
	queueScenario(engine.Scenario{
		Name: "queue/feed-claims", Doc: "consumers wait for the items of one producer, and for claims that are given up",
		Rounds: 2, Program: workload.Feed(true, newQueue(recipes.QueueOptions{})), Faults: queueFaults,
		Goals: []engine.Goal{workload.GoalWoken, workload.GoalClaimLost, workload.GoalAgain},
	}),
	waited(engine.Scenario{
		Name: "queue/turns", Doc: "consumers wait for the items of one producer, one behind the other",
		Rounds: 2, Program: workload.FeedAtRest(true, newQueue(recipes.QueueOptions{Turns: true})), Faults: queueFaults,
		Goals: []engine.Goal{workload.GoalWoken, workload.GoalClaimLost, workload.GoalAgain},
	}),
	queueScenario(engine.Scenario{
		Name: "queue/at-work", Doc: "consumers wait with a deadline, give up and come back, and work for long on an item",
		Rounds: 2, Program: workload.FeedAtWork(newQueue(recipes.QueueOptions{Turns: true})), Faults: queueFaults,
		Goals: []engine.Goal{workload.GoalClaimLost, workload.GoalAgain, {Name: "a consumer that gives up waiting",
			Reached: workload.Returned("claim", context.DeadlineExceeded)}},
	}),
	queueScenario(engine.Scenario{
		Name: "queue/hand-over", Doc: "an item is claimed, and given up or lost, by all but the last of its consumers",
		Program: workload.HandOver(newQueue(recipes.QueueOptions{})), Faults: faults.Contract(), // one item ends no sequence
		Goals: []engine.Goal{workload.GoalReleased, workload.GoalAgain},
	}),
	queueScenario(engine.Scenario{
		Name: "queue/broken-claims", Doc: "an operator deletes claims while consumers acknowledge",
		Rounds: 4, Program: workload.Break(queueDir+"/claims", newQueue(recipes.QueueOptions{})), Faults: breakFaults,
		Goals: []engine.Goal{workload.GoalBroken, workload.GoalClaimLost, workload.GoalLostAck},
	}),
	counted(queueScenario(engine.Scenario{
		Name: "queue/length", Doc: "clients ask how long the queue is, while leaders are deposed and servers lag",
		Rounds: 4, Servers: []int{3}, Program: workload.Count(newQueue(recipes.QueueOptions{})), Faults: countFaults,
		Goals: []engine.Goal{workload.GoalCounted, workload.GoalLostPut},
	})),
}, queueMutants(newBrokenQueue)...)

// queueMutants are the broken queues, each made by newQueue.
func queueMutants(newQueue func(mutants.Flaw) func(*engine.Process) workload.Consumer) []engine.Scenario {
	mutant := func(f mutants.Flaw, program func(newQueue func(*engine.Process) workload.Consumer) func(*engine.Process),
		s engine.Scenario) engine.Scenario {
		s = mutated(f, s)
		s.Program = program(newQueue(f))
		return queueScenario(s)
	}
	return []engine.Scenario{
		mutant(mutants.EphemeralItems, takeSome, engine.Scenario{Rounds: 2,
			Faults: faults.MustParse("disconnect=2 expire=2 learn-late=2")}),
		mutant(mutants.DeleteLost, takeSome, engine.Scenario{Rounds: 2,
			Faults: faults.MustParse("lose-reply=3")}),
		mutant(mutants.PutTwice, takeSome, engine.Scenario{Rounds: 2, Faults: faults.MustParse("lose-reply=2")}),
		mutant(mutants.AckUnchecked, claimSome, engine.Scenario{Rounds: 2,
			Faults: faults.MustParse("pause=2 learn-late=2")}),
		mutant(mutants.BlindWait, feedTakers, engine.Scenario{Rounds: 2}),
		mutant(mutants.GUIDSort, takeSome, engine.Scenario{Rounds: 2}),
		mutant(mutants.CancelTake, takeSome, engine.Scenario{Rounds: 2,
			Faults: faults.MustParse("cancel=9 lose-reply=9@op=multi")}),
		mutant(mutants.ItemsOnly, workload.HandOver, engine.Scenario{}),
		counted(mutant(mutants.StaleLength, workload.Count, engine.Scenario{Rounds: 4, Servers: []int{3},
			Faults: faults.MustParse("depose=2")})).Without("fifo"), // its takes also trust such a leader
		mutant(mutants.StaleTake, workload.Poll, engine.Scenario{Rounds: 4, Clients: 2, Servers: []int{3},
			Faults: faults.MustParse("stale-read=3")}),
	}
}

// takeSome, claimSome and feedTakers make programs for the mutants. More is put than taken, so that a loss does not
// show up as a client that waits.
func takeSome(newQueue func(*engine.Process) workload.Consumer) func(*engine.Process) {
	return workload.Exchange(1, false, newQueue)
}
func claimSome(newQueue func(*engine.Process) workload.Consumer) func(*engine.Process) {
	return workload.Exchange(1, true, newQueue)
}
func feedTakers(newQueue func(*engine.Process) workload.Consumer) func(*engine.Process) {
	return workload.Feed(false, newQueue)
}

// priorityQueueScenarios are the scenarios of the priority queues.
var priorityQueueScenarios = append([]engine.Scenario{
	priorityScenario(engine.Scenario{
		Name: "priority-queue/queue", Doc: "clients put with priorities and take, at most once, under every fault",
		Rounds: 2, Program: workload.Exchange(0, false, newPriorityQueue), Faults: exchangeFaults,
		Goals: []engine.Goal{workload.GoalLostPut, workload.GoalLostTake},
	}).Without("doubled-effect"),
	priorityScenario(engine.Scenario{
		Name: "priority-queue/claims", Doc: "clients put with priorities, claim and acknowledge, at least once, under " +
			"every fault",
		Rounds: 2, Program: workload.Exchange(0, true, newPriorityQueue), Faults: exchangeFaults,
		Goals: []engine.Goal{workload.GoalLostAck, workload.GoalClaimLost},
	}),
	priorityScenario(engine.Scenario{
		Name: "priority-queue/asked", Doc: "clients look for the items of one producer, while leaders are deposed",
		Rounds: 4, Servers: []int{3}, Program: workload.Poll(newPriorityQueue),
		Faults: faults.MustParse("depose=3 elect=1"),
	}).Without("doubled-effect"),
}, priorityMutants(newBrokenPriorityQueue)...)

// priorityMutants are the broken priority queues, each made by newQueue.
func priorityMutants(newQueue func(mutants.Flaw) func(*engine.Process) workload.Consumer) []engine.Scenario {
	return []engine.Scenario{
		priorityScenario(mutated(mutants.StaleList, engine.Scenario{
			Rounds: 2, Program: takeSome(newQueue(mutants.StaleList))})),
		priorityScenario(mutated(mutants.Unpadded, engine.Scenario{
			Rounds: 2, Program: takeSome(newQueue(mutants.Unpadded))})),
	}
}

// queueScenario is what all scenarios of queues have in common.
func queueScenario(s engine.Scenario) engine.Scenario {
	s.Setup, s.Checkers = queueSetup, append(slices.Clone(workload.EveryQueue), checkers.FIFO{})
	return workload.WithDefaults(s, 3)
}

func priorityScenario(s engine.Scenario) engine.Scenario {
	s = queueScenario(s)
	s.Checkers = append(slices.Clone(workload.EveryQueue), checkers.PriorityOrder{Of: workload.ItemPriority})
	return s
}
