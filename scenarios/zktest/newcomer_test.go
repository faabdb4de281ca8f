package zktest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

func TestHiddenPoll(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, stop := c.Connect(), make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Second):
					conn.Exists("/x")
				}
			}
		}()
		before := time.Now()
		c.AtRest()
		c.AtRest()
		c.Errorf("%v", time.Since(before).Round(10*time.Minute))
		close(stop)
	}, zktest.Faults(""), zktest.Servers(1))
}

// TestCodeThatPollsComesToRest has code ask every five seconds, forever: AtRest returns nevertheless, and again.
func TestCodeThatPollsComesToRest(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenPoll", "-zksim.seeds", "1"), "always: 40m0s")
}

// TestAFaultThatCodeCannotMeetIsNoGapOfTheUsualPlan has code that sets no watch, so no watch event is late.
func TestAFaultThatCodeCannotMeetIsNoGapOfTheUsualPlan(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect().Exists("/x") })
}

func TestHiddenNoWatch(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect().Exists("/x") }, zktest.Faults("watch-delay=1"))
}

func TestAFaultThatCodeCannotMeetIsAGapOfAPlanOfOnesOwn(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenNoWatch"), "watch-delay=1 never struck in 500 runs",
		"needs a watch event on its way")
}

func TestHiddenLateSet(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		c.AtRest()
		conn.Set("/x", nil, -1)
	}, zktest.Faults("lose-reply=1@op=set"))
}

// TestAFaultThatComesTooLateSaysWhen aims at a request that each run makes, when the faults are over.
func TestAFaultThatComesTooLateSaysWhen(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLateSet"), "lose-reply=1@op=set never struck in 500 runs",
		"needs a request on its way, and its aim must fit before the faults are over")
}

func TestHiddenEndless(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		for {
			conn.Exists("/x")
			time.Sleep(10 * time.Millisecond)
		}
	}, zktest.Faults(""), zktest.Servers(1))
}

func TestCodeThatGoesOnForeverIsAFinding(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenEndless", "-zksim.seeds", "1")
	expect(t, out, "the code has not returned after ", " of its time and 20000 steps, which are the most that a run may "+
		"have (zktest.Steps changes that): a goroutine ")
	if strings.Contains(out, "when the code has ended") {
		t.Error("it has not ended:", out)
	}
}

func TestHiddenTalk(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		fmt.Println("the code talks")
		_, err := conn.Create("/x", nil, 0, open)
		c.Sometimes("it was answered", err == nil)
		if err == zk.ErrConnectionClosed {
			c.Errorf("no answer")
		}
	}, zktest.Faults("lose-reply=1@op=create"), zktest.Servers(1))
}

// TestWhatRunsPrintIsShownIfSomebodyAsks has code print in each run: that is shown with -v and in a replay only.
func TestWhatRunsPrintIsShownIfSomebodyAsks(t *testing.T) {
	dir, talk := t.TempDir(), "the code talks\n"
	expect(t, runHidden(t, dir, "TestHiddenTalk"), talk)
	out := runHidden(t, dir, "TestHiddenTalk", "-test.v=false")
	if strings.Contains(out, talk) {
		t.Errorf("it is shown:\n%s", out)
	}
	expect(t, out, "the code does not reach a goal here: it was answered", "the code finds: no answer")
	_, file, _ := strings.Cut(out, "-zksim.schedule ")
	file, _, _ = strings.Cut(file, "\n")
	expect(t, runHidden(t, dir, "TestHiddenTalk", "-test.v=false", "-zksim.schedule", file), talk)
}

func TestHiddenOtherPlan(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		if _, err := c.Connect().Create("/x", nil, 0, open); err == zk.ErrConnectionClosed {
			c.Errorf("no answer")
		}
	}, zktest.Faults(os.Getenv("ZKTEST_PLAN")), zktest.Servers(1))
}

// TestAScheduleIsReplayedWhenThePlanIsAnotherOne has a schedule have a fault that is in the plan no more.
func TestAScheduleIsReplayedWhenThePlanIsAnotherOne(t *testing.T) {
	dir := t.TempDir()
	for _, plan := range []string{"lose-reply=1@op=create", "watch-delay=1"} {
		t.Setenv("ZKTEST_PLAN", plan)
		out := runHidden(t, dir, "TestHiddenOtherPlan")
		expect(t, out, "the code finds: no answer", "lose-reply c1")
	}
}

// TestRunInParallel has runs made for tests that are parallel.
func TestRunInParallel(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zktest.Run(t, func(c *zktest.Cluster) { c.Connect().Exists("/x") })
		})
	}
}

func TestHiddenParallelFails(t *testing.T) {
	hidden(t)
	t.Run("of many", func(t *testing.T) {
		t.Parallel()
		zktest.Run(t, func(c *zktest.Cluster) {
			if _, err := c.Connect().Create("/x", nil, 0, open); err != nil {
				t.Errorf("create: %v", err)
			}
		})
	})
}

// TestWhatAParallelTestSaysIsTold has the code fail a parallel test by what package testing has for that.
func TestWhatAParallelTestSaysIsTold(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenParallelFails"), "create: zk: connection closed\n            minimal ")
}

func TestHiddenSkip(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect()
		t.Skip("not today")
	})
}

func TestHiddenAlwaysPanics(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Exists("/x")
		c.Always("nothing", func() bool { panic("looked at") })
		time.Sleep(time.Second)
	})
}

func TestHiddenAlwaysAsks(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		conn.Exists("/x")
		c.Always("there is no x", func() bool {
			is, _, err := conn.Exists("/x")
			return !is && err == nil
		})
		time.Sleep(time.Second)
	})
}

// TestHiddenPolls reads so often that twenty minutes of it are more than the usual number.
func TestHiddenPolls(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, quit, done := c.Connect(), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for polls := true; polls; {
				conn.Exists("/x")
				select {
				case <-quit:
					polls = false
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
		c.AtRest()
		c.Errorf("at rest")
		close(quit)
		<-done
	}, zktest.Faults(""), zktest.Servers(1), zktest.Steps(50_000))
}

func TestCodeThatPollsMayHaveMoreSteps(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenPolls", "-zksim.seeds", "1"), "always: at rest\n")
}

func TestHiddenNoSteps(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }, zktest.Steps(0))
}

func TestHiddenNoSizes(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }, zktest.Servers())
}

func TestHiddenNoOption(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }, zktest.Servers(1), nil)
}

func TestHiddenNoSuchChecker(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { c.Connect() }, zktest.Caught("lways"))
}

func TestHiddenRunInRun(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(*zktest.Cluster) {
		zktest.Run(t, func(c *zktest.Cluster) { c.Connect() })
	}, zktest.Faults(""))
}

func TestHiddenStartInRun(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(*zktest.Cluster) { zktest.Start(t, zktest.Options{}) }, zktest.Faults(""))
}

func TestHiddenReport(t *testing.T) {
	hidden(t)
	zktest.Start(t, zktest.Options{}).Report("two lead")
}

func TestMisuseIsNoSuccess(t *testing.T) {
	for name, want := range map[string]string{ // order-free: tests of their own
		"Skip":          "the code has ended its goroutine, as t.Skip and runtime.Goexit do, and has not returned",
		"AlwaysPanics":  "panic: looked at, in zktest_test.TestHiddenAlwaysPanics",
		"AlwaysAsks":    `"there is no x" is asked by a function that waits, as for an answer: nobody is served meanwhile`,
		"NoSteps":       "zktest: 0 steps, expected 1 to 1048576",
		"NoSizes":       "zktest: no size of the ensemble, expected 1 or 3",
		"RunInRun":      "panic: zktest: Run, Search or Fuzz in the code of a run, which has an ensemble of its own",
		"StartInRun":    "panic: zktest: Start in the code of a run, which has an ensemble of its own",
		"NoOption":      "zktest: option 2 is nil",
		"NoSuchChecker": `Caught of zktest/TestHiddenNoSuchChecker names "lways", expected one of its checkers: always`,
		"Report":        "zktest: reported: two lead",
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, runHidden(t, t.TempDir(), "TestHidden"+name, "-zksim.seeds", "1"), want)
		})
	}
}

func TestHiddenCrew(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		ch := make(chan bool)
		for range 6 {
			go func() { <-ch }()
		}
		<-ch
	})
}

// TestWhatGoroutinesWaitForIsSaidOnce has several of them wait at one place.
func TestWhatGoroutinesWaitForIsSaidOnce(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenCrew", "-zksim.seeds", "1")
	expect(t, out, "(zktest_test.TestHiddenCrew.func1.1), and 5 more do; a goroutine waits in", "violation of always\n")
	if n := strings.Count(out, "newcomer_test.go:19"); n > 4 {
		t.Errorf("the places are named %d times:\n%s", n, out)
	}
	if line, _, _ := strings.Cut(out[strings.Index(out, "always: "):], "\n"); len(line) > 400 {
		t.Errorf("the first line has %d characters: %s", len(line), line)
	}
}

func TestGoroutinesThatWaitAreCounted(t *testing.T) {
	for want, text := range map[string][]string{
		"a":                             {"a"},
		"a, and 1 more does":            {"a", "a"},
		"a, and 2 more do; b":           {"a", "b", "a", "a"},
		"a; b; c; 1 more is elsewhere":  {"a", "b", "c", "d"},
		"a; b; c; 2 more are elsewhere": {"a", "b", "c", "d", "d"},
	} {
		if got := zktest.Together(text...); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestHiddenTwoChecks(t *testing.T) {
	hidden(t)
	for _, path := range []string{"/parent", "/no/parent"} {
		zktest.Run(t, func(c *zktest.Cluster) {
			if _, err := c.Connect().Create(path, nil, 0, open); err == zk.ErrNoNode {
				c.Errorf("%v", err)
			}
		}, zktest.Servers(1), zktest.Faults("disconnect"))
	}
}

// TestChecksOfATestHaveSchedulesOfTheirOwn has the second of two fail, twice: the first does not replay what that left,
// nor does the line that is printed have it fail instead of the second.
func TestChecksOfATestHaveSchedulesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		out := runHidden(t, dir, "TestHiddenTwoChecks", "-zksim.seeds", "1-20")
		expect(t, out, "zktest/TestHiddenTwoChecks held in 20 runs", "testdata/zksim/zktest.TestHiddenTwoChecks-2/always-")
		_, file, _ := strings.Cut(out, "-zksim.schedule ")
		file, _, _ = strings.Cut(file, "\n")
		expect(t, runHidden(t, dir, "TestHiddenTwoChecks", "-zksim.schedule", file),
			"zktest/TestHiddenTwoChecks-2: always in ", "is one of scenario zktest/TestHiddenTwoChecks-2, not of zktest/Test")
	}
	list, err := os.ReadDir(filepath.Join(dir, "testdata", "zksim"))
	if len(list) != 1 {
		t.Errorf("%v, %v, expected one folder", list, err)
	}
}

func TestHiddenPart(t *testing.T) {
	once(t, func(*zktest.Cluster) {})
	t.Run("part", func(t *testing.T) { once(t, func(c *zktest.Cluster) { c.Errorf("of the part") }) })
}

// TestAPartOfATestIsCheckedByItsOwnCode has a test with a check before that of its subtest.
func TestAPartOfATestIsCheckedByItsOwnCode(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenPart", "-zksim.seeds", "1"), "TestHiddenPart held in 1 run",
		"TestHiddenPart.part  seed 1  always: of the part")
}
