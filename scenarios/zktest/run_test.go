package zktest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/scenarios/zktest"
)

// locked has two clients take go-zookeeper's own lock, as it is.
func locked(c *zktest.Cluster) {
	var held atomic.Int32
	c.Always("one holder", func() bool { return held.Load() <= 1 })
	done := make(chan bool)
	for range 2 {
		conn := c.Connect()
		go func() {
			defer func() { done <- true }()
			l := zk.NewLock(conn, "/lock", open)
			if l.Lock() == nil {
				held.Add(1)
				c.Sometimes("held", true)
				time.Sleep(time.Second)
				held.Add(-1)
				l.Unlock()
			}
		}()
	}
	<-done
	<-done
}

func TestUnmodifiedCodeHoldsWithoutFaults(t *testing.T) {
	zktest.Run(t, locked, zktest.Faults(""))
}

// ourLock has clients take the lock of package recipes by real connections.
func ourLock(c *zktest.Cluster) {
	var held atomic.Int32
	done := make(chan error)
	c.Always("one holder", func() bool { return held.Load() <= 1 })
	for range 3 {
		go func() { done <- lockOnce(c, &held) }()
	}
	for range 3 {
		if err := <-done; err != nil {
			c.Errorf("%v", err)
		}
	}
}

func lockOnce(c *zktest.Cluster, held *atomic.Int32) error {
	dial := c.Dialer()
	conn, err := live.Dial(context.Background(), c.Addrs(), live.Options{
		Dial: func(_ context.Context, network, address string) (net.Conn, error) {
			return dial(network, address, time.Second)
		}})
	if err != nil {
		return err
	}
	defer conn.Close()
	l := recipes.NewLock(conn, conn.Env(), "/lock", recipes.LockOptions{})
	for {
		var reset *net.OpError // go-zookeeper hands on what a write to a connection says that was reset
		switch err := l.Lock(context.Background()); {
		case errors.As(err, &reset), errors.Is(err, zk.ErrConnectionClosed),
			errors.Is(err, zk.ErrNoServer), errors.Is(err, zk.ErrSessionExpired):
			continue
		case err != nil:
			return err
		}
		break
	}
	held.Add(1)
	c.Sometimes("held", true)
	held.Add(-1)
	l.Unlock(context.Background())
	return nil
}

func TestOurLockHoldsOnRealConnections(t *testing.T) {
	zktest.Run(t, ourLock)
}

// The tests whose name begins with Hidden fail on purpose; others run them in processes of their own.
func hidden(t *testing.T) {
	t.Helper()
	if os.Getenv("ZKTEST_HIDDEN") == "" {
		t.Skip("run by another test")
	}
}

func TestHiddenLock(t *testing.T) {
	hidden(t)
	zktest.Run(t, locked, zktest.Faults("lose-request=1 lose-reply=1 disconnect=1")) // no session ends
}

func TestHiddenPanic(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		if _, err := c.Connect().Create("/x", nil, 0, open); err == zk.ErrConnectionClosed {
			panic("no answer")
		}
	}, zktest.Faults("lose-reply=1@op=create"))
}

func TestHiddenMapOrder(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, keys := c.Connect(), map[string]bool{}
		for i := range 16 { // of a small map every second order is the same
			keys[fmt.Sprint("/", i)] = true
		}
		for key := range keys {
			conn.Create(key, nil, 0, open)
		}
		if list, _, err := conn.Children("/"); err == nil && len(list) < 17 {
			c.Errorf("%d of 17 children", len(list))
		}
	}, zktest.Faults("lose-request=1@op=create"), zktest.Servers(1))
}

func TestHiddenRareOrder(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Sync("/")
		keys := map[int]bool{}
		for i := range 16 {
			keys[i] = true
		}
		for key := range keys {
			if key == 0 {
				c.Errorf("0 comes first")
			}
			break
		}
	})
}

func TestHiddenChance(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		_, one := conn.Create("/x", nil, 0, open)
		_, other := conn.Create("/y", nil, 0, open)
		switch {
		case one == nil && other == nil:
		case one != nil && other != nil:
			c.Errorf("no answer")
		default:
			list := map[int]bool{}
			for i := range 16 {
				list[i] = true
			}
			for first := range list { // one fault only: every other time
				if first%2 == 1 {
					c.Errorf("no answer")
				}
				break
			}
		}
	}, zktest.Faults("lose-reply=2@op=create"), zktest.Servers(1))
}

func TestHiddenLeak(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect()
		go func() { select {} }()
	})
}

func TestHiddenBareLeak(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect()
		var never sync.WaitGroup
		never.Add(1)
		go never.Wait() // no function of the code is in that goroutine
	})
}

func TestHiddenUnclosed(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, _, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		if _, err := conn.Create("/x", nil, 0, open); err == nil || err == zk.ErrNodeExists {
			conn.Close()
		}
	})
}

func TestHiddenLateError(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect()
		time.AfterFunc(2*time.Second, func() { c.Errorf("too late") })
	}, zktest.Faults(""), zktest.Servers(1))
}

func TestAnErrorAfterTheEndOfTheCodeIsNotLost(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLateError", "-zksim.seeds", "1"), "always: too late")
}

func TestHiddenIdle(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {})
}

// runHidden runs one of these in a folder of its own and returns what it prints.
func runHidden(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := tryHidden(t, dir, name, args...)
	if err == nil {
		t.Fatalf("%s passes: %s", name, out)
	}
	return out
}

// tryHidden is runHidden for a test that may pass.
func tryHidden(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run", "^" + name + "$", "-test.v"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "ZKTEST_HIDDEN=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func expect(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Fatalf("no %q in:\n%s", text, out)
		}
	}
}

// expectRepeated expects that a failure repeats: with the overlay always, else as a rule, since the operating system
// may have interrupted the process.
func expectRepeated(t *testing.T, out string) {
	t.Helper()
	if zktest.Exact || !strings.Contains(out, " of 10 replays; two of them part at step ") {
		expect(t, out, "2 of 2 identical")
	}
}

// TestGoZookeepersLockLeavesAZnode finds, from seeds, that zk.Lock gives up without deleting its znode when the list of
// children cannot be read after the create, shrinks that, and finds it again from the schedule that it has written.
func TestGoZookeepersLockLeavesAZnode(t *testing.T) {
	var dir, out string
	for range 3 { // on stock Go a busy system may interrupt the process so often that nothing can be shrunk
		dir = t.TempDir()
		out = runHidden(t, dir, "TestHiddenLock", "-zksim.seeds", "1-1000")
		if zktest.Exact || !strings.Contains(out, "not made shorter: ") {
			break
		}
	}
	expect(t, out, "the code waits, and nothing more can happen", "zk.(*Lock).LockWithData")
	if raced && !zktest.Exact {
		expect(t, out, "failed again in ", "part at step ")
		return
	}
	expectRepeated(t, out)
	minimal := regexp.MustCompile(`minimal +(\d+) of`).FindStringSubmatch(out)
	if len(minimal) < 2 || len(minimal[1]) > 2 {
		t.Errorf("not minimal: %s", out)
	}
	file := regexp.MustCompile(`-zksim.schedule (\S+)`).FindStringSubmatch(out)
	if file == nil {
		t.Fatalf("no file in %s", out)
	}
	for range 10 {
		expect(t, runHidden(t, dir, "TestHiddenLock", "-zksim.schedule", file[1]), "the code waits, and nothing more")
	}
}

func TestAPanicOfTheCodeIsAFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenPanic"), "panic: no answer, in ", "lose-reply c1")
}

func TestHiddenHeldMutexes(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		var a, b sync.Mutex
		done := make(chan bool)
		go func() {
			a.Lock()
			conn.Create("/x", nil, 0, open)
			b.Lock()
			close(done)
		}()
		go func() {
			a.Lock() // waits for the other one, which waits for ZooKeeper
			a.Unlock()
		}()
		b.Lock()
		conn.Create("/y", nil, 0, open)
		a.Lock()
		<-done
	})
}

// TestCodeMayHoldMutexesWhileItWaits has code hold two while it waits for ZooKeeper, so that others wait for those: it
// comes to rest only with the overlay of the runtime, and then its deadlock repeats.
func TestCodeMayHoldMutexesWhileItWaits(t *testing.T) {
	if !zktest.Exact {
		t.Skip("built without the overlay")
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenHeldMutexes"), "waits in", "for a mutex", "2 of 2 identical")
}

// TestARunThatPartsIsShrunkAndFailsAgain has code go by the order of a map, which no schedule decides.
func TestARunThatPartsIsShrunkAndFailsAgain(t *testing.T) {
	dir := t.TempDir()
	out := runHidden(t, dir, "TestHiddenMapOrder")
	if zktest.Exact {
		expect(t, out, "of 17 children", "2 of 2 identical")
		return
	}
	expect(t, out, "of 17 children", " of 10 replays; two of them part at step ")
	minimal := regexp.MustCompile(`minimal +(\d) of \d+ steps`).FindStringSubmatch(out)
	file := regexp.MustCompile(`reproduce  go test .* -zksim.schedule (\S+)`).FindStringSubmatch(out)
	if minimal == nil || file == nil {
		t.Fatalf("not shrunk: %s", out)
	}
	for range 10 {
		expect(t, runHidden(t, dir, "TestHiddenMapOrder", "-zksim.schedule", file[1]), "of 17 children")
	}
}

// TestARunThatMostlyHoldsWhenItIsRepeatedIsNotShrunk has code fail by an order of a map that is rare.
func TestARunThatMostlyHoldsWhenItIsRepeatedIsNotShrunk(t *testing.T) {
	if zktest.Exact {
		t.Skip("it fails each time")
	}
	var out string
	for range 5 { // by chance it fails again often, or in none of ten
		out = runHidden(t, t.TempDir(), "TestHiddenRareOrder")
		if strings.Contains(out, "failed again in ") {
			break
		}
	}
	expect(t, out, "0 comes first", "failed again in ", " of 10 replays", "try again  go test ")
}

func TestHiddenCoin(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		for i := range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true} {
			if i == 0 {
				c.Errorf("0 comes first")
			}
			break
		}
	})
}

// TestARunThatIsNotShrunkIsToldAsAReplay has code fail in one of a few runs, by the order of a map.
func TestARunThatIsNotShrunkIsToldAsAReplay(t *testing.T) {
	if zktest.Exact {
		t.Skip("it fails each time")
	}
	var out string
	for range 5 { // some fail too often, or never again
		out = runHidden(t, t.TempDir(), "TestHiddenCoin", "-zksim.seeds", "1-500")
		if strings.Contains(out, "story      of a replay that has failed again") {
			expect(t, out, "the code finds: 0 comes first", "connect c1 s1", "try again  go test ")
			return
		}
	}
	t.Errorf("no story:\n%s", out)
}

func TestGoroutinesThatStayAreAFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLeak"), "goroutines go on when the code has ended")
	expect(t, runHidden(t, t.TempDir(), "TestHiddenBareLeak"), "goroutines go on when the code has ended",
		"for a WaitGroup (zktest_test.TestHiddenBareLeak.func1)")
	expect(t, runHidden(t, t.TempDir(), "TestHiddenUnclosed"), "the code has ended and has not closed 1 connection")
}

func TestCodeWithoutAConnectionIsAFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenIdle"), "has made no connection", "Cluster.Connect makes one")
}

// TestAFailureIsToldWhenItsShorterRunsPart has code that always fails by two faults, and by one of them every other
// time: what it has failed by is said, whatever becomes of the shorter schedule.
func TestAFailureIsToldWhenItsShorterRunsPart(t *testing.T) {
	for _, seed := range []string{"12", "56", "92", "101", "105", "124", "139", "153"} {
		dir := t.TempDir()
		out := runHidden(t, dir, "TestHiddenChance", "-zksim.seeds", seed)
		expect(t, out, "always: no answer")
		if strings.Contains(out, "nondeterministic") {
			t.Fatalf("what has failed is not said:\n%s", out)
		}
		if list, _ := filepath.Glob(filepath.Join(dir, "testdata", "zksim", "*", "-*")); len(list) > 0 {
			t.Fatalf("a run that holds is in the corpus: %v", list)
		}
	}
}
