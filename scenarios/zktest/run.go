package zktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand"
	"net"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/stacks"
	"zksim/internal/turns"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Option is a setting of [Run].
type Option func(s *scenarios.Scenario) error

// Faults is a plan of faults in the language of package faults. Each run draws a part of it. "contract", the default,
// is every fault that can happen to code outside of the simulator. With any other plan, a rule that can never strike
// makes the test fail: what never happened was not tested. The fault pause, which is not part of contract, stalls the
// connections of a client in both directions until they go on or the faults are over; the client's code goes on.
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
		stalls := func(r faults.Rule) bool { return r.Fault == "pause" && r.Budget > 0 }
		return serve.Servable(slices.DeleteFunc(slices.Clone(p), stalls))
	}
}

// Servers are the sizes of the ensemble, 1 or 3. Each run draws one. The default is both.
func Servers(sizes ...int) Option {
	return func(s *scenarios.Scenario) error {
		if len(sizes) == 0 {
			return errors.New("zktest: no size of the ensemble, expected 1 or 3")
		}
		for _, n := range sizes {
			if n != 1 && n != 3 {
				return fmt.Errorf("zktest: %s, expected 1 or 3", history.Counted(n, "server"))
			}
		}
		s.Servers = sizes
		return nil
	}
}

// Like says what the servers behave like: "zookeeper", which is 3.8.0 and the default, "zookeeper-3.6",
// "zookeeper-3.9", or "keeper", which is ClickHouse Keeper. There a client that connects again gets another session,
// and is not told that it has lost the former one, which goes on until its timeout. See docs/keeper.md and
// docs/releases.md. The flag -zksim.like has precedence.
func Like(server string) Option {
	return func(s *scenarios.Scenario) (err error) {
		if s.Like, err = model.ParseLike(server); err != nil {
			return fmt.Errorf("zktest: %w", err)
		}
		return nil
	}
}

// like returns what the servers of a test behave like, unless -zksim.like says something else.
func like(t testing.TB, server string) model.Like {
	t.Helper()
	l, err := model.ParseLike(cmp.Or(value("zksim.like"), server))
	if err != nil {
		t.Fatalf("zktest: %v", err)
	}
	return l
}

// mostSteps is the highest limit of steps, so that a schedule can record all of them.
const mostSteps = 1 << 20

// Steps limits the steps of a run. A run in which the code has not returned by then fails. The default is 20,000, the
// maximum is 1,048,576. Code that polls takes steps for as long as it polls, which is twenty minutes in
// [Cluster.AtRest]. Faults strike in the first 2,000 steps only, or in the first half of n if that is less.
func Steps(n int) Option {
	return func(s *scenarios.Scenario) error {
		if n < 1 || n > mostSteps {
			return fmt.Errorf("zktest: %d steps, expected 1 to %d", n, mostSteps)
		}
		s.MaxSteps = n
		return nil
	}
}

// Checkers adds checkers that judge each run, besides what the code itself says.
func Checkers(list ...checkers.Checker) Option {
	return func(s *scenarios.Scenario) error { s.Checkers = append(s.Checkers, list...); return nil }
}

// Caught says that the code is broken and which checkers must find that. The test fails if none of them does. The
// checker "always" finds what the code itself says, panics, and code that waits in vain.
func Caught(checkers ...string) Option {
	return func(s *scenarios.Scenario) error { s.Caught = checkers; return nil }
}

// Run runs code that uses *zk.Conn, unmodified, once for each seed, against a simulated ensemble in memory, with
// faults. Each run is in a bubble of testing/synctest, so time passes only when nothing else can happen, or when the
// seed says so. The steps of a schedule are the messages between clients and servers, and the faults. A run that fails
// is shrunk, explained and written to testdata as by [scenarios.Check]; its flags and environment variables apply here
// too.
//
// A run fails if the code says so ([Cluster.Errorf], [Cluster.Always]), panics, or waits when nothing more can happen.
// When code returns, its t.Context is cancelled, and its functions for t.Cleanup are called. Everything that it started
// must then be about to end: goroutines that stay are a failure too. Each check of a test has its own schedules; those
// of the second and later checks are told apart by their number.
//
//	func TestMyService(t *testing.T) {
//		zktest.Run(t, func(c *zktest.Cluster) {
//			a, b := c.Connect(), c.Connect()
//			go serve(a)
//			...
//		})
//	}
//
// With the unmodified toolchain, the turns of goroutines do not come from the seed. Code with simple concurrency goes
// the same way each time. With other code a replay may diverge, and the test says so. With the command simrun test in
// place of go test, which changes the runtime by an overlay, every run repeats. Code must not use real files or
// sockets, cgo, or goroutines that were started outside of it.
//
// Separate processes make the runs, one for each core. They run the test binary up to this call. So a panic in any
// goroutine, os.Exit, a deadlock or code that spins costs one run, and is the result of that run. What code writes to
// variables of the test is lost. What it prints is shown with -v, and when a schedule is replayed. With ZKSIM_INLINE=1
// in the environment this process makes the runs, as for a debugger.
func Run(t *testing.T, code func(c *Cluster), options ...Option) {
	t.Helper()
	nth := count(t)
	check(t, scenario(t, nth, code, options), nth, recorded(cleaned(t, code)), scenarios.Check)
}

// scenario returns the scenario of the n-th check of a test.
func scenario(t testing.TB, nth int, code func(c *Cluster), options []Option) scenarios.Scenario {
	t.Helper()
	refuse("Run, Search or Fuzz")
	if code == nil {
		t.Fatal("zktest: the code is nil, expected what is to be run")
	}
	s := scenarios.Scenario{Name: "zktest/" + word(t.Name()), Doc: "code outside of the simulator", Clients: 1,
		Servers: []int{1, 3}, Faults: serve.Contract()}
	if nth > 1 { // shorter than any hash of a name
		s.Name += fmt.Sprintf("-%d", nth)
	}
	for i, o := range options {
		if o == nil {
			t.Fatalf("zktest: option %d is nil", i+1)
		}
		if err := o(&s); err != nil {
			t.Fatal(err)
		}
	}
	s.Like = like(t, s.Like.String())
	if slices.Equal(s.Faults, serve.Contract()) { // these may happen; code without watches, say, cannot have late ones
		return s.FaultsOptional()
	}
	return s
}

// Bounds are the bounds of a [Search].
type Bounds = scenarios.SearchBounds

// Search is [Run] without seeds. It runs the code under every schedule that differs from a fair one by as many faults
// and delays as the bounds allow, on an ensemble of the first of its sizes. The fair schedule takes messages in turn,
// and lets time pass when nothing else can happen. A delay is a step at which something else happens. Faults and delays
// happen where faults may strike, see [Steps]; if a run is longer, the result says so. The test fails if the bounds are
// not closed after that many runs, or if no run has what [Cluster.Sometimes] says. If faults are allowed and come from
// [Faults], it also fails if no run could meet one of the rules.
func Search(t *testing.T, bounds Bounds, code func(c *Cluster), options ...Option) {
	t.Helper()
	nth := count(t)
	s := scenario(t, nth, code, options)
	check(t, s, nth, recorded(cleaned(t, code)), func(t scenarios.T, s scenarios.Scenario) {
		t.Helper()
		scenarios.Exhaust(t, s, bounds)
	})
}

// check judges a scenario whose program is that code, in processes of their own. It is the n-th check of the test.
func check(
	t *testing.T, s scenarios.Scenario, nth int, code func(c *Cluster), judge func(t scenarios.T, s scenarios.Scenario),
) {
	t.Helper()
	t.Context().Done() // code may use it in each run, so its channel must not be made in the first one
	if t.Context().Err() != nil {
		t.Fatal("zktest: the test is over, expected a call by the test itself and not by a function for t.Cleanup")
	}
	switch mine := childOf; {
	case served.Load():
		t.SkipNow()
	case mine == called(t.Name(), nth):
		child(t, s, code)
		return
	case mine != "": // another check is meant
		return
	case !isolates || os.Getenv(inlineVariable) != "":
		inline(t, s, code, judge)
		return
	case value("test.fuzzworker") == "true":
		t.Fatalf("zktest: the fuzzer runs this input, and processes for runs know those of go test without -fuzz only: "+
			"expected zktest.Fuzz, or %s=1 in the environment", inlineVariable)
	}
	end, _ := t.Deadline()
	ctx, cancel := untilDeadline(t.Context(), end)
	defer cancel()
	defer newProcesses(ctx, &s, t.Name(), nth).close()
	judge(timed{t, ctx}, s)
}

// checks counts the checks of each running test, and knows the package of each test that has run.
var checks struct {
	sync.Mutex
	of       map[string]int
	external map[string]bool // whether it is in the package with _test
}

// count returns the number of this check in its test, from 1 on. It fails if the package and its package with _test
// both have a test of that name: a process for runs would make the runs of the first one for both.
func count(t testing.TB) int {
	t.Helper()
	checks.Lock()
	defer checks.Unlock()
	if checks.of == nil {
		checks.of, checks.external = map[string]int{}, map[string]bool{}
	}
	name, external := t.Name(), externalTest()
	if other, known := checks.external[name]; known && other != external {
		t.Fatalf("zktest: the package has a %s, and so has the one with _test: expected names that differ, by which runs, "+
			"schedules and pages go", name)
	}
	checks.external[name] = external
	if checks.of[name]++; checks.of[name] == 1 {
		t.Cleanup(func() {
			checks.Lock()
			defer checks.Unlock()
			delete(checks.of, name)
		})
	}
	return checks.of[name]
}

// externalTest reports whether its caller is a test of a package with _test.
func externalTest() bool {
	here := stacks.Current()
	return slices.ContainsFunc(here.Frames(), func(f stacks.Frame) bool {
		name, _, _ := strings.Cut(path.Base(f.Func), ".")
		return strings.HasSuffix(name, "_test")
	})
}

// timed is a test whose context is done some time before go test ends the process, so that no result is lost.
type timed struct {
	*testing.T
	ctx context.Context
}

// Context returns that context.
func (t timed) Context() context.Context { return t.ctx }

// margin is the time for reporting what was found and ending processes.
const margin = 3 * time.Second

// untilDeadline returns a context that is done when nine tenths of the test's time are over, or little is left. A zero
// time means no deadline.
func untilDeadline(ctx context.Context, end time.Time) (context.Context, context.CancelFunc) {
	if end.IsZero() {
		return context.WithCancel(ctx)
	}
	left := time.Until(end)
	return context.WithDeadline(ctx, end.Add(-max(left/10, min(margin, left/2))))
}

// inline runs the scenario in this process.
func inline(
	t *testing.T, s scenarios.Scenario, code func(c *Cluster), judge func(t scenarios.T, s scenarios.Scenario),
) {
	t.Helper()
	if parallel(t) {
		t.Fatalf("zktest: this process makes the runs, with %s or outside of Unix: expected a test without t.Parallel",
			inlineVariable)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer outside(t, &s, code)()
	judge(t, s)
}

// outside makes a scenario run the code in this process, until the returned function is called.
func outside(t *testing.T, s *scenarios.Scenario, code func(c *Cluster)) (end func()) {
	runs, steps := 0, &atomic.Int64{}
	s.Outside = func(w *sim.World, run func() error) error {
		if runs++; runs%collectEvery == 0 {
			runtime.GC()
		}
		defer contextKept(t)() // the check asks for it between runs, to shrink one
		return bubble(t, w, steps, code, run)
	}
	t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",randseednop=0") // so that rand.Seed seeds
	percent := debug.SetGCPercent(-1)
	if turns.Exact {
		warmUp(s)
	}
	return func() { debug.SetGCPercent(percent) }
}

// warmUp makes a run that does not count. What a process makes lazily, on first use, may draw random numbers, which
// later runs would draw for something else. It is one of the runs that are asked for: what code says to the test, or
// ends its process for, counts even in this one. An error will show up again.
func warmUp(s *scenarios.Scenario) {
	if file := value("zksim.schedule"); file != "" {
		scenarios.Replay(*s, file)
		return
	}
	seeds, err := engine.ParseRange(value("zksim.seeds"))
	if err != nil {
		seeds.First = 1
	}
	r := engine.NewRunner()
	defer r.Close()
	r.Seed(s, seeds.First)
}

// collectEvery is the number of runs between garbage collections. Garbage must not be collected during a run.
const collectEvery = 8

// word turns the name of a test into the name of a scenario. If the name has characters other than letters, digits, _
// and /, a hash follows, so that no two tests share schedules and pages.
func word(name string) string {
	b, plain := []byte(name), true
	for i, x := range b {
		switch {
		case 'a' <= x && x <= 'z' || 'A' <= x && x <= 'Z' || '0' <= x && x <= '9' || x == '_':
		case x == '/':
			b[i] = '.'
		default:
			b[i], plain = '-', false
		}
	}
	if plain {
		return string(b)
	}
	return fmt.Sprintf("%s-%08x", b, crc32.ChecksumIEEE([]byte(name)))
}

// stuck is how many seconds of real time the code may take to come to rest.
const stuck = 30

// running says whether this process is making a run.
var running atomic.Bool

// refuse panics during a run: another bubble or real sockets cannot wait for anything in the bubble of the run.
func refuse(what string) {
	if running.Load() {
		panic("zktest: " + what + " in the code of a run, which has an ensemble of its own: c.Connect, c.Dialer")
	}
}

// asked makes package net create the channel of its resolver, which it does at the first lookup. If it were made in the
// bubble of one run, the next run could not use it.
var asked = sync.OnceFunc(func() { net.LookupHost("localhost") })

// bubble makes one run.
func bubble(t *testing.T, w *sim.World, steps *atomic.Int64, code func(c *Cluster), run func() error) (err error) {
	asked()
	running.Store(true)
	defer running.Store(false)
	cryptotest.SetGlobalRandom(t, w.Order)
	rand.Seed(int64(w.Order)) // for the functions of package rand; only code uses them
	ended := false
	defer func() {
		// The panic may be about goroutines that stay, which include those of the client library.
		if r := recover(); !ended && err == nil {
			err = fmt.Errorf("zktest: the run has come to no end: %v", r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(sim.Epoch)) // bubbles begin in 2000; the clocks of code and servers must agree
		turns.Seed(w.Order)
		c := &Cluster{world: w, begin: time.Now(), level: slices.Repeat([]time.Time{time.Now()}, len(w.Stores())),
			kept: time.Now(), poke: make(chan struct{}, 1), steps: steps}
		c.host = &host{Draws: engine.Draws{Seed: w.Order}, c: c}
		w.SetOutside(driver{c})
		err = c.run(code, run)
		ended = true
	})
	return err
}
