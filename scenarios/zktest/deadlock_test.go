package zktest_test

import (
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

func TestHiddenOnce(t *testing.T) {
	hidden(t)
	commonOnce(t)
}

func commonOnce(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		once := sync.OnceFunc(func() { create(conn, "/once") })
		var all sync.WaitGroup
		for range 3 {
			all.Go(once)
		}
		all.Wait()
	}, zktest.Servers(1))
}

// TestAMutexThatIsHeldOverACallIsNoDeadlock has goroutines wait for a mutex whose holder waits for ZooKeeper. Go as it
// is cannot run that, which is said, and is no finding; with the overlay it holds.
func TestAMutexThatIsHeldOverACallIsNoDeadlock(t *testing.T) {
	if zktest.Exact {
		commonOnce(t)
		return
	}
	out := runHidden(t, t.TempDir(), "TestHiddenOnce", "-zksim.seeds", "1-3")
	expect(t, out, "seed 1: nothing is known of the run", `run "go tool simrun test"`)
	if strings.Contains(out, "always") || strings.Contains(out, "nobody will") ||
		strings.Contains(out, "not struck") {
		t.Errorf("it is taken for a finding:\n%s", out)
	}
}

func TestHiddenPull(t *testing.T) {
	hidden(t)
	pullTogether(t)
}

func pullTogether(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		next, stop := iter.Pull(func(yield func(error) bool) {
			for {
				_, err := conn.Create("/pull", nil, 0, open)
				if !yield(err) {
					return
				}
			}
		})
		defer stop()
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				next()
			})
		}
		all.Wait()
	}, zktest.Servers(1))
}

// TestAnIteratorThatIsPulledUnderAMutexIsNoDeadlock has the holder of the mutex wait for its coroutine, which waits for
// ZooKeeper.
func TestAnIteratorThatIsPulledUnderAMutexIsNoDeadlock(t *testing.T) {
	if zktest.Exact {
		pullTogether(t)
		return
	}
	out := runHidden(t, t.TempDir(), "TestHiddenPull", "-zksim.seeds", "1-3")
	expect(t, out, "seed 1: nothing is known of the run", "a mutex whose holder may wait for ZooKeeper")
}

func TestHiddenClosers(t *testing.T) {
	hidden(t)
	closeOften(t)
}

func closeOften(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		var all sync.WaitGroup
		for range 3 {
			all.Go(conn.Close) // no function of the code is in such a goroutine
		}
		all.Wait()
	}, zktest.Servers(1))
}

// TestGoroutinesThatOnlyCallTheLibraryAreThoseOfTheCode has one of them wait for an answer, and others for it.
func TestGoroutinesThatOnlyCallTheLibraryAreThoseOfTheCode(t *testing.T) {
	if zktest.Exact {
		closeOften(t)
		return
	}
	out := runHidden(t, t.TempDir(), "TestHiddenClosers", "-zksim.seeds", "1-3")
	expect(t, out, "seed 1: nothing is known of the run", "for a mutex (zk.(*Conn).Close), and 1 more does")
}

// calls returns a connection that calls f when it has its session.
func calls(c *zktest.Cluster, f func(conn *zk.Conn)) *zk.Conn {
	made := make(chan *zk.Conn, 1)
	conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithDialer(c.Dialer()), zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateHasSession {
				f(<-made)
			}
		}))
	if err != nil {
		panic(err)
	}
	made <- conn
	return conn
}

func TestHiddenCallbackAsks(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		calls(c, func(conn *zk.Conn) { conn.Exists("/asked") }).Exists("/")
	})
}

func TestHiddenCallbackStays(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		a := calls(c, func(*zk.Conn) { <-make(chan bool) })
		time.Sleep(time.Minute)
		a.Close()
	}, zktest.Faults(""))
}

func TestHiddenCallbackPanics(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		calls(c, func(*zk.Conn) { panic("called") }).Exists("/")
	})
}

func TestHiddenCallbackMissing(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(nil))
		if err == nil {
			conn.Exists("/")
		}
	})
}

// TestCodeThatTheLibraryCallsIsNamed has it wait, stay and panic in a goroutine of the library, which
// panics itself if what it is to call is missing.
func TestCodeThatTheLibraryCallsIsNamed(t *testing.T) {
	for name, want := range map[string]string{ // order-free: tests of their own
		"Asks":    "zk.(*Conn).Exists zk@v1.0.4/conn.go:1188, called by zktest_test.TestHiddenCallbackAsks.func1.1 ",
		"Stays":   "goroutines go on when the code has ended: a goroutine waits in deadlock_test.go:",
		"Panics":  "panic: called, in zktest_test.TestHiddenCallbackPanics.func1.1 ",
		"Missing": "nil pointer dereference, in zk.(*Conn).",
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, runHidden(t, t.TempDir(), "TestHiddenCallback"+name, "-zksim.seeds", "1-3"), want)
		})
	}
}

func TestHiddenCircle(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Exists("/x")
		var a, b sync.Mutex
		var both, all sync.WaitGroup
		both.Add(2)
		for _, x := range [][2]*sync.Mutex{{&a, &b}, {&b, &a}} {
			all.Go(func() {
				x[0].Lock()
				both.Done()
				both.Wait()
				x[1].Lock()
			})
		}
		all.Wait()
	}, zktest.Servers(1))
}

// TestACircleOfMutexesIsADeadlock has another goroutine wait for the two that have locked each other out.
func TestACircleOfMutexesIsADeadlock(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenCircle", "-zksim.seeds", "1"), "always: the code waits, and nothing",
		"for a mutex that nobody will unlock", "for a WaitGroup that nobody will complete")
}
