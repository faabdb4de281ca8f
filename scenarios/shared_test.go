package scenarios

import (
	"context"
	"slices"
	"testing"
)

// A twin is a control only if it is caught because of its flaw.
func TestTwinsOfSharedLocksHoldWithoutTheirFlaws(t *testing.T) {
	for name, program := range map[string]func(p *Process){
		"rwlock/sibling-wait":    sharedRounds(2, newBrokenRW(0)),
		"rwlock/downgrade":       sharedRounds(3, newBrokenRW(0)),
		"rwlock/watch-directory": func(p *Process) { sharedFanOut(p, newBrokenRW(0)) },
		"rwlock/readers-queue":   sharedRounds(4, newBrokenRW(0)),
		"semaphore/count-first":  leaseRounds(2, newBrokenSemaphore(0)),
		"semaphore/leaked-lease": leaseRounds(2, newBrokenSemaphore(0)),
		"revocable/late-revoke":  revocableRounds(2, false, newBrokenRevocable(0)),
		"revocable/deaf-holder":  revocableRounds(2, true, newBrokenRevocable(0)),
		"monitor/busy-lock":      monitored(4, 0, newBrokenMonitor(0, holdLimit)),
		"monitor/stale-alarm":    monitored(8, 0, newBrokenMonitor(0, holdShort+1)),
	} {
		s := *scenario(t, name)
		s.Program, s.Caught = program, nil
		rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 500}})
		if err != nil || rep.Status != Held {
			t.Errorf("%s without its flaw: %+v, %v", name, rep, err)
		}
	}
}

// More of everything than the scenarios have: clients, rounds and faults.
func TestSharedLocksHoldInACrowd(t *testing.T) {
	last := uint64(400)
	if testing.Short() {
		last = 100
	}
	for _, x := range []struct {
		name    string
		clients int
		program func(p *Process)
	}{
		{"rwlock/rwlock", 6, sharedRounds(4, newRWLock)},
		{"semaphore/semaphore", 6, leaseRounds(3, newSemaphore)},
		{"revocable/revocable", 4, revocableRounds(3, false, newRevocable)},
		{"revocable/break", 4, revocableRounds(3, true, newRevocable)},
		{"monitor/monitor", 6, monitored(3, 3, newMonitor)},
	} {
		s := *scenario(t, x.name)
		s.Clients, s.Program, s.Goals = x.clients, x.program, nil
		s.Faults = slices.Clone(s.Faults)
		for i := range s.Faults {
			s.Faults[i].Budget *= 2
		}
		rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, last}})
		if err != nil || rep.Status != Held {
			t.Errorf("%s in a crowd: %+v, %v", x.name, rep, err)
		}
	}
}
