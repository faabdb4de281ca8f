package zktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/scenarios/zktest"
)

func TestHiddenAlwaysChannel(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		ch := make(chan bool)
		c.Always("it is there", func() bool { return <-ch })
		time.Sleep(time.Second)
	})
}

func TestHiddenAlwaysSleeps(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		c.Always("it is there", func() bool { time.Sleep(1); return true })
		time.Sleep(time.Second)
	})
}

func TestHiddenAlwaysMutex(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		var mu sync.Mutex
		mu.Lock()
		c.Always("it is there", func() bool { mu.Lock(); defer mu.Unlock(); return true })
		c.Connect().Exists("/x")
		mu.Unlock()
	}, zktest.Faults(""), zktest.Servers(1))
}

func TestHiddenAlwaysSkips(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		c.Always("it is there", func() bool { t.Skip(); return true })
		time.Sleep(time.Second)
	})
}

func TestHiddenAlwaysNil(t *testing.T) {
	once(t, func(c *zktest.Cluster) { c.Always("it is there", nil) })
}

func TestHiddenAlwaysWordless(t *testing.T) {
	once(t, func(c *zktest.Cluster) { c.Always("", func() bool { return true }) })
}

func TestHiddenAlwaysSometimes(t *testing.T) {
	once(t, func(c *zktest.Cluster) { c.Sometimes("", true) })
}

// TestAPromiseIsAskedByAFunctionThatReturns has functions that do not. One that waits for a channel ended the run as if
// it held, others took the time of the test.
func TestAPromiseIsAskedByAFunctionThatReturns(t *testing.T) {
	const waits = `"it is there" is asked by a function that waits, as for an answer: nobody is served meanwhile`
	mutex := "nothing can go on: what Always asks: a goroutine waits in always_test.go:"
	if zktest.Exact {
		mutex = waits
	}
	for name, want := range map[string]string{ // order-free: tests of their own
		"Channel":   waits,
		"Sleeps":    waits,
		"Mutex":     mutex,
		"Skips":     `"it is there" is asked by a function that ends its goroutine, as t.Fatal and t.Skip do`,
		"Nil":       `Always("it is there", ...), expected a sentence, and a function that says whether it holds`,
		"Wordless":  `Always("", ...), expected a sentence, and a function that says whether it holds`,
		"Sometimes": `Sometimes("", ...), expected a sentence that says what must hold`,
	} {
		t.Run(name, func(t *testing.T) {
			schedule := filepath.Join(t.TempDir(), "schedule.txt") // a replay is not shrunk, which takes long for the mutex
			text := "zksim schedule 1\nscenario zktest/TestHiddenAlways" + name + "\norder 0x1\nfaults none\n"
			if err := os.WriteFile(schedule, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			expect(t, runHidden(t, t.TempDir(), "TestHiddenAlways"+name, "-zksim.schedule", schedule), want)
		})
	}
}

// TestCodeMayEndWhileItClosesAConnection has the run end when a call of Close has not returned.
func TestCodeMayEndWhileItClosesAConnection(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		conn.Exists("/x")
		go conn.Close()
	})
}

func TestARunThatComesToNoEndIsAnError(t *testing.T) {
	if err := zktest.Endless(t); err == nil || !strings.Contains(err.Error(), "the run has come to no end: ") {
		t.Error(err)
	}
}

func TestHiddenReadAndSlept(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		n := 0
		c.Always("few", func() bool { return n < 2 })
		n++
		c.Connect().Exists("/")
		time.Sleep(time.Second)
		n--
	}, zktest.Servers(1))
}

// TestARaceWithAlwaysIsToldAfterASleep is what the docs say of that, and why they ask for an atomic variable.
func TestARaceWithAlwaysIsToldAfterASleep(t *testing.T) {
	if !raced {
		t.Skip("built without -race")
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenReadAndSlept", "-zksim.seeds", "1-2"), "always: data race: write in ")
}
