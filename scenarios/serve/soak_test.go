package serve

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// Three servers on which everything goes wrong that can, with clients that go on: nothing hangs, every client gets
// through in the end, and what the judges see is linearizable.
func TestClientsGetThroughWhateverStrikes(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			plan := Contract()
			for i := range plan {
				plan[i].Budget = 3
			}
			e := start(t, Options{Nodes: 3, Faults: plan, Seed: seed, TickTime: 200 * time.Millisecond,
				Lag: 5 * time.Millisecond})
			var wg sync.WaitGroup
			for i := range 4 {
				c, _, err := zk.Connect(e.Addrs(), 4*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				wg.Go(func() { work(t, c, i) })
			}
			wg.Wait()
			strikes, _ := e.Strikes()
			if len(strikes) < 5 {
				t.Errorf("only %v has struck", strikes)
			}
			for _, v := range e.Judge().Violations {
				if !strings.HasPrefix(v, "left over") {
					t.Error(v)
				}
			}
		})
	}
}

// work writes and reads a znode, and one that all share, until each has succeeded so many times.
func work(t *testing.T, c *zk.Conn, i int) {
	const times = 15
	for n := 0; n < times; {
		data := fmt.Appendf(nil, "%d of %d", n, i)
		own := fmt.Sprintf("/own-%d", i)
		_, err := c.Create(own, data, 0, open)
		if errors.Is(err, zk.ErrNodeExists) {
			_, err = c.Set(own, data, -1)
		}
		if err == nil {
			_, err = c.Create("/e-", nil, zk.FlagEphemeralSequential, open)
		}
		if err == nil {
			_, err = c.Sync("/")
		}
		if err == nil {
			_, _, _, err = c.GetW(own)
		}
		if err == nil {
			_, _, _, err = c.ChildrenW("/")
		}
		var reset *net.OpError // the library tells of that as it is
		switch {
		case err == nil:
			n++
		case errors.As(err, &reset):
		case errors.Is(err, zk.ErrNoServer), errors.Is(err, zk.ErrConnectionClosed), errors.Is(err, zk.ErrNoNode),
			errors.Is(err, zk.ErrSessionExpired), errors.Is(err, zk.ErrSessionMoved):
		default:
			t.Errorf("c%d: %v", i+1, err)
			return
		}
	}
}
