package zktest_test

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"

	"zksim/scenarios"
	"zksim/scenarios/zktest"
)

// What packages have as variables, which are made before any run.
var (
	results = make(chan error)
	slots   = make(chan struct{}, 1)
	ongoing sync.WaitGroup
)

// variables asks from goroutines that wait for one another by these.
func variables(c *zktest.Cluster) {
	conn := c.Connect()
	for range 3 {
		ongoing.Go(func() {
			slots <- struct{}{}
			_, _, err := conn.Exists("/x")
			<-slots
			results <- err
		})
	}
	for range 3 {
		<-results
	}
	ongoing.Wait()
}

func TestHiddenVariables(t *testing.T) {
	hidden(t)
	zktest.Run(t, variables)
}

// TestCodeMayWaitForWhatWasMadeOutside has code wait for variables of its package, for which the bubble of a run cannot
// come to rest on the toolchain as it is: the test says so at once, and runs it with the overlay.
func TestCodeMayWaitForWhatWasMadeOutside(t *testing.T) {
	if zktest.Exact {
		zktest.Run(t, variables)
		return
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenVariables"), "nothing is known of the run: a goroutine waits for a "+
		"channel or a WaitGroup that was made outside of the function", "simrun test", "variables_test.go:")
}

// TestCodeMayAskForSignals has code do what services do, in each run of a process: a thread of the runtime, which is in
// no bubble, answers that.
func TestCodeMayAskForSignals(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP)
		defer stop()
		if c.Connect().Exists("/x"); ctx.Err() != nil {
			c.Errorf("nobody has sent one: %v", ctx.Err())
		}
	})
}

// TestCodeMayUseTheContextOfTheTest has code derive contexts from that of its test, which makes its channel when it is
// asked for it first: not in a run, as the next one would die of it.
func TestCodeMayUseTheContextOfTheTest(t *testing.T) {
	pid, runs := 0, 0
	zktest.JudgedCode(t, func(c *zktest.Cluster) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if runs++; pid != os.Getpid() {
			pid, runs = os.Getpid(), 1
		}
		_, _, err := c.Connect().Exists("/x")
		c.Sometimes("the third run of its process", runs == 3)
		if ctx.Err() != nil {
			c.Errorf("%v", err)
		}
	}, scenarios.Check)
}

// root is a context that makes its channel in the first run.
var root, _ = context.WithCancel(context.Background())

func TestHiddenLazyVariable(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		_, cancel := context.WithCancel(root)
		defer cancel()
		c.Connect().Exists("/x")
	})
}

func TestWhatAnEarlierRunHasMadeIsNoFailureOfTheCode(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLazyVariable"), "nothing is known of the run: it meets a channel or a "+
		"timer of another run", "variables_test.go:")
}

func TestHiddenOutsider(t *testing.T) {
	made, never := make(chan chan int), make(chan int)
	go func() { <-made <- 1 }()
	once(t, func(c *zktest.Cluster) {
		made <- make(chan int)
		<-never
	})
}

// TestAGoroutineOutsideIsNotOfAnotherRun has a goroutine that is in no bubble, as that of package os/signal, send to a
// channel of the run.
func TestAGoroutineOutsideIsNotOfAnotherRun(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenOutsider", "-zksim.seeds", "1"), "nothing is known of the run: a "+
		"goroutine outside of it meets a channel or a timer that was made in it, as that of os/signal")
}

// TestAPanicBetweenRunsIsKept has a process begin to die when the reply of its run is there.
func TestAPanicBetweenRunsIsKept(t *testing.T) {
	for _, x := range []struct{ runs, want []string }{
		{[]string{"a\nfatal error: b\n"}, []string{"fatal error: b\n"}},
		{[]string{"panic: of a log\n", "c\n"}, []string{"panic: of a log\n", ""}},
		{[]string{"panic: of a log\n", "c\npanic: "}, []string{"panic: of a log\n", "panic: "}},
		{[]string{"a panic: b\n"}, []string{""}},
	} {
		if got := zktest.Kept(x.runs...); !slices.Equal(got, x.want) {
			t.Errorf("%q: kept %q, expected %q", x.runs, got, x.want)
		}
	}
}
