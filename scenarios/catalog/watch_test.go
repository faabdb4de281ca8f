package catalog

import (
	"context"
	"slices"
	"testing"

	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// The mutants are caught because of their flaws: without them they hold.
func TestWatchersAndGroupsWithoutTheirFlawsHold(t *testing.T) {
	last := uint64(1000)
	if testing.Short() {
		last = 200
	}
	for _, x := range []struct {
		mutant  string
		program func(p *engine.Process)
	}{
		{"watch/no-sync", workload.WatchTheOthers(brokenWatch(0, workload.WatchItem))},
		{"watch/read-first", workload.WatchAndWrite(brokenWatch(0, workload.WatchItem))},
		{"watch/deaf", workload.WatchAndWrite(brokenWatch(0, workload.WatchItem))},
		{"watch/by-version", workload.WatchAndWrite(brokenWatch(0, workload.WatchItem))},
		{"watch/trusting", watchAtWork(func(path string) workload.Watching { return brokenWatch(0, path) })},
		{"members/flapping", workload.InGroup(newBrokenGroup(0), workload.StayInGroup)},
		{"members/once", workload.InGroup(newBrokenGroup(0), workload.StayInGroup)},
		{"members/any-znode", workload.InGroup(newBrokenGroup(0), workload.Insist)},
		{"members/leave-by-name", workload.InGroup(newBrokenGroup(0), workload.ComeAndGo)},
		{"members/forgetful", workload.InGroup(newBrokenGroup(0), workload.StayInGroup)},
	} {
		s := *Named(x.mutant)
		s.Program, s.Caught = x.program, nil
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}

// More of everything than the scenarios have: clients and faults.
func TestWatchersAndGroupsHoldInACrowd(t *testing.T) {
	last := uint64(300)
	if testing.Short() {
		last = 100
	}
	for _, name := range []string{"cache/children", "members/members", "members/names", "members/rivals", "watch/data",
		"watch/children", "watch/patient"} {
		s := *Named(name)
		s.Clients, s.SafetySteps, s.Goals = 6, 500, nil
		s.Faults = slices.Clone(s.Faults)
		for i := range s.Faults {
			s.Faults[i].Budget *= 3
		}
		rep, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", name, rep, err)
		}
	}
}
