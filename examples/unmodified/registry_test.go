package unmodified_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"example.com/unmodified"
	"zksim/scenarios/zktest"
)

const dir = "/services"

// service has one service join and leave, while somebody else looks.
func service(join func(conn *zk.Conn, dir, name string) *unmodified.Registry) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		conn := c.Connect()
		for {
			if _, err := conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll)); err == nil || err == zk.ErrNodeExists {
				break
			}
			time.Sleep(time.Second)
		}
		r := join(conn, dir, "web")
		for len(r.Peers()) == 0 {
			time.Sleep(time.Second)
		}
		c.Sometimes("the service is listed", true)
		if n := count(r.Peers()); n != 1 {
			c.Errorf("the service is listed %d times: %v", n, r.Peers())
		}
		r.Leave()
	}
}

func count(list []string) (n int) {
	for _, name := range list {
		if strings.HasPrefix(name, "web-") {
			n++
		}
	}
	return n
}

// The faults that do not end a session, since this registry does not register again after one.
const plan = "lose-request=2 lose-reply=2 disconnect=2 watch-delay=1"

func TestJoin(t *testing.T) {
	zktest.Run(t, service(unmodified.Join), zktest.Faults(plan), zktest.Caught("always"))
}

func TestJoinSafely(t *testing.T) {
	zktest.Run(t, service(unmodified.JoinSafely), zktest.Faults(plan))
}
