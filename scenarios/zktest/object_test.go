package zktest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/scenarios/zktest"
)

// holds has three clients hold the lock of go-zookeeper for a while, of which they do not hear when it ends.
func holds(c *zktest.Cluster, d time.Duration) {
	var all sync.WaitGroup
	for range 3 {
		conn := c.Connect()
		all.Go(func() {
			defer time.AfterFunc(time.Minute, conn.Close).Stop()
			l, o := zk.NewLock(conn, "/lock", open), c.Object(conn, nil)
			if held, _ := o.Lock(func(context.Context) error { return l.Lock() }); held {
				o.Acquired("", 0)
				time.Sleep(d)
				o.Released()
				o.Unlock(func(context.Context) error { return l.Unlock() })
			}
		})
	}
	all.Wait()
}

func TestHiddenBelief(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { holds(c, time.Minute/2) }, zktest.Checkers(checkers.Belief{}),
		zktest.Faults("expire=1 disconnect=1"))
}

// TestCheckersOfRecipesJudgeUnmodifiedCode has a lock whose holder does not hear that its session has ended.
func TestCheckersOfRecipesJudgeUnmodifiedCode(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenBelief", "-zksim.seeds", "1-300"),
		"belief: c", "believes that it holds")
}

func TestALockThatIsLeftAtOnceHolds(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) { holds(c, 0) }, zktest.Checkers(checkers.Belief{}))
}

func TestHiddenLeftBehind(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		o := c.Object(conn, func() []string { return []string{"/known"} })
		o.Invoke("lock")
		conn.Create("/known", nil, zk.FlagEphemeral, open)
		conn.Create("/left", nil, zk.FlagEphemeral, open)
		o.Return("lock", nil)
	}, zktest.Checkers(checkers.Tree{}), zktest.Faults(""), zktest.Servers(1))
}

func TestZnodesThatNoObjectAnswersForAreFound(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLeftBehind", "-zksim.seeds", "1"),
		"tree: /left stays behind: the live session of c1 owns it")
}

// TestWhatTheSimulatorDoesIsNoRaceOfTheCode has time wake code that connects and says what it does, as go test -race
// can tell: the world goes on with the same history in between, and an end of a session has time pass in a step.
func TestWhatTheSimulatorDoesIsNoRaceOfTheCode(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		o := c.Object(c.Connect(), nil)
		for range 10 {
			time.Sleep(time.Second)
			c.Connect()
			o.Acquired("", 0)
			time.Sleep(time.Second)
			o.Released()
		}
	}, zktest.Faults("disconnect=1 expire=1"), zktest.Servers(1))
}
