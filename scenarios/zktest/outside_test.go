package zktest_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/scenarios"
	"zksim/scenarios/zktest"
)

// words is a flag that may be given several times.
type words []string

func (w *words) String() string     { return strings.Join(*w, " ") }
func (w *words) Set(s string) error { *w = append(*w, s); return nil }

var given words

func init() { flag.Var(&given, "given", "words that a test looks at") }

// once runs code for one connection that has asked something, without faults.
func once(t *testing.T, code func(c *zktest.Cluster)) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Exists("/x")
		code(c)
	}, zktest.Faults(""), zktest.Servers(1))
}

func TestHiddenFlags(t *testing.T) {
	once(t, func(c *zktest.Cluster) { c.Errorf("short %v, given %q", testing.Short(), []string(given)) })
}

func TestHiddenChdir(t *testing.T) {
	hidden(t)
	if err := os.MkdirAll("deep", 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir("deep")
	once(t, func(c *zktest.Cluster) {
		dir, _ := os.Getwd()
		c.Errorf("in %s %v", filepath.Base(dir), os.Getenv("PWD") == dir)
	})
}

func TestHiddenTempDir(t *testing.T) {
	hidden(t)
	t.TempDir()
	os.MkdirTemp("", "hidden-*")
	once(t, func(c *zktest.Cluster) { os.Exit(7) })
}

func TestHiddenMock(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		conn, asked := c.Connect(), false
		t.Cleanup(func() {
			conn.Close()
			if _, _, err := conn.Exists("/x"); !asked {
				t.Errorf("expected to be asked: %v", err)
			}
		})
		t.Cleanup(func() { conn.Exists("/x") })
	})
}

// TestTheStepsOfAFailureAreThoseOfItsRun has a test fail in its first run, before which there is another one with the
// overlay.
func TestTheStepsOfAFailureAreThoseOfItsRun(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenMock", "-zksim.seeds", "1"), " of 12 steps, 2 clients, ",
		"connect c1 s1 ", "violation of always")
}

// TestCodeIsCleanedUpAfterInItsRun has functions for t.Cleanup, of which one closes a connection, and fails as a mock
// does that misses a call.
func TestCodeIsCleanedUpAfterInItsRun(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenMock", "-zksim.seeds", "1")
	expect(t, out, "expected to be asked: zk: ", "violation of always")
	times := 0
	zktest.Run(t, func(c *zktest.Cluster) {
		if times > 0 {
			c.Errorf("%d functions of an earlier run are left", times)
		}
		times++
		c.Connect()
		t.Cleanup(func() { times-- })
		t.Setenv("ZKTEST_OF_A_RUN", "set")
	}, zktest.Faults(""))
	if v := os.Getenv("ZKTEST_OF_A_RUN"); v != "" {
		t.Errorf("it is %q after the runs", v)
	}
}

func TestHiddenTwice(t *testing.T) {
	hidden(t)
	once(t, func(c *zktest.Cluster) { t.Error("the first") })
	println("the second")
}

func TestHiddenNotAgain(t *testing.T) {
	hidden(t)
	if err := os.Mkdir("taken", 0o777); err != nil {
		t.Fatal("the port is taken")
	}
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }, zktest.Caught("always"))
}

func TestHiddenLogs(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		t.Logf("it logs at %d", time.Now().Year())
		if (<-time.After(time.Second)).Year() == 2020 {
			t.Errorf("it errs")
		}
	})
}

func TestHiddenAtOnce(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { go func() { panic("at once") }(); time.Sleep(time.Second) })
}

func TestHiddenDeep(t *testing.T) {
	var deep func(n int) int
	deep = func(n int) int { return deep(n+1) + 1 }
	once(t, func(c *zktest.Cluster) { deep(0) })
}

func TestHiddenNames(t *testing.T) {
	hidden(t)
	for _, name := range []string{"it's", "its", "it|s", "it s", "it/s"} {
		t.Run(name, func(t *testing.T) { once(t, func(c *zktest.Cluster) { c.Errorf("here") }) })
	}
}

func TestHiddenStarts(t *testing.T) {
	hidden(t)
	said, err := exec.Command("sh", "-c", `echo "[$ZKSIM_CHILD]"; (: >&4) 2>&- && echo open || echo closed`).Output()
	once(t, func(c *zktest.Cluster) { c.Errorf("%v, %s", err, said) })
}

// TestAProgramThatATestStartsKnowsOfNoRuns has a test start a program before the call of Run, as each process for runs
// does: it would make runs in its place if it were such a test.
func TestAProgramThatATestStartsKnowsOfNoRuns(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenStarts", "-zksim.seeds", "1"), "<nil>, []", "closed")
}

// TestAProcessForRunsIsAsThatOfTheTest has what code and the test before the call of Run see of their process be the
// same there: flags, as often as they are given, and the folder in which the test began.
func TestAProcessForRunsIsAsThatOfTheTest(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenFlags", "-zksim.seeds", "1", "-test.short", "-given", "a",
		"-given=b c"), `short true, given ["a" "b c"]`)
	expect(t, runHidden(t, t.TempDir(), "TestHiddenChdir", "-zksim.seeds", "1"), "in deep true")
}

// TestATestThatFailsBeforeTheCallIsNoFinding has the processes for runs not come to Run, in code that is to be caught.
func TestATestThatFailsBeforeTheCallIsNoFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenNotAgain", "-zksim.seeds", "1-20"), "a process for runs runs the "+
		"test up to the call of package zktest, and has ended before that (exit status 1)", "the port is taken")
}

func TestWhatATestSaysIsThatOfTheRun(t *testing.T) {
	dir := t.TempDir()
	out := runHidden(t, dir, "TestHiddenLogs", "-zksim.seeds", "1-3")
	expect(t, out, "the test fails: outside_test.go:", "it errs", "2 of 2 identical")
	if strings.Contains(out, "it logs") {
		t.Error("what it has logged is no failure:", out)
	}
	if out = runHidden(t, dir, "TestHiddenTwice", "-zksim.seeds", "1"); strings.Contains(out, "the second\n") {
		t.Error("a process for runs goes on with the test:", out)
	}
}

func TestARunThatDiesBeforeItsFirstStepIsAFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenAtOnce", "-zksim.seeds", "1"), "panic: at once",
		"minimal    0 steps", "2 of 2 identical")
}

// TestARecursionWithoutEndIsAFinding takes ten seconds of processor time.
func TestARecursionWithoutEndIsAFinding(t *testing.T) {
	if os.Getenv("ZKTEST_LONG") == "" {
		t.Skip("without ZKTEST_LONG")
	}
	out := runHidden(t, t.TempDir(), "TestHiddenDeep", "-zksim.seeds", "1")
	expect(t, out, "fatal error: stack overflow, in zktest_test.TestHiddenDeep.func1 zktest/outside")
	if n := strings.Count(out, "called by"); n > 4 {
		t.Errorf("%d calls are named:\n%s", n, out)
	}
}

// TestTestsWithLikeNamesHaveFilesOfTheirOwn has subtests whose names differ in characters that no folder has.
func TestTestsWithLikeNamesHaveFilesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	out := runHidden(t, dir, "TestHiddenNames", "-zksim.seeds", "1")
	expect(t, out, `-run '^TestHiddenNames$/^it'\''s$' -zksim.schedule`)
	if list, _ := filepath.Glob(filepath.Join(dir, "testdata", "zksim", "*")); len(list) != 5 {
		t.Errorf("%d folders, expected 5: %v", len(list), list)
	}
}

func TestHiddenHomonym(t *testing.T) { once(t, func(c *zktest.Cluster) { c.Errorf("here") }) }

// TestTwoTestsOfOneNameAreRefused has the package and that with _test have a test each whose names are the same. The
// processes for runs of the second one came to the first one, which holds, and so did the test.
func TestTwoTestsOfOneNameAreRefused(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenHomonym", "-zksim.seeds", "1"),
		"zktest: the package has a TestHiddenHomonym, and so has the one with _test: expected names that differ")
}

func FuzzHiddenInput(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { once(t, func(c *zktest.Cluster) {}) })
}

// TestRunRefusesInputsOfTheFuzzer has the fuzzer call Run, whose processes only know what go test without -fuzz runs.
func TestRunRefusesInputsOfTheFuzzer(t *testing.T) {
	dir := t.TempDir()
	expect(t, runHidden(t, dir, "none", "-test.fuzz", "^FuzzHiddenInput$", "-test.fuzztime", "1x", "-test.fuzzcachedir",
		dir), "zktest: the fuzzer runs this input", "expected zktest.Fuzz, or ZKSIM_INLINE=1")
}

// TestNoTemporaryFilesAreLeft has tests make temporary files before the call of Run, as each process does.
func TestNoTemporaryFilesAreLeft(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	runHidden(t, t.TempDir(), "TestHiddenTempDir", "-zksim.seeds", "1")
	list, _ := filepath.Glob(filepath.Join(tmp, "*"))
	list = slices.DeleteFunc(list, func(x string) bool { // the page
		return strings.HasPrefix(filepath.Base(x), "zksim-") && !strings.HasPrefix(filepath.Base(x), "zksim-run-")
	})
	if len(list) != 1 { // of the test's own process
		t.Errorf("left: %v", list)
	}
}

func TestHiddenNil(t *testing.T) {
	hidden(t)
	zktest.Run(t, nil)
}

func TestHiddenNoProgram(t *testing.T) {
	hidden(t)
	zktest.Check(t, scenarios.Scenario{Name: "my/lock", Clients: 2})
}

// TestWhatIsNotThereIsNoFinding has an error say so, in place of a violation.
func TestWhatIsNotThereIsNoFinding(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenNil"), "zktest: the code is nil, expected what is to be run")
	expect(t, runHidden(t, t.TempDir(), "TestHiddenNoProgram"), "my/lock has no Program, expected what each client does")
}

func TestHiddenReads(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		os.Getenv("ZKTEST_READ")
		os.ReadFile("read.txt")
		c.Errorf("it has read")
	})
}

// TestGoTestKnowsWhatRunsHaveRead has the log, by which go test tells whether a result can be reused, name what
// processes for runs have read.
func TestGoTestKnowsWhatRunsHaveRead(t *testing.T) {
	dir := t.TempDir()
	runHidden(t, dir, "TestHiddenReads", "-zksim.seeds", "1", "-test.testlogfile", filepath.Join(dir, "log"))
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, string(text), "getenv ZKTEST_READ\n", filepath.Join(dir, "read.txt")+"\n")
}

// TestAServerThatHearsOfTheLeaderFollowsInTime has a client wait on a follower for what another one has done, for
// longer than a leader waits for a follower. No fault happens.
func TestAServerThatHearsOfTheLeaderFollowsInTime(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		first := c.Connect()
		first.Create("/x", nil, 0, open)
		var ready, all sync.WaitGroup
		ready.Add(2)
		for range 2 {
			all.Go(func() {
				conn := c.Connect()
				is, _, gone, err := conn.ExistsW("/x")
				ready.Done()
				if !is || err != nil { // its server may be behind
					return
				}
				select {
				case <-gone:
				case <-time.After(30 * time.Second):
					c.Errorf("the end of /x is not heard of for 30 s")
				}
			})
		}
		ready.Wait()
		first.Delete("/x", -1)
		all.Wait()
	}, zktest.Faults(""), zktest.Servers(3))
}

// TestTheContextOfATestEndsWithItsRun has code start a goroutine that goes on until the test is over, and wait for it.
func TestTheContextOfATestEndsWithItsRun(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect()
		var wg sync.WaitGroup
		ctx := t.Context()
		wg.Go(func() {
			for tick := time.Tick(time.Second); t.Context().Err() == nil; {
				select {
				case <-ctx.Done():
				case <-tick:
				}
			}
		})
		t.Cleanup(wg.Wait)
		if ctx.Err() != nil {
			c.Errorf("it has ended before the code: %v", ctx.Err())
		}
	}, zktest.Faults(""))
	if err := t.Context().Err(); err != nil {
		t.Errorf("it has ended before the test: %v", err)
	}
}
