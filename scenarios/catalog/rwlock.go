package catalog

import (
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const rwDir = "/rw"

func newRWLock(p *engine.Process) workload.FullRWLocker {
	return recipes.NewRWLock(p.Conn, p.Env, p.Path(rwDir), recipes.LockOptions{})
}

func newBrokenRW(f mutants.Flaw) func(p *engine.Process) workload.FullRWLocker {
	return func(p *engine.Process) workload.FullRWLocker {
		return mutants.NewRWLock(p.Conn, p.Env, p.Path(rwDir), f)
	}
}

// rwScenario is what all scenarios of read/write locks have in common.
func rwScenario(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{engine.Mkdir(rwDir)}
	s.Checkers = append(slices.Clip(workload.RWCheckers), s.Checkers...)
	return workload.WithDefaults(s, 3)
}

var rwFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: rwDir}})

var rwlockScenarios = []engine.Scenario{
	rwScenario(engine.Scenario{
		Name: "rwlock/rwlock", Doc: "the read/write lock with downgrade under every fault",
		Rounds: 3, Program: workload.SharedRounds(newRWLock), Faults: rwFaults,
		Goals: []engine.Goal{workload.GoalExpiry,
			workload.GoalReaders(2),
			{Name: "a downgrade while a writer waits", Reached: downgradedBeforeWriter},
			{Name: "a lost reply after the multi that creates two znodes",
				Reached: workload.LostAfter("multi", workload.Created)},
			{Name: "a downgrade that finds the lock lost", Reached: workload.Returned("downgrade", recipes.ErrLost)},
			{Name: "a reader that is refused", Reached: workload.Returned("tryrlock", recipes.ErrLocked)}},
	}),
	workload.AtRest(rwScenario(engine.Scenario{
		Name: "rwlock/idle", Doc: "readers and writers that do nothing but wait to be told that the lock is lost",
		Rounds: 3, Program: workload.SharedIdly(newRWLock), Faults: withLosses(rwFaults),
		Goals: []engine.Goal{workload.GoalExpiry},
	}).Without("fenced"), 0), // nobody writes
	rwScenario(engine.Scenario{
		Name: "rwlock/fan-out", Doc: "an unlock wakes only clients that can go on, and one in vain", Clients: 6,
		Faults:   faults.MustParse("sequence=6@path=/rw"),
		Program:  func(p *engine.Process) { sharedFanOut(p, newRWLock, workload.ToWrite) },
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1, InVain: true}},
		Goals:    []engine.Goal{workload.GoalReaders(3)}, Finally: unlockWakesNobodyInVain,
		Heeds: []string{"created", "deleted", "notify", "acquired", "return"},
	}).Without("refusal"), // nobody tries

	rwScenario(mutated(mutants.SiblingWait, engine.Scenario{
		Rounds: 2, Program: workload.SharedRounds(newBrokenRW(mutants.SiblingWait))})),
	rwScenario(mutated(mutants.Downgrade, engine.Scenario{
		Rounds: 3, Program: workload.SharedRounds(newBrokenRW(mutants.Downgrade))})),
	rwScenario(mutated(mutants.WatchDirectory, engine.Scenario{Clients: 6,
		Program:  func(p *engine.Process) { sharedFanOut(p, newBrokenRW(mutants.WatchDirectory), workload.ToDowngrade) },
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1, InVain: true}}})),
	rwScenario(mutated(mutants.ReadersQueue, engine.Scenario{
		Rounds: 4, Program: workload.SharedRounds(newBrokenRW(mutants.ReadersQueue))})),
}

// sharedFanOut is one patient round: two of three clients read, c3 writes and downgrades, and c6 does what sixth says.
func sharedFanOut(p *engine.Process, newLocker func(p *engine.Process) workload.FullRWLocker, sixth int) {
	l := newLocker(p)
	want := workload.ToRead
	switch {
	case p.ID%6 == 0:
		want = sixth
	case p.ID%3 == 0:
		want = workload.ToDowngrade
	}
	if err := workload.SharedOnce(p, p.Register(l.Znodes), l, want, false); err != nil {
		p.Fail(err)
	}
}

// unlockWakesNobodyInVain judges the unlocks of c6, a writer: nobody was ahead of it, so every client that waits for it
// can go on.
func unlockWakesNobodyInVain(h *history.History) error {
	mine := map[string]bool{}
	for i, e := range h.Events {
		switch {
		case e.Kind == history.Created && e.Client == 6:
			mine[e.Path] = true
		case e.Kind == history.Notify && mine[e.Path] && checkers.Wasted(h, i):
			return fmt.Errorf("c%d was notified in vain of the end of %s, the lock of a writer", e.Client, e.Path)
		}
	}
	return nil
}

// downgradedBeforeWriter reports whether a writer became a reader while another
// client's write znode was in the queue.
func downgradedBeforeWriter(h *history.History) bool {
	writers := map[string]int32{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Created && strings.Contains(e.Path, "-write-"):
			writers[e.Path] = e.Client
		case e.Kind == history.Deleted:
			delete(writers, e.Path)
		case e.Kind == history.Return && e.Op == "downgrade" && e.Err == nil:
			for _, c := range writers { // order-free: any
				if c != e.Client {
					return true
				}
			}
		}
	}
	return false
}
