//go:build unix

package zktest_test

import (
	"flag"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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

// patient has three clients take the lock of go-zookeeper. It waits in vain where an error has left a znode of its own
// behind, so they give up after a minute; and each may think that it holds the lock when its session has ended.
func patient(c *zktest.Cluster) {
	var held atomic.Int32
	c.Always("each has it at most once", func() bool { return held.Load() <= 3 })
	var all sync.WaitGroup
	for range 3 {
		conn := c.Connect()
		all.Go(func() {
			defer time.AfterFunc(time.Minute, conn.Close).Stop()
			l := zk.NewLock(conn, "/lock", open)
			if l.Lock() == nil {
				held.Add(1)
				time.Sleep(time.Second)
				held.Add(-1)
				l.Unlock()
			}
		})
	}
	all.Wait()
}

// TestSpeed compares a lock with faults and checks in the simulator and on real connections, in runs for each second of
// processor time, with -speed 1000. Processes for runs run this test up to their check, so the simulator comes last.
func TestSpeed(t *testing.T) {
	if *speedFlag == 0 {
		t.Skip("without -speed")
	}
	lock := *catalog.Named("lock/lock")
	o := engine.Options{Seeds: engine.Range{First: 1, Last: *speedFlag}, Strategy: engine.Portfolio}
	hold := func(_ scenarios.T, s scenarios.Scenario) {
		if rep, err := engine.Run(t.Context(), &s, o); err != nil || rep.Status != engine.Held && len(rep.Gaps) == 0 {
			t.Errorf("%v, %v, %s, %s", err, rep.Status, rep.Why, rep.Failure.Verdict.Message)
		}
	}
	all := func() time.Duration { return spent(t, syscall.RUSAGE_SELF) + spent(t, syscall.RUSAGE_CHILDREN) }
	for _, x := range []struct {
		what string
		run  func()
	}{
		{"lock/lock on real connections", func() { zktest.Judged(t, lock, hold) }},
		{"the lock of go-zookeeper", func() { zktest.JudgedCode(t, patient, hold) }},
		{"lock/lock in the simulator", func() { hold(t, lock) }},
	} {
		began := all()
		x.run()
		t.Logf("%s: %.0f runs for each second of processor time", x.what, float64(*speedFlag)/(all()-began).Seconds())
	}
}
