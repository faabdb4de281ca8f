package prove

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// BenchmarkProve proves recipes with two clients and up to three faults. Apart from the time of a proof it
// reports how many distinct states a core finds in a second. Since a level begins on one core, that is
// for -cpu 1.
func BenchmarkProve(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as simrun does
	for _, name := range []string{"lock/lock", "rwlock/rwlock", "election/election", "queue/queue",
		"double-barrier/lowest"} {
		b.Run(name, func(b *testing.B) {
			states := 0
			for b.Loop() {
				sc := Scope{Scenario: small(b, name), Servers: 1, Order: 1, Faults: plan(b, "disconnect=2 expire=1"), Most: -1}
				res, err := Prove(b.Context(), sc, Options{Reductions: Every})
				if err != nil || res.Outcome != Holds {
					b.Fatal(res.Certificate.String(), err)
				}
				for _, l := range res.Levels {
					states += l.States
				}
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds()/float64(runtime.GOMAXPROCS(0)), "states/s/core")
		})
	}
}
