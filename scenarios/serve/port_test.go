//go:build unix

package serve

import (
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/jute"
)

// refused reports whether a port refuses connections.
func refused(t *testing.T, addr string) bool {
	t.Helper()
	sock, err := net.Dial("tcp", addr)
	if err == nil {
		sock.Close()
	} else if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, expected that the connection is refused or accepted", err)
	}
	return err != nil
}

func TestThePortOfAKilledServerRefusesConnections(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		e := start(t, Options{Nodes: nodes})
		other := client(t, 30*time.Second, e.Addrs()[nodes-1])
		must[string](t)(other.Create("/a", nil, 0, open))
		for range 3 {
			client(t, 30*time.Second, e.Addrs()[0]).Close() // a server that has come back needs a moment
			sock := dial(t, e)
			hello(t, sock, 0, make([]byte, jute.PasswordLen))
			if err := e.Kill(1); err != nil {
				t.Fatal(err)
			}
			if _, err := sock.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%d servers: %v, expected a reset", nodes, err)
			}
			for k, addr := range e.Addrs() {
				if refused(t, addr) != (k == 0) {
					t.Errorf("%d servers: s%d refuses connections: %v", nodes, k+1, k != 0)
				}
			}
			if err := e.Kill(1); err == nil || !refused(t, e.Addrs()[0]) {
				t.Error(err)
			}
			if err := e.Continue(1); err != nil {
				t.Fatal(err)
			}
		}
		client(t, 30*time.Second, e.Addrs()[0])
		ok, _, err := other.Exists("/a")
		for err != nil && !errors.Is(err, zk.ErrSessionExpired) { // its library may still be about to connect again
			ok, _, err = other.Exists("/a")
		}
		if !ok {
			t.Error(err)
		}
	}
}

func TestAResetBringsKilledServersBack(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	for _, k := range []int{1, 3} {
		if err := e.Kill(k); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Reset(); err != nil {
		t.Fatal(err)
	}
	for _, addr := range e.Addrs() {
		client(t, 30*time.Second, addr)
	}
}

// Nobody else gets the port of a killed server where the system can keep it.
// Elsewhere it is an error that it was taken.
func TestThePortOfAKilledServerIsKept(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	addr := e.Addrs()[1]
	if err := e.Kill(2); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addr)
	if runtime.GOOS == "linux" && !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%v, expected that the port is taken", err)
	}
	if err == nil {
		if err := e.Continue(2); err == nil || !strings.Contains(err.Error(), "expected its port to be free") {
			t.Error(err)
		}
		if s := e.State().Servers[1]; !s.Killed {
			t.Errorf("%+v", s)
		}
		l.Close()
	}
	if err := e.Continue(2); err != nil {
		t.Error(err)
	}
	client(t, 30*time.Second, addr)
}

// Closing an ensemble frees its ports, also those of killed servers.
func TestClosingFreesThePortsOfKilledServers(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	addrs := slices.Clone(e.Addrs())
	for k := range 3 {
		if err := e.Kill(k + 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, Options{Nodes: 3, Listen: strings.Join(addrs, ",")})
	client(t, 30*time.Second, again.Addrs()...)
}

func TestTheAddressOfAllAddressesIsThatOfLoopback(t *testing.T) {
	e := start(t, Options{Listen: "0.0.0.0:0"})
	control, err := e.Control(":0", "secret")
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{e.Connect(), strings.TrimPrefix(control, "http://")} {
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Errorf("%s, expected one that a client can use", addr)
		}
	}
	c := client(t, 30*time.Second, e.Addrs()...)
	if _, _, err := c.Get("/"); err != nil {
		t.Error(err)
	}
}
