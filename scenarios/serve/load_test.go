//go:build unix

package serve

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
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

// BenchmarkLoad has clients that create, set and get, each one request after the other, at our server and at a real one
// by turns, each in a process of its own, so that what else the machine does slows both. It tells the medians, in
// microseconds for an operation, and the median of the ratios.
func BenchmarkLoad(b *testing.B) {
	names, addrs := bothLive(b)
	for i, n := range []int{10, 1, 10, 100} { // the first time is for Java to compile what it runs often
		sides := []*load{newLoad(b, addrs[0], i, n), newLoad(b, addrs[1], i, n)}
		for _, op := range []string{"create", "set", "get"} {
			b.Run(fmt.Sprintf("%s/%d", op, n), func(b *testing.B) {
				var took [2][]float64
				var ratios []float64
				for b.Loop() {
					for k, side := range sides {
						took[k] = append(took[k], side.round(b, op))
					}
					ratios = append(ratios, took[1][len(ratios)]/took[0][len(ratios)])
				}
				for k, name := range names {
					b.ReportMetric(median(took[k]), name+"-us/op")
				}
				b.ReportMetric(median(ratios), "x-faster")
				b.ReportMetric(0, "ns/op")
			})
		}
		for _, side := range sides {
			side.close()
		}
	}
}

// bothLive starts our server and a real one, each in a process of its own.
func bothLive(b *testing.B) (names, addrs []string) {
	names = []string{"zksim", "zookeeper"}
	for _, name := range names {
		addr, _ := lives(b, name)
		addrs = append(addrs, addr)
	}
	return names, addrs
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// load is a number of clients of one server.
type load struct {
	clients []*zk.Conn
	root    string // of their znodes
	created int    // by each of them
}

func newLoad(b *testing.B, addr string, phase, n int) *load {
	l := &load{root: fmt.Sprintf("/%d-", phase)}
	for i := range n {
		c := client(b, 30*time.Second, addr)
		if _, err := c.Create(l.root+strconv.Itoa(i), []byte("data"), 0, open); err != nil {
			b.Fatal(err)
		}
		l.clients = append(l.clients, c)
	}
	return l
}

func (l *load) close() {
	for _, c := range l.clients {
		c.Close()
	}
}

// round has all clients make some requests, and returns microseconds for one.
func (l *load) round(b *testing.B, op string) float64 {
	const total = 2000
	n := len(l.clients)
	begin := time.Now()
	var wg sync.WaitGroup
	for i, c := range l.clients {
		wg.Go(func() {
			path := l.root + strconv.Itoa(i)
			for k := range total / n {
				var err error
				switch op {
				case "create":
					_, err = c.Create(fmt.Sprintf("%s/%d", path, l.created+k), []byte("data"), 0, open)
				case "set":
					_, err = c.Set(path, []byte("data"), -1)
				case "get":
					_, _, err = c.Get(path)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if op == "create" {
		l.created += total / n
	}
	return float64(time.Since(begin).Microseconds()) / total
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
	if parks { // those that have just asked for something
		for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > 100 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse
	t.Logf("%d sessions, each %d bytes with its watch and both ends of its connection", n, used/uint64(n))
	const most = 5_000
	if used/uint64(n) > most {
		t.Errorf("%d bytes a session, expected at most %d", used/uint64(n), most)
	}
	must[*zk.Stat](t)(writer.Set("/a", nil, -1))
	for _, sock := range socks {
		hearsEvent(t, sock)
		sock.Close()
	}
}
