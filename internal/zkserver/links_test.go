package zkserver

import (
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// proxyTo returns a connection to a proxy of a port on which nobody listens.
func proxyTo(t *testing.T, port int, self func() string) net.Conn {
	t.Helper()
	p, err := newProxy(port, self)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	c, err := net.Dial("tcp", loopback+":"+strconv.Itoa(p.port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestAFollowerWaitsForALeaderThatDoesNotListenYet(t *testing.T) {
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	c := proxyTo(t, ports[0], nil)
	time.Sleep(redialPause) // it is refused
	l, err := net.Listen("tcp", loopback+":"+strconv.Itoa(ports[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if to, err := l.Accept(); err == nil {
			to.Write([]byte("x"))
			to.Close()
		}
	}()
	if text, err := io.ReadAll(c); string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	elect := proxyTo(t, ports[1], func() string { return "" })
	if text, err := io.ReadAll(elect); err != nil || len(text) > 0 {
		t.Errorf("%q, %v, expected the end", text, err)
	}
}
