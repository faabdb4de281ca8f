package catalog

import (
	"context"
	"slices"
	"testing"
	"zksim/scenarios/engine"
)

// The twins are caught because of their flaws: without them they hold.
func TestWatchersAndGroupsWithoutTheirFlawsHold(t *testing.T) {
	last := uint64(1000)
	if testing.Short() {
		last = 200
	}
	for _, x := range []struct {
		twin    string
		program func(p *engine.Process)
	}{
		{"watch/no-sync", watchTheOthers(brokenWatch(0, watchItem))},
		{"watch/read-first", watchAndWrite(brokenWatch(0, watchItem))},
		{"watch/deaf", watchAndWrite(brokenWatch(0, watchItem))},
		{"watch/by-version", watchAndWrite(brokenWatch(0, watchItem))},
		{"watch/trusting", watchAtWork(0)},
		{"members/flapping", inGroup(newBrokenGroup(0), stay)},
		{"members/once", inGroup(newBrokenGroup(0), stay)},
		{"members/any-znode", inGroup(newBrokenGroup(0), insist)},
		{"members/leave-by-name", inGroup(newBrokenGroup(0), comeAndGo)},
		{"members/forgetful", inGroup(newBrokenGroup(0), stay)},
	} {
		s := *Named(x.twin)
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
	for _, name := range []string{"cache/children", "members/members", "members/names", "members/rivals", "watch/data", "watch/children", "watch/patient"} {
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
