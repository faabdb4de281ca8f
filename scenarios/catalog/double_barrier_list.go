package catalog

import (
	"slices"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// sessionsLast is every fault after which all clients are still there, with their
// sessions.
var sessionsLast = faults.Contract().Except("crash", "cancel", "expire", "learn-late", "late-request", "expiry-lag", "zombie", "pause", "depose")

// doubleBarrierScenarios are those of the double barrier.
var doubleBarrierScenarios = slices.Concat(
	leavingScenarios("lowest", recipes.LeaveLowest, "the lowest waits for the highest and all others for the lowest"),
	leavingScenarios("naive", recipes.LeaveNaive, "those who leave watch all children"),
	leavingScenarios("sequential", recipes.LeaveSequential, "those who leave watch one neighbour each"),
	[]engine.Scenario{
		doubleBarrierScenario(engine.Scenario{
			Name: "double-barrier/crowd", Doc: "more clients than participants, under every fault", Clients: 4, Rounds: 2, Faults: faults.Contract(),
			Goals: []engine.Goal{goalRounds, goalOutside},
		}, meeting{enter: limited, leave: unlimited, more: 2, stay: 2, newBarrier: newDoubleBarrier(recipes.LeaveLowest)}),
		doubleBarrierScenario(engine.Scenario{
			Name: "double-barrier/new-sessions", Doc: "sessions end, and the next ones begin in the past", Clients: 4, Rounds: 2, Servers: []int{3},
			Faults: faults.MustParse("learn-late=2 expiry-lag=2 stale-read=2 disconnect=1 failover=1"),
			Goals:  []engine.Goal{goalRounds, goalEndInside},
		}, meeting{more: 1, enter: limited, leave: unlimited, stay: 2, newBarrier: newDoubleBarrier(recipes.LeaveSequential)}),

		doubleBarrierTwin("count-ready", broken.CountReady, engine.Scenario{Rounds: 1, Doc: "the znode ready is counted as a member",
			Source: "Netflix/curator#99", Wakes: "the schedule alone",
			Caught: []string{"entry"}}, meeting{}),
		doubleBarrierTwin("stale-ready", broken.StaleReady, engine.Scenario{Rounds: 2, Doc: "nothing removes the mark of the round before",
			Source: "ZooKeeper recipes page", Wakes: "a second round",
			Caught: []string{"entry"}}, meeting{}),
		doubleBarrierTwin("count-only", broken.CountOnly, engine.Scenario{Rounds: 1, Doc: "members are counted, and a quick one has left before a slow one has counted",
			Source: "ZOOKEEPER-1011, the tutorial", Wakes: "the schedule alone",
			Caught: []string{"quiescence"}}, meeting{enter: unlimited}),
		doubleBarrierTwin("timeout-stays", broken.TimeoutStays, engine.Scenario{Rounds: 2, Doc: "an Enter that has timed out leaves its znode, which is counted",
			Source: "CURATOR-80, CURATOR-318", Wakes: "a timer",
			Caught: []string{"entry"}}, meeting{}),
		doubleBarrierTwin("leave-once", broken.LeaveOnce, engine.Scenario{Rounds: 1, Doc: "who leaves does not look again after what it waited for is gone",
			Source: "derived from the recipe page", Wakes: "the schedule alone",
			Caught: []string{"exit"}}, meeting{}),
		doubleBarrierTwin("late-joiner", broken.LateJoiner, engine.Scenario{Rounds: 1, Doc: "whoever comes while a round is on is let in",
			Source: "ZooKeeper recipes page", Wakes: "more clients than participants",
			Caught: []string{"rounds"}}, meeting{more: 1}),
		doubleBarrierTwin("wait-gone", broken.WaitGone, engine.Scenario{Rounds: 2, Doc: "who waits does not notice that its session and its znode have ended",
			Source: "derived from go-zookeeper's silent new sessions", Faults: faults.MustParse("learn-late=1"), Wakes: "expire", SafetySteps: 60,
			Caught: []string{"gather"}}, meeting{}),
	},
)

// leavingScenarios are those of one way to leave: under every fault, with clients that
// give up, and with clients that wait for ever, where all of them must get
// through all rounds.
func leavingScenarios(name string, how recipes.Leaving, doc string) []engine.Scenario {
	return []engine.Scenario{
		doubleBarrierScenario(engine.Scenario{
			Name: "double-barrier/" + name, Doc: doc + ", under every fault", Clients: 4, Rounds: 2, Faults: faults.Contract(),
			Goals: []engine.Goal{goalLostCreate, goalOutside, goalGaveUp("enter"), goalGaveUp("leave"), goalEndInside},
		}, meeting{more: 1, enter: limited, leave: cancelled, stay: 2, newBarrier: newDoubleBarrier(how)}),
		doubleBarrierScenario(engine.Scenario{
			Name: "double-barrier/" + name + "-patient", Doc: doc + ", and nobody gives up", Rounds: 2, Faults: sessionsLast,
			Goals: []engine.Goal{goalRounds, goalLostCreate},
		}, meeting{enter: unlimited, leave: unlimited, stay: 2, newBarrier: newDoubleBarrier(how)}).Without("gather"), // nobody gives up
	}
}

// goalRounds is that all clients were in all rounds.
var goalRounds = engine.Goal{Name: "all rounds", Reached: func(h *history.History) bool {
	ended := slices.IndexFunc(h.Finished[1:], func(ended bool) bool { return !ended }) < 0
	for _, e := range h.Events {
		ended = ended && (e.Kind != history.Return || e.Op != "enter" || e.Err == nil)
	}
	return ended && len(h.Failed) == 0
}}

var (
	goalEndInside = engine.Goal{Name: "a session that ends inside", Reached: func(h *history.History) bool {
		for i, e := range h.Events {
			if e.Kind == history.Return && e.Op == "enter" && e.Err == nil {
				for _, d := range h.Events[i:] {
					if d.Kind == history.Deleted && d.Client == 0 && d.Path == e.Path {
						return true
					}
				}
			}
		}
		return false
	}}
	goalOutside = engine.Goal{Name: "a client that watches a member of a round that it is not in", Reached: func(h *history.History) bool {
		author := map[string]int32{}
		entering := map[int32]bool{}
		for _, e := range h.Events {
			switch e.Kind {
			case history.Invoke:
				entering[e.Client] = e.Op == "enter"
			case history.Created:
				author[e.Path] = e.Client
			case history.Call:
				if e.Op == "existsW" && entering[e.Client] && author[e.Path] != e.Client {
					return true
				}
			}
		}
		return false
	}}
)
