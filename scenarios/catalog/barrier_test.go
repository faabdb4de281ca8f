package catalog

import (
	"testing"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// A barrier that is waited for on another connection than the work is looked at on: that one may lag behind.
func TestWorkBehindABarrierIsNotSeenOnAnotherConnection(t *testing.T) {
	elsewhere := func(p *engine.Process) workload.Barrier {
		if q, err := p.Dial(); err == nil {
			return newBarrier(q)
		}
		return newBarrier(p)
	}
	for _, x := range []struct {
		newBarrier func(p *engine.Process) workload.Barrier
		want       string
	}{{newBarrier, ""}, {elsewhere, "finally"}} {
		s := engine.Scenario{Name: "test/elsewhere", Clients: 4, Rounds: 3, Servers: []int{3}, Dials: 1,
			Program: workload.BarrierAtWork(x.newBarrier), Faults: faults.MustParse("stale-read=3"),
			Setup: makeZnodes(workload.WorkDir, "0"), Words: []string{workload.Saw}, Finally: workload.SeesWork}
		r, found := engine.NewRunner(), ""
		for seed := uint64(1); seed <= 60 && found == ""; seed++ {
			if v := r.Seed(&s, seed).Verdict; v.Message != "" {
				found = v.Checker
			}
		}
		r.Close()
		if found != x.want {
			t.Errorf("%q says that something is wrong, expected %q", found, x.want)
		}
	}
}
