package catalog

import (
	"context"
	"slices"
	"testing"

	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// A mutant is a control only if it is caught because of its flaw.
func TestMutantsOfSharedLocksHoldWithoutTheirFlaws(t *testing.T) {
	for name, program := range map[string]func(p *engine.Process){
		"rwlock/sibling-wait":    workload.SharedRounds(newBrokenRW(0)),
		"rwlock/downgrade":       workload.SharedRounds(newBrokenRW(0)),
		"rwlock/watch-directory": func(p *engine.Process) { sharedFanOut(p, newBrokenRW(0), workload.ToDowngrade) },
		"rwlock/readers-queue":   workload.SharedRounds(newBrokenRW(0)),
		"semaphore/count-first":  workload.LeaseRounds(newBrokenSemaphore(0)),
		"semaphore/leaked-lease": workload.LeaseRounds(newBrokenSemaphore(0)),
		"revocable/late-revoke":  revocableRounds(asked, newBrokenRevocable(0)),
		"revocable/deaf-holder":  revocableRounds(forced, newBrokenRevocable(0)),
		"monitor/busy-lock":      monitored(0, newBrokenMonitor(0, holdLimit)),
		"monitor/stale-alarm":    monitored(0, newBrokenMonitor(0, holdShort+1)),
	} {
		s := *Named(name)
		s.Program = program
		holdsWithoutItsFlaw(t, s)
	}
}

// More of everything than the scenarios have: clients, rounds and faults.
func TestSharedLocksHoldInACrowd(t *testing.T) {
	last := uint64(400)
	if testing.Short() {
		last = 100
	}
	for _, x := range []struct {
		name            string
		clients, rounds int
	}{
		{"rwlock/rwlock", 6, 4},
		{"semaphore/semaphore", 6, 3},
		{"revocable/revocable", 4, 3},
		{"revocable/break", 4, 3},
		{"monitor/monitor", 6, 3},
	} {
		s := *Named(x.name)
		s.Clients, s.Rounds, s.Goals = x.clients, x.rounds, nil
		s.Faults = slices.Clone(s.Faults)
		for i := range s.Faults {
			s.Faults[i].Budget *= 2
		}
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s in a crowd: %+v, %v", x.name, rep, err)
		}
	}
}
