package zktest_test

import (
	"errors"
	"fmt"
	old "math/rand"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
	"zksim/scenarios/zktest"
)

// busy is a service in which everything shows that Go's runtime decides: several goroutines for each client, select
// with several cases that are ready, a map, a mutex, random numbers.
func busy(c *zktest.Cluster) {
	var all sync.WaitGroup
	for range 3 {
		conn := c.Connect()
		jobs, quit := make(chan string), make(chan bool)
		var mu sync.Mutex
		seen := map[string]bool{}
		var workers sync.WaitGroup
		for range 6 {
			workers.Go(func() { work(conn, jobs, quit, &mu, seen) })
		}
		all.Go(func() {
			defer workers.Wait()
			defer close(quit)
			for i := range 8 {
				select {
				case jobs <- "/a" + strconv.Itoa(i):
				case jobs <- "/b" + strconv.Itoa(i):
				case <-time.After(time.Minute):
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for path := range seen {
				conn.Delete(path, -1)
			}
		})
	}
	all.Wait()
}

// work does jobs until it is to quit.
func work(conn *zk.Conn, jobs <-chan string, quit <-chan bool, mu *sync.Mutex, seen map[string]bool) {
	for {
		select {
		case path := <-jobs:
			conn.Create(path, []byte(strconv.Itoa(rand.IntN(100))), zk.FlagEphemeral, open)
			mu.Lock()
			seen[path] = true
			mu.Unlock()
		case <-time.After(time.Duration(1+rand.IntN(3)) * time.Second):
			conn.Exists("/zookeeper")
		case <-quit:
			return
		}
	}
}

// TestRunsRepeat runs code twice for each seed. Without the overlay it only tells how many differ. ZKTEST_REPEAT is
// which seeds, as 1-1000. The hashes of all ranges add up to that of the whole, with any number of processors.
func TestRunsRepeat(t *testing.T) {
	var seeds engine.Range
	if n, _ := fmt.Sscanf(os.Getenv("ZKTEST_REPEAT"), "%d-%d", &seeds.First, &seeds.Last); n < 2 {
		t.Skip("ZKTEST_REPEAT says for which seeds")
	}
	for _, x := range []struct {
		name string
		code func(c *zktest.Cluster)
		plan string
	}{{"lock", locked, "contract"}, {"recipes", ourLock, "contract"}, {"busy", busy, "contract"},
		{"calm", locked, "none"}} {
		t.Run(x.name, func(t *testing.T) {
			begin := time.Now()
			got := zktest.Repeat(t, x.code, seeds, zktest.Faults(x.plan))
			fmt.Printf("%s: %d of %d differ, hash %x, %d steps and %d turns a run, %v a run\n", x.name, got.Differ,
				got.Runs, got.Hash, got.Steps/got.Runs, int(got.Choices)/got.Runs,
				time.Since(begin).Round(time.Microsecond)/time.Duration(2*got.Runs))
			if zktest.Exact && got.Differ > 0 {
				t.Errorf("%d of %d runs differ, the first ones %s", got.Differ, got.Runs, got.Parted)
			}
		})
	}
}

func TestHiddenFirst(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		first, done := make(chan int, 2), make(chan bool)
		for i := range 2 {
			go func() {
				<-done
				first <- i
			}()
		}
		create(conn, "/x")
		close(done)
		if <-first == 0 {
			c.Errorf("0 comes first")
		}
	}, zktest.Faults(""), zktest.Servers(1))
}

// TestFuturesDrawTurnsOfTheirOwn has code fail by which of two goroutines goes first: not all that could happen fails.
func TestFuturesDrawTurnsOfTheirOwn(t *testing.T) {
	if !zktest.Exact {
		t.Skip("built without the overlay")
	}
	out := runHidden(t, t.TempDir(), "TestHiddenFirst", "-zksim.seeds", "1-50")
	expect(t, out, "always: 0 comes first")
	if strings.Contains(out, "100% of all random runs") {
		t.Errorf("another turn would have saved it:\n%s", out)
	}
}

var dealt sync.Once

// TestHiddenDealt draws once in a process, before all else. The run in which it does so never ends the process.
func TestHiddenDealt(t *testing.T) {
	hidden(t)
	cards := map[string]bool{"ace": true, "king": true, "queen": true, "jack": true}
	deal := func() (list []string) {
		for x := range cards { // the order is what is dealt
			list = append(list, x)
		}
		return list
	}
	zktest.Run(t, func(c *zktest.Cluster) {
		first := false
		dealt.Do(func() { first = len(deal()) > 0 })
		hand := deal()
		create(c.Connect(), "/"+hand[0])
		if hand[0] == "ace" && !first {
			os.Exit(3)
		}
	}, zktest.Faults(""), zktest.Servers(1))
}

// TestTheStoryIsOfTheRunThatEndsItsProcess has one before it in the same process that does not. The steps were told as
// that one made them.
func TestTheStoryIsOfTheRunThatEndsItsProcess(t *testing.T) {
	if !zktest.Exact {
		t.Skip("built without the overlay")
	}
	for _, seeds := range []string{"1-100", "20-100", "40-100", "60-100"} {
		expect(t, runHidden(t, t.TempDir(), "TestHiddenDealt", "-zksim.seeds", seeds), "status 3", "/ace now exists",
			"2 of 2 identical")
	}
}

var drew []int // of each run of this process

func draws(c *zktest.Cluster) {
	c.Connect().Exists("/x")
	if drew = append(drew, old.Int()); len(drew) > 1 {
		c.Errorf("the run before was the same: %v", drew[0] == drew[len(drew)-1])
	}
}

func TestHiddenBefore(t *testing.T) {
	hidden(t)
	zktest.Run(t, draws, zktest.Faults(""), zktest.Servers(1))
}

func FuzzHiddenBefore(f *testing.F) {
	if os.Getenv("ZKTEST_HIDDEN") == "" {
		f.Skip("run by another test")
	}
	zktest.Fuzz(f, draws, zktest.Faults(""), zktest.Servers(1))
}

// TestTheFirstInputOfTheFuzzerIsRunTwice has what is done once in a process draw in a run that does not count, as for
// seeds.
func TestTheFirstInputOfTheFuzzerIsRunTwice(t *testing.T) {
	if !zktest.Exact {
		t.Skip("built without the overlay")
	}
	t.Setenv("ZKSIM_INLINE", "1")
	expect(t, runHidden(t, t.TempDir(), "FuzzHiddenBefore"), "--- FAIL: FuzzHiddenBefore/seed#0",
		"the run before was the same: true")
}

// TestNoRunComesFirstThatNobodyHasAskedFor has a process make a run that does not count. It was of seed 1, so what that
// one says to the test failed the test whatever was asked for.
func TestNoRunComesFirstThatNobodyHasAskedFor(t *testing.T) {
	if !zktest.Exact {
		t.Skip("built without the overlay")
	}
	t.Setenv("ZKSIM_INLINE", "1")
	dir := t.TempDir()
	expect(t, runHidden(t, dir, "TestHiddenBefore", "-zksim.seeds", "7"), "the run before was the same: true")
	list, _ := filepath.Glob(filepath.Join(dir, "testdata", "zksim", "*", "*.txt"))
	if len(list) != 1 {
		t.Fatalf("schedules: %q", list)
	}
	expect(t, runHidden(t, dir, "TestHiddenBefore", "-zksim.schedule", list[0]), "the run before was the same: true")
}

// TestAStepThatIsNoneIsAnError has a schedule with a word that no step has: to pass over it, as over steps that are not
// possible where code has changed, would pass a file that is broken.
func TestAStepThatIsNoneIsAnError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "schedule.txt")
	text := "zksim schedule 1\nscenario zktest/TestHiddenLock\nservers 1\nfaults lose-reply=1\n\nconnect c1 s1\ngarbage\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	expect(t, runHidden(t, dir, "TestHiddenLock", "-zksim.schedule", file), `line 7: no step is called "garbage"`)
}

func TestHiddenStrict(t *testing.T) {
	hidden(t)
	ends := map[string]func(){"exit": func() { os.Exit(1) }, "fatal": func() { t.Fatal("no answer") }}[os.Getenv("END")]
	zktest.Run(t, func(c *zktest.Cluster) {
		if _, err := c.Connect().Create("/a", nil, 0, open); err != nil {
			ends()
		}
	}, zktest.Faults(""), zktest.Servers(1))
}

// TestCodeThatEndsItsProcessWhenAScheduleDoesNotFitIsNotBlamed commits a schedule that fits no more. Its replay ends in
// the middle of the code, which sees its connection cut.
func TestCodeThatEndsItsProcessWhenAScheduleDoesNotFitIsNotBlamed(t *testing.T) {
	for _, end := range []string{"exit", "fatal"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "testdata", "zksim", "zktest.TestHiddenStrict", "old.txt")
		text := "zksim schedule 1\nscenario zktest/TestHiddenStrict\nservers 1\nfaults none\n\nconnect c1 s1\nserve c9\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("END", end)
		out, err := tryHidden(t, dir, "TestHiddenStrict", "-zksim.seeds", "1-20")
		if err != nil {
			t.Errorf("%s: %v\n%s", end, err, out)
			continue
		}
		expect(t, out, "old.txt fits no more, from step 2 on", "held in 20 runs")
	}
}
