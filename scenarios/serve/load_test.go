//go:build unix

package serve

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/jute"
)

// targets are ours and, where there is one, a real server.
func targets(b *testing.B) map[string]func(b *testing.B) (addr string, stop func()) {
	return map[string]func(b *testing.B) (string, func()){
		"zksim": func(b *testing.B) (string, func()) {
			e, err := Start(Options{})
			if err != nil {
				b.Fatal(err)
			}
			return e.Addrs()[0], func() { e.Close() }
		},
		"zookeeper": func(b *testing.B) (string, func()) {
			e, err := zkserver.Start(b.Context(), zkserver.Options{TickTime: 2 * time.Second})
			if errors.Is(err, zkserver.ErrUnavailable) {
				b.Skip(err)
			}
			if err != nil {
				b.Fatal(err)
			}
			return e.Addrs()[0], func() { e.Stop() }
		},
	}
}

// BenchmarkStart starts and stops a server.
func BenchmarkStart(b *testing.B) {
	for name, start := range targets(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, stop := start(b)
				stop()
			}
		})
	}
}

// BenchmarkLoad has clients that create, set and get, each one request after the other.
func BenchmarkLoad(b *testing.B) {
	for name, start := range targets(b) {
		for _, n := range []int{1, 10, 100} {
			for _, op := range []string{"create", "set", "get"} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, op, n), func(b *testing.B) {
					addr, stop := start(b)
					defer stop()
					benchmarkOp(b, addr, op, n)
				})
			}
		}
	}
}

func benchmarkOp(b *testing.B, addr, op string, n int) {
	clients := make([]*zk.Conn, n)
	for i := range clients {
		clients[i] = client(b, 30*time.Second, addr)
		_, err := clients[i].Create(fmt.Sprintf("/%s-%d", op, i), []byte("data"), 0, open)
		if err != nil && err != zk.ErrNodeExists {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			path := fmt.Sprintf("/%s-%d", op, i)
			for k := range b.N / n {
				var err error
				switch op {
				case "create":
					_, err = c.Create(fmt.Sprintf("%s/%d", path, k), []byte("data"), 0, open)
				case "set":
					_, err = c.Set(path, []byte("data"), -1)
				case "get":
					_, _, err = c.Get(path)
				}
				if err != nil && err != zk.ErrNodeExists {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// raised is how many sessions this machine lets a test have, at most n: each is a file at either end.
func raised(t testing.TB, n int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	const others = 100
	return min(n, int(limit.Cur/2)-others)
}

// Ten thousand sessions, each with a watch on one znode, hear of its change, and cost little.
func TestManySessionsWithWatches(t *testing.T) {
	if testing.Short() {
		t.Skip("opens twenty thousand sockets")
	}
	n := raised(t, 10_000)
	e := start(t, Options{TickTime: time.Minute})
	writer := client(t, time.Minute, e.Addrs()...)
	must[string](t)(writer.Create("/a", nil, 0, open))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	socks := make([]net.Conn, n)
	for i := range socks {
		sock, err := net.Dial("tcp", e.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		socks[i] = sock
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		send(t, sock, jute.AppendRequest(nil, 1, &model.Request{Op: model.OpGetData, Path: "/a", Watch: true}))
		if a, _ := answer(t, sock); a.Err != model.OK {
			t.Fatal(a.Err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse
	t.Logf("%d sessions, each %d bytes with its watch and both ends of its connection", n, used/uint64(n))
	const most = 20_000
	if used/uint64(n) > most {
		t.Errorf("%d bytes a session, expected at most %d", used/uint64(n), most)
	}
	must[*zk.Stat](t)(writer.Set("/a", nil, -1))
	for _, sock := range socks {
		if packet, err := receive(sock); err != nil {
			t.Fatal(err)
		} else if a, err := jute.ParseReply(packet); err != nil || a.Xid != jute.XidEvent {
			t.Fatalf("%+v, %v", a, err)
		}
		sock.Close()
	}
}
