package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// answered returns what a call returns when it is answered: it is made again until then.
func answered[T any](ask func() (T, error)) T {
	for {
		x, err := ask()
		if err == nil {
			return x
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func exists(conn *zk.Conn, path string) bool {
	return answered(func() (bool, error) {
		is, _, err := conn.Exists(path)
		return is, err
	})
}

func create(conn *zk.Conn, path string) {
	answered(func() (string, error) {
		name, err := conn.Create(path, nil, 0, open)
		if err == zk.ErrNodeExists {
			err = nil
		}
		return name, err
	})
}

// TestASessionWithoutAConnectionEndsInTime has a client make an ephemeral znode and close its connection, whatever
// becomes of that.
func TestASessionWithoutAConnectionEndsInTime(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		other := c.Connect()
		conn, _, err := zk.Connect(c.Addrs(), 6*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		conn.Create("/me", nil, zk.FlagEphemeral, open)
		conn.Close()
		time.Sleep(time.Minute)
		if exists(other, "/me") {
			c.Errorf("it is there a minute after its owner has gone")
		}
	}, zktest.Faults("reset=1"), zktest.Servers(1))
}

// TestAServerThatIsCutOffFindsOutInTime has a client read what another one has written two minutes before. Its server
// may be a leader that was deposed, or be cut off from the leader.
func TestAServerThatIsCutOffFindsOutInTime(t *testing.T) {
	for _, plan := range []string{"depose=1", "stale-read=1"} {
		t.Run(plan, func(t *testing.T) {
			zktest.Run(t, func(c *zktest.Cluster) {
				a, b := c.Connect(), c.Connect()
				create(a, "/x")
				exists(b, "/y")
				time.Sleep(2 * time.Minute)
				if !exists(b, "/x") {
					c.Errorf("it is not seen after two minutes")
				}
			}, zktest.Faults(plan), zktest.Servers(3))
		})
	}
}

// TestAFaultEndsASessionNoEarlierThanItsTimeoutAllows has a client be told that it is disconnected, and that its
// session has expired: at least a third of the timeout, which it has asked for, lies between.
func TestAFaultEndsASessionNoEarlierThanItsTimeoutAllows(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, events, err := zk.Connect(c.Addrs(), 36*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer conn.Close()
		conn.Exists("/x")
		end, lost := time.After(3*time.Minute), time.Time{}
		for {
			select {
			case ev := <-events:
				switch ev.State {
				case zk.StateDisconnected:
					lost = time.Now()
				case zk.StateExpired:
					c.Sometimes("a session expires", true)
					if d := time.Since(lost); d < 12*time.Second {
						c.Errorf("it expires after %v", d)
					}
					return
				}
			case <-end:
				return
			}
		}
	}, zktest.Faults("disconnect=1 expire=1"), zktest.Servers(1))
}

func TestHiddenLater(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		time.Sleep(90 * time.Second)
		c.Errorf("90 s later")
	})
}

// TestAStepThatPassesTimeSaysToWhen has the story of a run name the time after each step, and not that before it.
func TestAStepThatPassesTimeSaysToWhen(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenLater", "-zksim.seeds", "1")
	expect(t, out, "time goes on to 2m8s", "the code finds: 90 s later") // it was 1m4s before
}
