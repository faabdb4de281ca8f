package zktest_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/scenarios/zktest"
)

// twoLocks has two clients take our lock.
func twoLocks(c *zktest.Cluster) {
	var held atomic.Int32
	done := make(chan error)
	c.Always("one holder", func() bool { return held.Load() <= 1 })
	for range 2 {
		dial := c.Dialer()
		go func() {
			conn, err := live.Dial(context.Background(), c.Addrs(), live.Options{
				Dial: func(_ context.Context, network, address string) (net.Conn, error) {
					return dial(network, address, time.Second)
				}})
			if err != nil {
				done <- err
				return
			}
			defer conn.Close()
			l := recipes.NewLock(conn, conn.Env(), "/lock", recipes.LockOptions{})
			for l.Lock(context.Background()) != nil {
			}
			held.Add(1)
			c.Sometimes("held", true)
			time.Sleep(time.Second)
			held.Add(-1)
			l.Unlock(context.Background())
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			c.Errorf("%v", err)
		}
	}
}

func TestEveryScheduleOfTheLockWithOneFault(t *testing.T) {
	b := zktest.Bounds{Faults: 1}
	if text := os.Getenv("ZKTEST_DELAYS"); text != "" {
		b.Delays, _ = strconv.Atoi(text)
		b.Runs = 1 << 30
	}
	zktest.Search(t, b, twoLocks, zktest.Servers(1), zktest.Faults(connectionFaults))
}

// connectionFaults are those that end no session.
const connectionFaults = "lose-request lose-reply disconnect watch-delay deliver-close reset"

func TestHiddenSearch(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 1, Delays: 1}, locked, zktest.Servers(1),
		zktest.Faults("lose-request lose-reply disconnect"))
}

func TestHiddenBudget(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 1, Delays: 1, Runs: 40}, twoLocks, zktest.Servers(1),
		zktest.Faults(connectionFaults))
}

func TestExhaustiveSearchFindsGoZookeepersLock(t *testing.T) {
	if raced {
		t.Skip("replays part")
	}
	var out string
	for range 3 { // on a busy machine one replay in a hundred parts without the overlay; three in a row do not
		out = runHidden(t, t.TempDir(), "TestHiddenSearch")
		expect(t, out, "exhaustive search", "the code waits, and nothing more can happen")
		if !strings.Contains(out, "does not repeat the failure") {
			break
		}
	}
	expectRepeated(t, out)
	expect(t, out, "    search_test.go:") // the line of the call, and not one of this package's own
}

func TestASearchThatIsNotClosedIsNoSuccess(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenBudget"), "not every schedule of 1 server with at most 1 fault and "+
		"1 delay: the first 40 runs")
}

// TestASearchSaysThatItsRunsAreLonger has a reply that is lost in no run, because faults end before the create.
func TestASearchSaysThatItsRunsAreLonger(t *testing.T) {
	out, err := tryHidden(t, t.TempDir(), "TestHiddenLongSearch")
	if err != nil {
		t.Error(err)
	}
	expect(t, out, "TestHiddenLongSearch held in every schedule of 1 server with at most 1 fault and 0 delays in its "+
		"first 30 steps, ")
}

func TestHiddenLongSearch(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 1}, func(c *zktest.Cluster) {
		conn := c.Connect()
		for range 20 {
			conn.Exists("/x")
		}
		if _, err := conn.Create("/x", nil, 0, open); err != nil {
			c.Errorf("create: %v", err)
		}
	}, zktest.Servers(1), zktest.Faults("lose-reply=1"), zktest.Steps(60))
}

// TestASearchSaysThatCodeCounts has code that writes other data in each run, by a variable of its package. What is done
// in each run is the same, so every choice exists in every run.
func TestASearchSaysThatCodeCounts(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenCountingSearch"), "runs were not those which their choices were found "+
		"in, so nothing is closed")
}

var counted int

func TestHiddenCountingSearch(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 1}, func(c *zktest.Cluster) {
		counted++
		c.Connect().Create("/x", []byte(strconv.Itoa(counted)), 0, open)
	}, zktest.Servers(1), zktest.Faults("lose-reply=1"))
}

func TestHiddenEndlessSearch(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 9, Delays: 9, Runs: 1 << 30}, twoLocks, zktest.Servers(1),
		zktest.Faults(connectionFaults))
}

func TestASearchThatHasNoTimeSaysSo(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenEndlessSearch", "-test.timeout", "2s"), "the time was up before all "+
		"was done: not every schedule of 1 server with at most 9 faults and 9 delays: the first ")
}

func FuzzOurLock(f *testing.F) { zktest.Fuzz(f, twoLocks) }

func FuzzHidden(f *testing.F) {
	if os.Getenv("ZKTEST_HIDDEN") == "" {
		f.Skip("run by another test")
	}
	zktest.Fuzz(f, func(c *zktest.Cluster) {
		if _, err := c.Connect().Create("/x", nil, 0, open); err != nil {
			panic("no answer")
		}
	}, zktest.Faults("lose-reply=1@op=create"))
}

func FuzzHiddenSpin(f *testing.F) {
	if os.Getenv("ZKTEST_HIDDEN") == "" {
		f.Skip("run by another test")
	}
	zktest.Fuzz(f, func(*zktest.Cluster) {
		for {
		}
	})
}

// TestInputsThatTakeAllTimeAreToldOf has -timeout end what the inputs of a fuzz test do, rather than the process.
func TestInputsThatTakeAllTimeAreToldOf(t *testing.T) {
	out := runHidden(t, t.TempDir(), "FuzzHiddenSpin", "-test.timeout", "2s")
	expect(t, out, "zktest/FuzzHiddenSpin: the time of the test was up", "--- FAIL: FuzzHiddenSpin/seed#20")
}

// TestTheFuzzerFindsALostReply runs the fuzzer, and then what it has kept.
func TestTheFuzzerFindsALostReply(t *testing.T) {
	dir := t.TempDir()
	out := runHidden(t, dir, "none", "-test.fuzz", "^FuzzHidden$", "-test.fuzzcachedir", dir, "-test.fuzztime", "2000x",
		"-test.parallel", "1")
	if !strings.Contains(out, "panic: no answer") {
		t.Fatal(out)
	}
}

// TestOneProcessReplaysTheScheduleOfAFuzzTest has no input yet whose test the run could be in.
func TestOneProcessReplaysTheScheduleOfAFuzzTest(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "schedule.txt")
	text := "zksim schedule 1\nscenario zktest/FuzzHidden\nservers 1\nfaults lose-reply=1@op=create\n\nconnect c1 s1\n" +
		"lose-reply c1\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZKSIM_INLINE", "1")
	expect(t, runHidden(t, dir, "FuzzHidden", "-zksim.schedule", file), "always in 2 steps: panic: no answer")
}

func TestHiddenVainSearch(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{Faults: 1}, func(c *zktest.Cluster) {
		_, _, err := c.Connect().Exists("/x")
		c.Sometimes("an answer in vain", err == zk.ErrNodeExists)
	}, zktest.Servers(1), zktest.Faults("disconnect watch-delay"))
}

// TestASearchMeetsWhatItIsTo closes bounds in which no run has what the code wants once, nor a watch to delay.
func TestASearchMeetsWhatItIsTo(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenVainSearch"), "TestHiddenVainSearch: every schedule of 1 server with "+
		"at most 1 fault and 0 delays, ", " runs; watch-delay=", " could never strike: watch-delay needs a watch event on "+
		"its way; and no run had an answer in vain")
}

// seizes records an operation of which no checker knows.
func seizes(c *zktest.Cluster) {
	o := c.Object(c.Connect(), nil)
	o.Invoke("seize")
	o.Return("seize", nil)
}

func TestHiddenOddWord(t *testing.T) {
	hidden(t)
	zktest.Search(t, zktest.Bounds{}, seizes, zktest.Servers(1), zktest.Checkers(checkers.Ownership{}))
}

func FuzzHiddenOddWord(f *testing.F) {
	if os.Getenv("ZKTEST_HIDDEN") == "" {
		f.Skip("run by another test")
	}
	zktest.Fuzz(f, seizes, zktest.Servers(1), zktest.Checkers(checkers.Ownership{}))
}

// TestASearchKnowsAWordThatNoCheckerKnows has such a word, which a check takes for an error, in a search and in inputs.
func TestASearchKnowsAWordThatNoCheckerKnows(t *testing.T) {
	for _, name := range []string{"TestHiddenOddWord", "FuzzHiddenOddWord"} {
		expect(t, runHidden(t, t.TempDir(), name), `no checker knows the operation "seize"`)
	}
}
