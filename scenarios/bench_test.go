package scenarios

import "testing"

// BenchmarkLockRun is one complete run of the lock with three clients, a round
// each, under all faults, judged by all checkers.
func BenchmarkLockRun(b *testing.B) {
	s := lockScenario(Scenario{Name: "bench", Program: lockRounds(1, newLock), Faults: lockFaults})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := NewRunner()
		defer r.Close()
		for seed := uint64(1); pb.Next(); seed++ {
			if res := r.Seed(&s, seed); res.Verdict.Level != 0 {
				b.Fatal(res.Verdict)
			}
		}
	})
}
