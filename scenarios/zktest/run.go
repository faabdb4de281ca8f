package zktest

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/stacks"
	"zksim/scenarios"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Option is a setting of [Run].
type Option func(s *scenarios.Scenario) error

// Faults is what goes wrong, a plan in the language of package faults; each run draws a part of it. "contract" is every
// fault that can happen to code outside of the simulator, as without this option.
func Faults(plan string) Option {
	return func(s *scenarios.Scenario) error {
		if plan == contract {
			s.Faults = serve.Contract()
			return nil
		}
		p, err := faults.Parse(plan)
		if err != nil {
			return err
		}
		s.Faults = p
		return serve.Servable(p)
	}
}

// Servers are the sizes of the ensemble, 1 or 3; each run draws one. Without this option it is 1 or 3.
func Servers(sizes ...int) Option {
	return func(s *scenarios.Scenario) error {
		for _, n := range sizes {
			if n != 1 && n != 3 {
				return fmt.Errorf("zktest: %d servers, expected 1 or 3", n)
			}
		}
		s.Servers = sizes
		return nil
	}
}

// Checkers judge each run besides what the code itself says.
func Checkers(list ...checkers.Checker) Option {
	return func(s *scenarios.Scenario) error { s.Checkers = append(s.Checkers, list...); return nil }
}

// Caught says that the code is broken, and which checkers are to find that: the test fails if none of them does.
// "always" is that of what the code itself says, of panics and of code that waits in vain.
func Caught(checkers ...string) Option {
	return func(s *scenarios.Scenario) error { s.Caught = checkers; return nil }
}

// Run runs code that uses *zk.Conn, as it is, once for each seed, against a simulated ensemble in memory, with faults:
// in a bubble of testing/synctest, so that time passes only when nothing else can happen, or when the seed says so.
// What is on its way between clients and servers, and the faults, are the steps of a schedule. A run that fails is
// shrunk, explained and written to testdata as [scenarios.Check] does, whose flags and environment variables it has.
//
// A run fails if the code says so ([Cluster.Errorf], [Cluster.Always]), panics, or waits when nothing more can happen.
// When code returns, all that it has started must be about to end: goroutines that stay are a failure, too.
//
//	func TestMyService(t *testing.T) {
//		zktest.Run(t, func(c *zktest.Cluster) {
//			a, b := c.Connect(), c.Connect()
//			go serve(a)
//			...
//		})
//	}
//
// On the toolchain as it is, the turns of goroutines are not part of the schedule. Code that is simple in that respect
// goes the same way each time; with other code a replay may part from what it replays, and the test says so. Code must
// not use real files or sockets, cgo, or goroutines that were started outside of it. While Run works, the process has
// one processor (GOMAXPROCS), so it must not be called in parallel with others.
func Run(t *testing.T, code func(c *Cluster), options ...Option) {
	t.Helper()
	s := scenarios.Scenario{Name: "zktest/" + word(t.Name()), Doc: "code outside of the simulator", Clients: 1,
		Servers: []int{1, 3}, Faults: serve.Contract()}
	for _, o := range options {
		if err := o(&s); err != nil {
			t.Fatal(err)
		}
	}
	check(t, s, code)
}

// check runs a scenario whose program is that code.
func check(t *testing.T, s scenarios.Scenario, code func(c *Cluster)) {
	t.Helper()
	runs, turns := 0, &atomic.Int64{}
	done := make(chan struct{})
	defer close(done)
	go watch(turns, done)
	s.Outside = func(w *sim.World, run func() error) error {
		if runs++; runs%collectEvery == 0 {
			runtime.GC()
		}
		return bubble(t, w, turns, code, run)
	}
	t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",randseednop=0") // so that rand.Seed seeds
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	scenarios.Check(t, s)
}

// collectEvery is after how many runs memory is collected, which must not happen during one.
const collectEvery = 64

// word makes the name of a scenario of that of a test.
func word(name string) string {
	b := []byte(name)
	for i, x := range b {
		if !('a' <= x && x <= 'z' || 'A' <= x && x <= 'Z' || '0' <= x && x <= '9') {
			b[i] = '-'
		}
	}
	return string(b)
}

// stuck is how many seconds, of the machine's clock, code may take until it comes to rest.
const stuck = 30

// watch ends the process if code does not come to rest, as one that spins, since nothing else can end such code.
func watch(turns *atomic.Int64, done <-chan struct{}) {
	last, seconds := int64(0), 0
	for {
		select {
		case <-time.After(time.Second):
		case <-done:
			return
		}
		now := turns.Load()
		if seconds++; now != last || now%2 == 0 {
			last, seconds = now, 0
		}
		if seconds < stuck {
			continue
		}
		var text strings.Builder
		var d stacks.Dump
		d.Each(func(g stacks.Goroutine) bool {
			if frames := foreign(g.Frames()); g.Bubble != "" && len(frames) > 0 {
				fmt.Fprintf(&text, "\n%s: %s", g.State, calls(frames))
			}
			return true
		})
		panic(fmt.Sprintf("zktest: code has not come to rest for %d s: it spins, or waits for something outside of the "+
			"bubble:%s", stuck, &text))
	}
}

// bubble makes one run.
func bubble(t *testing.T, w *sim.World, turns *atomic.Int64, code func(c *Cluster), run func() error) (err error) {
	cryptotest.SetGlobalRandom(t, w.Order)
	rand.Seed(int64(w.Order))    // what code draws by package functions; nobody else has a use for it
	defer func() { recover() }() // the panic about goroutines that stay, those of the client library among them
	synctest.Test(t, func(t *testing.T) {
		c := &Cluster{world: w, servers: len(w.Stores()), begin: time.Now(),
			poke: make(chan struct{}, 1), turns: turns}
		w.SetOutside(c)
		err = c.run(code, run)
	})
	return err
}
