package catalog

import (
	"fmt"
	"testing"

	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// BenchmarkLockRun is one complete run of the lock with three clients, a round
// each, under all faults, judged by all checkers.
func BenchmarkLockRun(b *testing.B) {
	for _, servers := range []int{1, 3} {
		b.Run(fmt.Sprintf("servers=%d", servers), func(b *testing.B) {
			s := lockScenario(engine.Scenario{Name: "bench", Servers: []int{servers}, Rounds: 1,
				Program: workload.LockRounds(newLock), Faults: lockFaults})
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				r := engine.NewRunner()
				defer r.Close()
				steps := 0
				seed := uint64(1)
				for ; pb.Next(); seed++ {
					res := r.Seed(&s, seed)
					if res.Verdict.Level != 0 {
						b.Fatal(res.Verdict)
					}
					steps += res.Steps
				}
				b.ReportMetric(float64(steps)/float64(seed), "steps/run")
			})
		})
	}
}
