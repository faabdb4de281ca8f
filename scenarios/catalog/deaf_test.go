package catalog

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// deaf has a lease whose loss its holder never hears of.
type deaf struct{ workload.FullLeaser }

func (deaf) Lost() <-chan zk.Event { return nil }

// Such a holder is wrong before another gets what it had, and whoever else has a lease is not. In one run of a hundred
// its session ends before its code could know, and then nobody is wrong until too many believe.
func TestTheHolderThatIsWrongIsNamedAndNotTheOthers(t *testing.T) {
	s := *Named("semaphore/idle")
	s.Program = workload.LeaseAndStay(workload.UntilLost,
		func(p *engine.Process) workload.FullLeaser { return deaf{newSemaphore(p)} })
	r := engine.NewRunner()
	defer r.Close()
	claims := 0
	for seed := uint64(1); seed <= 100; seed++ {
		v := r.Seed(&s, seed)
		if v.Verdict.Checker == "belief" {
			t.Errorf("seed %d: %s", seed, v.Verdict.Message)
		}
		if v.Verdict.Checker == "claim" {
			claims++
		}
	}
	if claims == 0 {
		t.Error("no run has such a holder")
	}
}
