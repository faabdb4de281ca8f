package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// patience is longer than anything takes but a pause, and shorter than the 6.7 s after which the client library gives
// up a connection on which nothing arrives.
const patience = 4500 * time.Millisecond

// order places orders on a connection that has a session, up to one of which the answer is late or an error, and says
// how many are placed, and how long the last one took.
func order(c *zktest.Cluster) (placed int, took time.Duration, err error) {
	conn := c.Connect()
	for {
		if _, _, err := conn.Exists("/orders"); err == nil {
			break
		}
	}
	for placed < 5 && took < patience {
		begin := time.Now()
		_, err = conn.Create("/orders", nil, zk.FlagSequence, open)
		if took = time.Since(begin); err != nil {
			break
		}
		placed++
	}
	return placed, took, err
}

// hasty is code that takes an order which is not placed after its patience for one that never will be.
func hasty(c *zktest.Cluster) {
	if _, took, err := order(c); err == nil && took > patience {
		c.Errorf("an order that was given up is placed after all")
	}
}

func TestHiddenHasty(t *testing.T) {
	hidden(t)
	zktest.Run(t, hasty, zktest.Servers(1), zktest.Faults("pause=1"))
}

// TestAPauseIsFoundReplayedAndShrunk has a pause make an answer come late, which nothing else does on one server.
func TestAPauseIsFoundReplayedAndShrunk(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenHasty")
	expect(t, out, "an order that was given up is placed after all", "faults: pause c1")
	if !raced {
		expectRepeated(t, out)
	}
	zktest.Run(t, hasty, zktest.Servers(1))
}

// TestAPauseStallsBothDirections has requests not arrive, and answers not come, until the library gives up; and the
// session ends while the connection stalls, which code learns when it goes on.
func TestAPauseStallsBothDirections(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		placed, took, err := order(c)
		given := err == zk.ErrConnectionClosed && took > patience
		list, _, seen := c.Connect().Children("/") // and /zookeeper
		c.Sometimes("a request is lost", given && seen == nil && len(list) == placed+1)
		c.Sometimes("an answer is lost", given && seen == nil && len(list) == placed+2)
		c.Sometimes("an answer comes late", err == nil && took > patience)
	}, zktest.Servers(1), zktest.Faults("pause=2"))
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, events, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		go func() { time.Sleep(time.Minute); conn.Close() }()
		expired := false
		for ev := range events {
			expired = expired || ev.State == zk.StateExpired
		}
		c.Sometimes("the session ends", expired)
	}, zktest.Servers(1), zktest.Faults("pause=1"))
}

// TestOurLockHoldsWithPauses has correct code meet pauses besides other faults.
func TestOurLockHoldsWithPauses(t *testing.T) {
	zktest.Run(t, ourLock, zktest.Faults("pause=2 lose-reply=1 disconnect=1 learn-late=1 stale-read=1 failover=1"),
		zktest.Servers(3))
}

func TestHiddenPauseOfNothing(t *testing.T) {
	hidden(t)
	zktest.Run(t, hasty, zktest.Faults("pause=0"))
}

func TestAPauseMustStrike(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenPauseOfNothing"), `"pause=0": it never strikes, expected 1 or more`)
}
