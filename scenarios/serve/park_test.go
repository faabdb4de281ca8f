//go:build linux

package serve

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// Sessions that have nothing to say cost no goroutine, and go on when there is something to say or to hear.
func TestConnectionsThatAreIdleHaveNoGoroutine(t *testing.T) {
	e := start(t, Options{Nodes: 3, TickTime: time.Minute})
	writer := client(t, time.Minute, e.Addrs()...)
	must[string](t)(writer.Create("/a", nil, 0, open))
	before := calm(t, e, writer)
	const n = 90
	socks := make([]net.Conn, n)
	look := func(sock net.Conn, xid int32) {
		send(t, sock, jute.AppendRequest(nil, xid, &model.Request{Op: model.OpGetData, Path: "/a", Watch: true}))
		if a, _ := answer(t, sock); a.Err != model.OK || a.Xid != xid {
			t.Fatalf("%+v", a)
		}
	}
	for i := range socks {
		socks[i] = dialTo(t, e.Addrs()[i%3])
		hello(t, socks[i], 0, make([]byte, jute.PasswordLen))
		look(socks[i], 1)
	}
	calm(t, e, writer)
	must[*zk.Stat](t)(writer.Set("/a", nil, -1))
	for _, sock := range socks {
		hearsEvent(t, sock)
	}
	calm(t, e, writer)
	half := jute.AppendRequest(nil, 2, &model.Request{Op: model.OpGetData, Path: "/a"})
	for i, sock := range socks {
		switch i % 3 {
		case 0:
			look(sock, 2)
			look(sock, 3)
		case 1: // in two halves, with a nap between them
			sock.Write([]byte{0, 0, 0, byte(len(half)), half[0]})
		}
	}
	calm(t, e, writer)
	for i, sock := range socks {
		if i%3 == 1 {
			sock.Write(half[1:])
			if a, _ := answer(t, sock); a.Err != model.OK || a.Xid != 2 {
				t.Fatalf("%+v", a)
			}
		}
	}
	calm(t, e, writer)
	for i, sock := range socks {
		if i%2 == 0 {
			sock.Close()
		}
		if err := e.Expire(i + 2); err != nil { // whether its connection has gone or is idle
			t.Error(err)
		}
	}
	leaves(t, e, before)
}

// A connection that is parked ends when its ensemble does.
func TestAnEnsembleWithIdleConnectionsEnds(t *testing.T) {
	for range 20 {
		e := start(t, Options{})
		for range 5 {
			hello(t, dial(t, e), 0, make([]byte, jute.PasswordLen))
		}
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		hello(t, dial(t, e), 0, make([]byte, jute.PasswordLen))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
