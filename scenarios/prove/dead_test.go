package prove

import (
	"testing"
	"time"

	"zksim/scenarios"
)

// heard is all reductions but Unheard.
var heard = func() Reductions {
	r := Every
	r.Unheard = false
	return r
}()

// TestWatchesThatNobodyHearsMakeNoDifference compares what searches with and without them reach.
func TestWatchesThatNobodyHearsMakeNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	closed := 0
	for i := 0; i < len(scenarios.All); i += 5 {
		s := small(t, scenarios.All[i].Name)
		sc := Scope{Scenario: s, Servers: 1, Order: 1, Most: 1, Faults: plan(t, "disconnect=1 expire=1 learn-late=1"), SlowWakes: i%3 == 0, Offline: i%8 == 0}
		want, complete := reach(t, sc, heard, time.Second)
		if !complete {
			continue
		}
		closed++
		got, complete := reach(t, sc, Every, 10*time.Second)
		if d := difference(want, got); d != "" || !complete {
			t.Errorf("%s: complete %t, %s", s.Name, complete, d)
		}
	}
	if closed < 5 {
		t.Errorf("only %d searches were closed", closed)
	}
}
