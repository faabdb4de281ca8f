package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// certify searches to the end.
func certify(t testing.TB, sc Scope, o Options) Result {
	t.Helper()
	o.States = cmp.Or(o.States, 10_000_000)
	r, err := Prove(t.Context(), sc, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// about is a scope of a scenario of the list.
func about(t testing.TB, name, text string, most int) Scope {
	s := small(t, name)
	return Scope{Scenario: s, Servers: smallest(s), Order: 1, Faults: plan(t, text), Most: most}
}

func TestCertificatesAreTheSameHoweverTheSearchIsDone(t *testing.T) {
	for _, sc := range []Scope{
		about(t, "lock/lock", "disconnect=1", -1),
		about(t, "queue/queue", "", 0),
		about(t, "lock/single-node", "disconnect=1 expire=1", 1),
		tinies[0].scope(t),
	} {
		for _, r := range []Reductions{Every, {}} {
			if r != Every && sc.Scenario.Name != "tiny/race" {
				continue
			}
			first := certify(t, sc, Options{Reductions: r, Workers: 1}).Certificate
			if first.Outcome != Holds || len(first.Levels) == 0 {
				t.Fatalf("%+v", first)
			}
			for _, o := range []Options{{Workers: 2}, {Workers: 4}, {Workers: 2, Reverse: true}, {Workers: 1, Reverse: true}} {
				o.Reductions = r
				c := certify(t, sc, o).Certificate
				if why := first.Differs(&c); why != "" || !slices.Equal(first.Levels, c.Levels) {
					t.Errorf("%s with %+v: %s\n%v\n%v", sc.Scenario.Name, o, why, first.Levels, c.Levels)
				}
			}
		}
	}
}

// interrupted searches in small pieces, each stopped at a random moment.
func interrupted(t testing.TB, sc Scope, o Options, random *rand.Rand, most time.Duration) (Result, int) {
	t.Helper()
	for n := 1; ; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(most))))
		o.Workers = 1 + random.IntN(4)
		o.Every = time.Duration(random.Int64N(int64(50 * time.Millisecond)))
		r, err := Prove(ctx, sc, o)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != Inconclusive {
			return r, n
		}
		if _, err := os.Stat(o.Checkpoint); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnInterruptedSearchComesToTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	times := 6
	if testing.Short() {
		times = 2
	}
	for _, x := range []struct {
		sc   Scope
		most time.Duration
	}{
		{about(t, "lock/lock", "disconnect=1", -1), 400 * time.Millisecond},
		{about(t, "queue/turns", "", -1), 100 * time.Millisecond},
		{about(t, "lock/plain-create", "lose-reply=2", -1), 100 * time.Millisecond},
	} {
		want := certify(t, x.sc, Options{Reductions: Every}).Certificate
		pieces := 0
		for range times {
			o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
			r, n := interrupted(t, x.sc, o, random, x.most)
			pieces += n
			if why := want.Differs(&r.Certificate); why != "" || !slices.Equal(want.Levels, r.Levels) {
				t.Errorf("%s after %d pieces: %s\n%+v\n%+v", x.sc.Scenario.Name, n, why, want.Levels, r.Levels)
			}
			if _, err := os.Stat(o.Checkpoint); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the checkpoint of a search that is over is still there", x.sc.Scenario.Name)
			}
		}
		t.Logf("%s: %d pieces", x.sc.Scenario.Name, pieces)
	}
}

// The end of a run that a monitor cuts short is no end.
func TestAViolationIsThatOfTheMonitorThatFoundIt(t *testing.T) {
	sc := about(t, "lock/name-sort", "", -1)
	sc.Scenario.Checkers, sc.Scenario.Caught = []checkers.Checker{checkers.Quiescence{}, checkers.Liveness{},
		checkers.Tree{}, checkers.Ownership{}}, nil
	if r := certify(t, sc, Options{Reductions: Every}); r.Outcome != Violated || r.Checker != "ownership" {
		t.Errorf("%+v", r.Certificate)
	}
	sc.Scenario.Caught = []string{"tree", "quiescence", "liveness"}
	for _, r := range []Reductions{{}, Every} {
		if c := certify(t, sc, Options{Reductions: r}).Certificate; c.Outcome != Holds {
			t.Errorf("%+v: %+v", r, c)
		}
	}
}

func TestBrokenRecipesAreRefutedWithTheFewestFaults(t *testing.T) {
	for _, x := range []struct {
		name, faults string
		struck       int
	}{
		{"lock/plain-create", "lose-reply=2", 1},
		{"lock/ignore-exists", "", 0},
		{"lock/name-sort", "disconnect=2", 0},
		{"lock/leak-on-error", "lose-request=1@op=children", 1},
		{"lock/keep-held", "lose-request=1@op=delete", 1},
		{"lock/cancel-leak", "cancel=2 lose-reply=2", 2},
		{"lock/watch-only", "disconnect=2 expire=2 learn-late=2", 1},
		{"lock/wedged", "disconnect=2 expire=1", 1},
		{"lock/same-session", "", 0},
		{"queue/blind-wait", "", 0},
		{"queue/guid-sort", "", 0},
		{"queue/put-twice", "lose-reply=2", 1},
		{"queue/delete-lost", "lose-reply=3", 1},
		{"semaphore/leaked-lease", "lose-reply=2@op=create,path=/sem/leases", 1},
	} {
		sc := about(t, x.name, x.faults, -1)
		r := certify(t, sc, Options{Reductions: Every})
		if r.Outcome != Violated || r.Struck != x.struck || len(r.Levels) != x.struck ||
			!slices.Contains(sc.Scenario.Caught, r.Checker) {
			t.Errorf("%s: %v", x.name, &r.Certificate)
			continue
		}
		runner := engine.NewRunner()
		again, err := runner.Replay(sc.Scenario, r.Counterexample.Schedule)
		if err != nil || again.Verdict.Checker != r.Checker {
			t.Errorf("%s: the schedule comes to %+v, %v; expected %s: %s", x.name, again.Verdict, err, r.Checker, r.Message)
		}
		runner.Close()
	}
}

func TestLimitsAreInconclusiveAndSayHowFar(t *testing.T) {
	sc := about(t, "queue/claims", "disconnect=2 expire=1", -1)
	var seen []Progress
	for limit := 300 * time.Millisecond; len(seen) == 0; limit *= 4 { // a busy machine needs more to say anything
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		var mu sync.Mutex
		began := time.Now()
		r, err := Prove(ctx, sc, Options{Reductions: Every, Progress: func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, p)
		}})
		cancel()
		if err != nil || r.Outcome != Inconclusive || !strings.HasPrefix(r.Why, "the time is up with at most ") ||
			!strings.Contains(r.Why, "; frontier ") {
			t.Fatalf("%+v, %v", r.Certificate, err)
		}
		if d := time.Since(began); d > limit+10*time.Second {
			t.Errorf("a limit of %v took %v", limit, d)
		}
	}
	if seen[0].States == 0 || seen[0].Transitions == 0 || seen[0].Deepest == 0 {
		t.Errorf("progress %+v", seen)
	}
	r, err := Prove(t.Context(), sc, Options{Reductions: Every, Memory: 1})
	if err != nil || r.Outcome != Inconclusive || !strings.HasPrefix(r.Why, "the memory is up, ") {
		t.Errorf("%+v, %v", r.Certificate, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r, err = Prove(gone, sc, Options{Reductions: Every})
	if err != nil || r.Outcome != Inconclusive || !strings.HasPrefix(r.Why, "interrupted ") {
		t.Errorf("%+v, %v", r.Certificate, err)
	}
}

// rude is a scope of a program that misbehaves.
func rude(program func(p *engine.Process)) Scope {
	s := engine.Scenario{Name: "tiny/rude", Clients: 2, Program: program,
		Checkers: []checkers.Checker{checkers.Liveness{}}}
	return Scope{Scenario: &s, Servers: 1, Order: 1, Most: -1}
}

func TestClientCodeThatMisbehaves(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, x := range []struct {
		name      string
		program   func(p *engine.Process)
		err, text string
		endless   bool
	}{
		{"panics", func(p *engine.Process) { panic("oops") }, "",
			"violated: tiny/rude with 2 clients, servers 1, faults none, at most 0, all reductions: panic: oops", false},
		//zksim:ignore it is to block
		{"blocks", func(p *engine.Process) { <-release }, "tiny/rude, seed 1: c", "", false},
		//zksim:ignore it is to wait
		{"waits", func(p *engine.Process) { p.Step(); time.Sleep(time.Millisecond) },
			" waits otherwise than by its Conn and Env (sleep)", "", false},
		{"calculates", func(p *engine.Process) {
			for {
				select {
				case <-release:
					return
				default:
				}
			}
		}, " has kept control for 1s without a call of its Conn or Env", "", false},
		{"exits", func(p *engine.Process) {
			p.Conn.Exists("/")
			runtime.Goexit()
		}, "has ended its goroutine", "", false},
		{"spins and lets others move", func(p *engine.Process) {
			for {
				p.Step()
			}
		}, "", "inconclusive: ", true},
		{"spins", func(p *engine.Process) {
			for {
				p.Conn.State()
			}
		}, "", "a schedule goes on for more than 10000 steps", false},
	} {
		for _, o := range []Options{{}, {Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
			Every: 200 * time.Millisecond}} {
			o.Reductions, o.Stuck, o.Workers = Every, time.Second, 2
			limit := time.Minute
			if x.endless {
				limit = 2 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			began := time.Now()
			r, err := Prove(ctx, rude(x.program), o)
			cancel()
			if d := time.Since(began); d > limit+20*time.Second {
				t.Errorf("%s: took %v", x.name, d)
			}
			if x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)) || x.err == "" &&
				(err != nil || !strings.Contains(r.String(), x.text)) {
				t.Errorf("%s: %v, %v", x.name, &r.Certificate, err)
			}
		}
	}
}

func TestScopesThatMakeNoSense(t *testing.T) {
	sc := rude(func(p *engine.Process) {})
	sc.Servers = 2
	if _, err := Prove(t.Context(), sc, Options{}); err == nil || !strings.Contains(err.Error(), "1 or 3, not 2") {
		t.Error(err)
	}
	sc.Servers, sc.Order = 1, sim.FirstDrawn
	if _, err := Prove(t.Context(), sc, Options{}); err == nil || err.Error() != "the order is a number from 1 to 15, "+
		"not 16" {
		t.Error(err)
	}
	sc.Order = sim.FirstDrawn - 1
	sc.Faults = plan(t, "sequence=1@path=/none")
	if _, err := Prove(t.Context(), sc, Options{}); err == nil {
		t.Error("no error")
	}
}

// TestASearchStopsAtANumberOfStates gives a search as many states as it needs, and half
// of them, twice the same; what is left is in the checkpoint.
func TestASearchStopsAtANumberOfStates(t *testing.T) {
	sc := about(t, "lock/single-node", "disconnect=1", 1)
	whole := certify(t, sc, Options{Reductions: Every, Workers: 1})
	need := whole.Levels[1].States
	o := Options{Reductions: Every, Workers: 1, States: need, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	if r := certify(t, sc, o); r.Outcome != Holds || !slices.Equal(r.Levels, whole.Levels) {
		t.Errorf("%d states do not do: %+v", need, r.Certificate)
	}
	o.States = need / 2
	half := certify(t, sc, o)
	var states int
	fmt.Sscanf(half.Why, "the number of states is reached with at most 1 fault after %d states", &states)
	if half.Outcome != Inconclusive || len(half.Levels) != 1 || states <= need/2 || states > need/2+100 {
		t.Errorf("%+v", half.Certificate)
	}
	if again := certify(t, sc, Options{Reductions: Every, Workers: 1, States: need / 2}); again.Why != half.Why {
		t.Errorf("%s, and %s", half.Why, again.Why)
	}
	o.States = 0
	if r := certify(t, sc, o); r.Outcome != Holds || !slices.Equal(r.Levels, whole.Levels) {
		t.Errorf("resumed: %+v, want %+v", r.Certificate, whole.Certificate)
	}
}

// TestASearchStopsAtANumberOfSteps gives a search half of the steps that code makes in it, twice the same, and all.
func TestASearchStopsAtANumberOfSteps(t *testing.T) {
	sc := about(t, "lock/single-node", "disconnect=1", 1)
	whole := certify(t, sc, Options{Reductions: Every, Workers: 1})
	steps := 64
	o := Options{Reductions: Every, Workers: 1, Steps: steps}
	for ; certify(t, sc, o).Outcome != Holds; o.Steps *= 2 {
	}
	if r := certify(t, sc, o); !slices.Equal(r.Levels, whole.Levels) || o.Steps == steps {
		t.Errorf("with %d steps %+v", o.Steps, r.Certificate)
	}
	o.Steps /= 4
	less := certify(t, sc, o)
	if less.Outcome != Inconclusive || !strings.HasPrefix(less.Why, "the number of steps is reached with at most ") {
		t.Errorf("%+v", less.Certificate)
	}
	if again := certify(t, sc, o); again.Why != less.Why {
		t.Errorf("%s, and %s", less.Why, again.Why)
	}
	o.Workers = 3
	if r := certify(t, sc, o); r.Why != less.Why {
		t.Errorf("with three workers %s, with one %s", r.Why, less.Why)
	}
}

func TestAViolationIsTheSameEachTime(t *testing.T) {
	sc := about(t, "lock/plain-create", "lose-reply=1", -1)
	var first []string
	for range 10 {
		r, err := Prove(t.Context(), sc, Options{Reductions: Every, Workers: 4})
		if err != nil || r.Outcome != Violated {
			t.Fatalf("%v, %v", &r.Certificate, err)
		}
		if first == nil {
			first = r.Schedule
		}
		if !slices.Equal(r.Schedule, first) {
			t.Fatalf("another schedule:\n%v\n%v", r.Schedule, first)
		}
	}
}

// TestASearchHasNoMoreWorkersThanSeedsHave: each takes memory, and with so many that they are not made in time a search
// would take longer than it may.
func TestASearchHasNoMoreWorkersThanSeedsHave(t *testing.T) {
	for asked, want := range map[int]int{0: runtime.GOMAXPROCS(0), 7: 7, 1_000_000: engine.MaxWorkers} {
		if o := (Options{Workers: asked}); o.workers() != want {
			t.Errorf("%d of %d", o.workers(), asked)
		}
	}
}
