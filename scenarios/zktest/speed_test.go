//go:build unix

package zktest_test

import (
	"flag"
	"syscall"
	"testing"
	"time"

	"zksim/scenarios"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/zktest"
)

var speedFlag = flag.Uint64("speed", 0, "runs for the comparison of speeds in docs/unmodified.md")

// spent returns the processor time of this process, or of those of its children that have ended.
func spent(t *testing.T, who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSpeed compares the lock with faults and checks in the simulator and on real connections, in runs for each second
// of processor time, with -speed 2000.
func TestSpeed(t *testing.T) {
	if *speedFlag == 0 {
		t.Skip("without -speed")
	}
	s := *catalog.Named("lock/lock")
	o := engine.Options{Seeds: engine.Range{First: 1, Last: *speedFlag}, Strategy: engine.Portfolio}
	hold := func(s scenarios.Scenario) {
		if rep, err := engine.Run(t.Context(), &s, o); err != nil || rep.Status != engine.Held && len(rep.Gaps) == 0 {
			t.Errorf("%v, %v, %s", err, rep.Status, rep.Why)
		}
	}
	report := func(what string, d time.Duration) {
		t.Logf("%s: %.0f runs for each second of processor time", what, float64(*speedFlag)/d.Seconds())
	}
	began := spent(t, syscall.RUSAGE_SELF)
	hold(s)
	report("in the simulator", spent(t, syscall.RUSAGE_SELF)-began)
	began = spent(t, syscall.RUSAGE_SELF)
	children := spent(t, syscall.RUSAGE_CHILDREN)
	zktest.Judged(t, s, func(_ scenarios.T, s scenarios.Scenario) { hold(s) })
	report("on real connections", spent(t, syscall.RUSAGE_SELF)-began+spent(t, syscall.RUSAGE_CHILDREN)-children)
}
