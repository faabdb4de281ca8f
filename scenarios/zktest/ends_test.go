package zktest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// ending notes how a connection ends.
type ending struct {
	net.Conn
	mu  sync.Mutex
	how error
}

func (c *ending) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.how = err
	}
	return n, err
}

// endings runs code that creates a znode, and says what came of that and how its first connection ended then.
func endings(t *testing.T, plan string, judge func(c *zktest.Cluster, err, end error)) {
	zktest.Run(t, func(c *zktest.Cluster) {
		dial := c.Dialer()
		var first *ending
		conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false),
			zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
				x, err := dial(network, address, timeout)
				if first == nil && err == nil {
					first = &ending{Conn: x}
					return first, nil
				}
				return x, err
			}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer conn.Close()
		_, err = conn.Create("/x", nil, 0, open)
		time.Sleep(time.Second)
		first.mu.Lock()
		defer first.mu.Unlock()
		judge(c, err, first.how)
	}, zktest.Faults(plan), zktest.Servers(1))
}

func TestAConnectionEndsTogetherWithItsLastBytes(t *testing.T) {
	endings(t, "deliver-close=1@op=create", func(c *zktest.Cluster, err, end error) {
		c.Sometimes("an answer, and the end", err == nil && errors.Is(end, io.EOF))
		if err != nil {
			c.Errorf("%v", err)
		}
	})
}

func TestAConnectionIsReset(t *testing.T) {
	endings(t, "reset=1", func(c *zktest.Cluster, err, end error) {
		c.Sometimes("a reset that takes the answer", errors.Is(err, zk.ErrConnectionClosed))
		c.Sometimes("a reset", errors.Is(end, syscall.ECONNRESET))
		if end != nil && !errors.Is(end, syscall.ECONNRESET) && !errors.Is(end, io.EOF) &&
			!errors.Is(end, os.ErrDeadlineExceeded) && !errors.Is(end, net.ErrClosed) {
			c.Errorf("%v", end)
		}
	})
}

func TestHiddenCleanup(t *testing.T) {
	hidden(t)
	t.Cleanup(func() { zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }) })
}

func TestACallByACleanupIsAnError(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenCleanup"), "not by a function for t.Cleanup")
}

func TestHiddenFinding(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		c.Connect().Exists("/")
		c.Errorf("it is found")
	})
}

// TestOneProcessShrinksWhatItHasFound has the process of the test make the runs. The context of a run, which is over,
// was the one that the check got, so that it was interrupted: from the first run on with the overlay.
func TestOneProcessShrinksWhatItHasFound(t *testing.T) {
	t.Setenv("ZKSIM_INLINE", "1")
	expect(t, runHidden(t, t.TempDir(), "TestHiddenFinding"), "seed 1  always: it is found", "\n            minimal ")
}

// TestWatchesAreAskedForAgainInAnyOrder has two of them fire while the client has no connection. The library asks for
// them in the order of a map.
func TestWatchesAreAskedForAgainInAnyOrder(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		lost := false
		var first string
		a, _, err := zk.Connect(c.Addrs(), 30*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false),
			zk.WithDialer(c.Dialer()), zk.WithEventCallback(func(ev zk.Event) {
				lost = lost || ev.State == zk.StateDisconnected
				if ev.Type == zk.EventNodeCreated && first == "" && lost {
					first = ev.Path
				}
			}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer a.Close()
		_, _, _, err1 := a.ExistsW("/1")
		_, _, _, err2 := a.ExistsW("/2")
		ops := []any{&zk.CreateRequest{Path: "/2", Acl: open}, &zk.CreateRequest{Path: "/1", Acl: open}}
		if _, err := c.Connect().Multi(ops...); err1 != nil || err2 != nil || err != nil {
			return
		}
		c.AtRest()
		c.Sometimes("first /1", first == "/1")
		c.Sometimes("first /2", first == "/2")
	}, zktest.Faults("disconnect=1"), zktest.Servers(1))
}
