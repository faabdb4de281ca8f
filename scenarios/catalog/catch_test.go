package catalog

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

func TestEveryMutantIsCaughtByANamedChecker(t *testing.T) {
	for i := range All {
		s := &All[i]
		if !s.Broken() {
			continue
		}
		rep, err := engine.Run(context.Background(), s,
			engine.Options{Seeds: engine.Range{First: 1, Last: 2000}, Strategy: engine.Portfolio})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Status != engine.Caught || !slices.Contains(s.Caught, rep.Failure.Verdict.Checker) {
			t.Errorf("%s: %s, want it caught by one of %v", s.Name, outcome(rep), s.Caught)
		}
	}
}

// outcome is what a failing test says of a report.
func outcome(rep engine.Report) string {
	return fmt.Sprintf("%v after %d runs: %s %+v", rep.Status, rep.Runs, rep.Why, rep.Failure.Verdict)
}

// whole says that what each scenario takes long for is not only done with some of them.
var whole = os.Getenv("ZKSIM_WHOLE") == "1"

// In shards every mutant must be caught as well: each is a job of its own, and has as many seeds as one that is alone.
// The test takes every third one, and all with ZKSIM_WHOLE=1.
func TestEveryMutantIsCaughtInEachOfFourShards(t *testing.T) {
	for i := range All {
		if !All[i].Broken() || !whole && i%3 != 0 {
			continue
		}
		for shard := range uint64(4) {
			rep, err := engine.Run(context.Background(), &All[i],
				engine.Options{Seeds: engine.Range{First: 1, Last: 80_000}, Shard: shard, Shards: 4})
			if err != nil || rep.Status != engine.Caught {
				t.Errorf("%s, shard %d: %s, %v", All[i].Name, shard, outcome(rep), err)
			}
		}
	}
}

// TestCorrectRecipesHold takes every third one, and all with ZKSIM_WHOLE=1: simrun check tries all, with more seeds.
func TestCorrectRecipesHold(t *testing.T) {
	seeds := engine.Range{First: 1, Last: 500} // which is enough for goals and faults
	for i := range All {
		s := &All[i]
		if s.Broken() || !whole && i%3 != 0 {
			continue
		}
		rep, err := engine.Run(context.Background(), s, engine.Options{Seeds: seeds})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Status != engine.Held || len(rep.Missed) > 0 || rep.Runs != int(seeds.Last) {
			t.Errorf("%s: %s", s.Name, outcome(rep))
		}
	}
}

// More of everything than the scenarios have: clients, rounds and faults.
func TestCorrectLocksHoldInACrowd(t *testing.T) {
	last := uint64(400)
	if testing.Short() {
		last = 100
	}
	plan := slices.Clone(lockFaults)
	for i := range plan {
		plan[i].Budget *= 2
	}
	for _, s := range []engine.Scenario{
		{Name: "crowd/lock", Clients: 6, Rounds: 3, Program: workload.LockRounds(newLock), Faults: plan},
		{Name: "crowd/workers", Clients: 4, Rounds: 1, Program: workload.TwoWorkers(newLock), Faults: plan},
		{Name: "crowd/single-node", Clients: 5, Rounds: 3, Program: workload.LockRounds(newSingleNodeLock), Faults: plan},
		{Name: "crowd/go-zookeeper", Clients: 4, Rounds: 2, Faults: plan, Program: func(p *engine.Process) {
			if p.ID%2 == 0 {
				workload.LockRounds(newLock)(p)
			} else {
				workload.LockAndStay(10, newLock)(p)
			}
		}},
	} {
		s = lockScenario(s)
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %s, %v", s.Name, outcome(rep), err)
		}
	}
}

// onlyCaught are mutants that, in some run, no other checker objects to.
var onlyCaught = []struct{ checker, mutant string }{
	{"ownership", "lock/same-session"},
	{"belief", "lock/foreign-delete"},
	{"fenced", "lock/no-token"},
	{"linearizability", "lock/stale-try"},
	{"herd", "lock/watch-first"},
	{"herd", "lock/single-node-herd"},
	{"quiescence", "lock/ignore-exists"},
	{"quiescence", "lock/watch-only"},
	{"tree", "lock/cancel-leak"},
	{"steps", "lock/closed-spin"},
	{"liveness", "lock/wedged"},
	{"znodes", "znodes/unsynced"},
	{"monotone", "watch/no-sync"},
	{"convergence", "watch/read-first"},
	{"convergence", "watch/deaf"},
	{"convergence", "watch/by-version"},
	{"departure", "members/flapping"},
	{"departure", "members/leave-by-name"},
	{"presence", "members/once"},
	{"presence", "members/any-znode"},
	{"atomicity", "commit/partial-sites"},
	{"atomicity", "commit/blind-vote"},
	{"validity", "commit/hasty-abort"},
	{"validity", "commit/blind-abort"},
	{"torn", "config/torn-config"},
	{"torn", "config/watch-trust"},
	{"recency", "config/no-sync"},
	{"quiescence", "config/no-rearm"},
	{"quiescence", "config/keep-watch"},
	{"conflict", "config/denied-own"},
	{"replaced", "config/late-date"},
	{"overtaken", "config/taken-over"},
	{"suspicion", "watch/sure-early"},
	{"settled", "watch/settled-once"},
	{"always", "cache/remade-updated"},
	{"finally", "double-barrier/leave-herd"},
	{"counter", "counter/double-count"},
	{"names", "names/delete-again"},
	{"overdue", "monitor/busy-lock"},
	{"overdue", "monitor/stale-alarm"},
	{"lost-revoke", "revocable/deaf-holder"},
	{"lost-revoke", "revocable/late-revoke"},
	{"quiescence", "rwlock/sibling-wait"},
	{"refusal", "rwlock/readers-queue"},
	{"herd", "rwlock/watch-directory"},
	{"ownership", "semaphore/count-first"},
	{"waits", "semaphore/nearest-lease"},
	{"quiescence", "queue/blind-wait"},
	{"quiescence", "queue/items-only"},
	{"lost-item", "queue/delete-lost"},
	{"doubled-item", "queue/put-twice"},
	{"doubled-effect", "queue/ack-unchecked"},
	{"fifo", "queue/guid-sort"},
	{"fifo", "queue/stale-take"},
	{"length", "queue/stale-length"},
	{"priority-order", "priority-queue/stale-list"},
	{"priority-order", "priority-queue/unpadded"},
	{"barrier", "barrier/release-again"},
	{"barrier", "barrier/stale-wait"},
	{"entry", "double-barrier/count-ready"},
	{"exit", "double-barrier/leave-once"},
	{"rounds", "double-barrier/late-joiner"},
	{"gather", "double-barrier/wait-gone"},
	{"herd", "election/smallest-herd"},
	{"acknowledged", "election/blind-ack"},
	{"acknowledged", "election/no-ack"},
	{"tasks", "master/two-calls"},
	{"tasks", "master/submit-twice"},
	{"tasks", "master/two-reports"},
	{"stale-leader", "master/old-master"},
	{"quiescence", "master/watch-alone"},
}

// Each checker earns its place: there is a run that only it objects to.
func TestEachCheckerHasAMutantThatOnlyItCatches(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for _, x := range onlyCaught {
		s := Named(x.mutant)
		if seed := onlyCaughtBy(r, s, x.checker); seed == 0 {
			t.Errorf("no seed at which only %s objects to %s", x.checker, s.Name)
		} else {
			t.Logf("%s alone catches %s at seed %d", x.checker, s.Name, seed)
		}
	}
}

// everyJudge is all that judges a scenario's runs, what its program says included.
func everyJudge(s *engine.Scenario) []checkers.Checker {
	return append(slices.Clip(s.Judges()), checkers.Always{})
}

// onlyCaughtBy returns a seed at which the checker, and no other, finds a
// violation; 0 if there is none.
func onlyCaughtBy(r *engine.Runner, s *engine.Scenario, checker string) uint64 {
	for seed := uint64(1); seed <= 5000; seed++ {
		res := r.Seed(s, seed)
		var found []string
		for _, c := range everyJudge(s) {
			if c.Check(res.History).Level == checkers.Violated {
				found = append(found, c.Name())
			}
		}
		if len(found) == 1 && found[0] == checker {
			return seed
		}
	}
	return 0
}

// unharmed reports whether nothing was violated. In another size than its own, or without its flaw, a
// scenario may have checkers with nothing to judge, and faults that cannot strike.
func unharmed(rep engine.Report) bool {
	gaps := strings.Join(rep.Gaps, "; and ")
	return rep.Status == engine.Held || rep.Status == engine.Inconclusive && gaps != "" && rep.Why == gaps
}

// holdsWithoutItsFlaw runs the scenario of a mutant with a program that lacks the flaw.
func holdsWithoutItsFlaw(t *testing.T, s engine.Scenario) {
	t.Helper()
	s.Caught = nil
	rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
	if err != nil || !unharmed(rep) {
		t.Errorf("%s without its flaw: %s, %v", s.Name, outcome(rep), err)
	}
}
