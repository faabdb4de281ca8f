package zktest_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// TestADialToAnAddressOfNoServerFails has code dial as it does outside of a test, with the errors of package net.
func TestADialToAnAddressOfNoServerFails(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		dial := func(address string) error {
			conn, err := c.Dialer()("tcp", address, time.Second)
			if err == nil {
				conn.Close()
			}
			return err
		}
		for _, address := range []string{c.Addrs()[0], "localhost:2181", ":2181"} {
			if err := dial(address); err != nil {
				c.Errorf("dial %s: %v", address, err)
			}
		}
		for _, x := range []struct {
			address string
			want    error
			says    string
		}{
			{"127.0.0.1:2182", syscall.ECONNREFUSED, "dial tcp 127.0.0.1:2182: connect: connection refused"},
			{"127.0.0.2:2181", syscall.ECONNREFUSED, "dial tcp 127.0.0.2:2181: connect: connection refused"},
			{"[::1]:2181", syscall.ECONNREFUSED, "dial tcp [::1]:2181: connect: connection refused"},
			{"10.0.0.1:2181", syscall.EHOSTUNREACH, "dial tcp 10.0.0.1:2181: connect: no route to host"},
			{"zk1.example.com:2181", nil, "dial tcp: lookup zk1.example.com: no such host"},
			{"127.0.0.1", nil, "dial tcp: address 127.0.0.1: missing port in address"},
			{"127.0.0.1:2181/app", nil, "dial tcp: lookup tcp/2181/app: unknown port"},
		} {
			err := dial(x.address)
			if err == nil || err.Error() != x.says || x.want != nil && !errors.Is(err, x.want) {
				c.Errorf("dial %s: %v, expected %s", x.address, err, x.says)
			}
			if op := (*net.OpError)(nil); !errors.As(err, &op) || op.Op != "dial" {
				c.Errorf("dial %s: %T, expected a net.OpError", x.address, err)
			}
		}
		if _, err := c.Connect().Sync("/"); err != nil {
			c.Errorf("%v", err)
		}
	}, zktest.Faults("none"), zktest.Servers(1))
}

// TestAConnectionFailsLikeOneOfPackageNet looks at the errors that the client library passes on.
func TestAConnectionFailsLikeOneOfPackageNet(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, err := c.Dialer()("tcp", c.Addrs()[0], time.Second)
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		expect := func(op string, want, err error) {
			failed := (*net.OpError)(nil)
			if !errors.As(err, &failed) || failed.Op != op || !errors.Is(err, want) {
				c.Errorf("%s: %T %v, expected a net.OpError of %v", op, err, err, want)
			}
		}
		b := make([]byte, 1)
		conn.SetReadDeadline(time.Now().Add(time.Second))
		_, err = conn.Read(b)
		expect("read", os.ErrDeadlineExceeded, err)
		if err := conn.Close(); err != nil {
			c.Errorf("%v", err)
		}
		_, err = conn.Read(b)
		expect("read", net.ErrClosed, err)
		_, err = conn.Write(b)
		expect("write", net.ErrClosed, err)
		expect("set", net.ErrClosed, conn.SetReadDeadline(time.Now()))
		expect("close", net.ErrClosed, conn.Close())
		if _, err := c.Connect().Sync("/"); err != nil {
			c.Errorf("%v", err)
		}
	}, zktest.Faults("none"), zktest.Servers(1))
}

// TestNamesOfHostsAreKnownInEveryRun has the library look up the name of its server, and code look up others.
func TestNamesOfHostsAreKnownInEveryRun(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, _, err := zk.Connect([]string{"localhost:2181"}, 6*time.Second, zk.WithDialer(c.Dialer()),
			zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer conn.Close()
		if _, _, err := conn.Exists("/"); err != nil {
			c.Errorf("%v", err)
		}
		if list, err := net.LookupHost("localhost"); err != nil || len(list) == 0 {
			c.Errorf("%v: %v", list, err)
		}
	}, zktest.Faults("none"), zktest.Servers(1))
}

// TestAClientNeedNotKnowAllServers has one that knows the first or the first two of three only, and is sent to another.
// Its own one is well, so it keeps its session, even one with the shortest timeout.
func TestAClientNeedNotKnowAllServers(t *testing.T) {
	for n := range 2 {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			zktest.Run(t, func(c *zktest.Cluster) { keepsSession(c, c.Addrs()[:n+1]) },
				zktest.Faults("failover=1"), zktest.Servers(3))
		})
	}
}

// keepsSession expects that a client of these servers does not lose its session.
func keepsSession(c *zktest.Cluster, servers []string) {
	conn, _, err := zk.Connect(servers, 4*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateExpired {
				c.Errorf("its session has expired")
			}
		}))
	if err != nil {
		c.Errorf("%v", err)
		return
	}
	defer conn.Close()
	for n := 0; n < 5; {
		if _, err := conn.Sync("/"); err == nil {
			n++
		}
	}
	time.Sleep(time.Minute)
}

// TestConnectionsMayShareADialer has two connections of one dialer, each with an ephemeral znode, lose their servers.
// Nobody loses a session.
func TestConnectionsMayShareADialer(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		dial := c.Dialer()
		var all sync.WaitGroup
		for range 2 {
			conn, events, err := zk.Connect(c.Addrs(), 6*time.Second, zk.WithDialer(dial), zk.WithLogger(silent{}))
			if err != nil {
				c.Errorf("%v", err)
				return
			}
			all.Go(func() {
				defer conn.Close()
				conn.Create("/e-", nil, zk.FlagEphemeral|zk.FlagSequence, open)
				end := time.After(time.Minute)
				for {
					select {
					case ev := <-events:
						if ev.State == zk.StateExpired {
							c.Errorf("a session has expired")
							return
						}
					case <-end:
						return
					}
				}
			})
		}
		all.Wait()
	}, zktest.Faults("disconnect=2"), zktest.Servers(1))
}

// TestAConnectionThatHasAskedForNothingKeepsItsSession has one lose its server before it has sent anything in its
// session, and another one of the same dialer connect meanwhile.
func TestAConnectionThatHasAskedForNothingKeepsItsSession(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		dial, cut := c.Dialer(), make(chan bool, 10)
		conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(dial), zk.WithLogger(silent{}),
			zk.WithEventCallback(func(ev zk.Event) {
				switch ev.State {
				case zk.StateDisconnected:
					cut <- true
				case zk.StateExpired:
					c.Errorf("a session has expired")
				}
			}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer conn.Close()
		asked := false
		select {
		case <-cut:
		case <-time.After(time.Minute):
			asked = true // it has pinged
		}
		other, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(dial), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer other.Close()
		c.AtRest()
		c.Sometimes("it is cut off before it has asked", !asked)
	}, zktest.Faults("disconnect=1"))
}
