//go:build unix

package zktest_test

import (
	"log"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

// unanswered runs code that does something when a create has no answer.
func unanswered(t *testing.T, does func(conn *zk.Conn)) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		if _, err := conn.Create("/x", nil, 0, open); err == zk.ErrConnectionClosed {
			does(conn)
		}
	}, zktest.Faults("lose-reply=1@op=create"), zktest.Servers(1))
}

func TestHiddenPanicElsewhere(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		done := make(chan bool)
		go func() { panic("no answer") }()
		<-done
	})
}

func TestHiddenExit(t *testing.T) { unanswered(t, func(*zk.Conn) { os.Exit(0) }) }

func TestHiddenFatal(t *testing.T) { unanswered(t, func(*zk.Conn) { log.Fatal("no answer") }) }

func TestHiddenSaysFatal(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		os.Stderr.WriteString("fatal error: no answer\n")
		os.Exit(1)
	})
}

func TestHiddenTFatal(t *testing.T) { unanswered(t, func(*zk.Conn) { t.Fatal("no answer") }) }

func TestHiddenAddress(t *testing.T) {
	unanswered(t, func(*zk.Conn) { t.Fatalf("no answer to %p", new(int)) })
}

// TestHiddenOuterTError has code with the T of a test that contains the one of the check.
func TestHiddenOuterTError(t *testing.T) {
	t.Run("one server", func(inner *testing.T) {
		unanswered(inner, func(*zk.Conn) { t.Error("no answer") })
	})
}

func TestHiddenKill(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		os.Stderr.WriteString("panic: not meant\n")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
}

func TestHiddenMutexes(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	})
}

func TestHiddenSpin(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		for {
		}
	})
}

func TestHiddenSocket(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			l.Accept()
		}
	})
}

func TestHiddenRace(t *testing.T) {
	unanswered(t, func(conn *zk.Conn) {
		n, done := 0, make(chan bool)
		go func() { n++; conn.Sync("/"); done <- true }()
		n++
		<-done
	})
}

func TestHiddenWait(t *testing.T) {
	unanswered(t, func(conn *zk.Conn) { <-make(chan bool) })
}

func TestHiddenLateMutexes(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		time.Sleep(100 * time.Second) // so that it is while time passes
		var mu sync.Mutex
		mu.Lock()
		mu.Lock()
	})
}

func TestHiddenLateSpin(t *testing.T) {
	unanswered(t, func(*zk.Conn) {
		time.Sleep(100 * time.Second)
		for {
		}
	})
}

func TestHiddenClosedSpin(t *testing.T) {
	unanswered(t, func(conn *zk.Conn) {
		go func() {
			for {
				if _, _, err := conn.Exists("/x"); err == nil { // it fails at once when the connection is closed
					time.Sleep(time.Second)
				}
			}
		}()
	})
}

// TestARunThatEndsItsProcessIsAFinding has code end its process, or wait so that nothing can go on, where a reply is
// lost: each costs one run, is made shorter, and found again from the schedule.
func TestARunThatEndsItsProcessIsAFinding(t *testing.T) {
	for name, want := range map[string]string{ // order-free: tests of their own
		"PanicElsewhere": "panic: no answer, in zktest_test.TestHiddenPanicElsewhere",
		"Exit":           "the code has ended its process with status 0, as os.Exit and log.Fatal do",
		"Fatal":          "the code has ended its process with status 1, as os.Exit and log.Fatal do: 2",
		"SaysFatal":      "the code has ended its process with status 1, as os.Exit and log.Fatal do: fatal error: no answer",
		"TFatal":         "the test fails: death_test.go:52: no answer\n",
		"Address":        "the test fails: death_test.go:55: no answer to 0x",
		"OuterTError":    "the test fails: death_test.go:61: no answer\n",
		"Mutexes":        "a goroutine waits in death_test.go:76 for a mutex that nobody will unlock",
		"LateMutexes":    "a goroutine waits in death_test.go:114 for a mutex that nobody will unlock",
		"Wait":           "a goroutine waits in death_test.go:106 for a channel that nobody will send to",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out := runHidden(t, dir, "TestHidden"+name, "-zksim.seeds", "1-100")
			expect(t, out, want, "seed 12", "lose-reply c1: the request is executed", "2 of 2 identical")
			_, file, _ := strings.Cut(out, "-zksim.schedule ")
			file, _, _ = strings.Cut(file, "\n")
			expect(t, runHidden(t, dir, "TestHidden"+name, "-zksim.schedule", file), want)
		})
	}
}

// TestHiddenExitAfterTalk says much before its runs, and something in each that goes well.
func TestHiddenExitAfterTalk(t *testing.T) {
	hidden(t)
	os.Stderr.WriteString(strings.Repeat("not yet a run\n", 4000))
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		if _, err := conn.Create("/x", nil, 0, open); err == zk.ErrConnectionClosed {
			os.Exit(0)
		}
		os.Stderr.WriteString("answered\n")
	}, zktest.Faults("lose-reply=1@op=create"), zktest.Servers(1))
}

// TestARunHasSaidOnlyWhatItHas has a run that ends its process say nothing, after others that do.
func TestARunHasSaidOnlyWhatItHas(t *testing.T) {
	for range 5 { // else it depends on which of two pipes is read first
		expect(t, runHidden(t, t.TempDir(), "TestHiddenExitAfterTalk", "-zksim.seeds", "1-100"),
			"status 0, as os.Exit and log.Fatal do: it has said nothing\n", "seed 12", "2 of 2 identical")
	}
}

func TestAProcessThatTheSystemKillsIsNoVerdict(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestHiddenKill", "-zksim.seeds", "1-30")
	expect(t, out, "seed 12: the system has killed the process of the run (signal: killed), as when memory runs out")
}

func TestARaceIsAFinding(t *testing.T) {
	if !raced {
		t.Skip("without -race")
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenRace", "-zksim.seeds", "1-30"), "data race: ",
		"zksim/scenarios/zktest_test.TestHiddenRace")
}

// TestCodeThatDoesNotComeToRestIsAFinding takes half a minute, and more on a busy machine.
func TestCodeThatDoesNotComeToRestIsAFinding(t *testing.T) {
	if os.Getenv("ZKTEST_LONG") == "" {
		t.Skip("without ZKTEST_LONG")
	}
	const spins = ": it spins"                   // it depends on what else goes on which limit comes first
	for name, want := range map[string][]string{ // order-free: tests of their own
		"Spin":       {spins, "a goroutine goes on in zktest_test.TestHiddenSpin"},
		"LateSpin":   {spins, "a goroutine goes on in zktest_test.TestHiddenLateSpin"},
		"ClosedSpin": {spins, "called by zktest_test.TestHiddenClosedSpin"},
		"Socket":     {"for 30 s: it spins, or waits for something", "for a file or a socket (net.(*netFD).accept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := runHidden(t, t.TempDir(), "TestHidden"+name, "-zksim.seeds", "1-30")
			expect(t, out, append(want, "not made shorter")...)
		})
	}
}

// TestTimeThatIsUpIsSaid has a test end before go test ends its process.
func TestTimeThatIsUpIsSaid(t *testing.T) {
	out := runHidden(t, t.TempDir(), "TestOurLockHoldsOnRealConnections", "-zksim.seeds", "1-10000000",
		"-test.timeout", "8s")
	expect(t, out, "the time was up before all was done, after ")
}

func TestHiddenSlow(t *testing.T) {
	hidden(t)
	spent := 0
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		unanswered := false
		for range 12 {
			_, err := conn.Create("/x", nil, 0, open)
			unanswered = unanswered || err == zk.ErrConnectionClosed
			for range 50_000_000 { // processor time
				spent++
			}
		}
		if unanswered {
			c.Errorf("it was not answered, %v", spent > 0)
		}
	}, zktest.Faults("disconnect=4"), zktest.Servers(1))
}

// TestASlowRunIsToldBeforeTimeIsUp has a run whose steps cannot be made fewer in the time that the test has. It takes
// some seconds of processor time.
func TestASlowRunIsToldBeforeTimeIsUp(t *testing.T) {
	if os.Getenv("ZKTEST_LONG") == "" {
		t.Skip("without ZKTEST_LONG")
	}
	out := runHidden(t, t.TempDir(), "TestHiddenSlow", "-zksim.seeds", "7", "-test.timeout", "20s")
	expect(t, out, "always: it was not answered", "given up after ", "as time is short", "reproduce  go test ")
}

// TestNothingIsLeftRunning kills a test whose code spins.
func TestNothingIsLeftRunning(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("without /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestHiddenSpin$", "-zksim.seeds", "6")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "ZKTEST_HIDDEN=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var children []string
	for len(children) == 0 {
		time.Sleep(time.Millisecond)
		children = childrenOf(cmd.Process.Pid)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, id := range children {
		for _, err := os.Stat("/proc/" + id); err == nil; _, err = os.Stat("/proc/" + id) {
			time.Sleep(time.Millisecond)
		}
	}
}

// childrenOf returns the processes that one has started.
func childrenOf(process int) (list []string) {
	dir := "/proc/" + strconv.Itoa(process) + "/task/"
	tasks, _ := os.ReadDir(dir)
	for _, x := range tasks {
		b, _ := os.ReadFile(dir + x.Name() + "/children")
		list = append(list, strings.Fields(string(b))...)
	}
	return list
}
