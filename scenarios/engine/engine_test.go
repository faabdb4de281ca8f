package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func run(t *testing.T, s engine.Scenario, o engine.Options) engine.Report {
	t.Helper()
	rep, err := engine.Run(context.Background(), &s, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// idle is a program that does next to nothing.
func idle(p *engine.Process) {
	p.Conn.State()
	p.Step()
}

func TestAGoalThatIsNeverReachedMakesTheResultUnknown(t *testing.T) {
	never := engine.Goal{"a blue moon", func(*history.History) bool { return false }}
	at := func(n int) engine.Goal { // true at the n-th history
		var asked atomic.Int64
		return engine.Goal{fmt.Sprint("run ", n), func(*history.History) bool { return int(asked.Add(1)) == n }}
	}
	s := engine.Scenario{Name: "test/goals", Clients: 1, Program: idle, Goals: []engine.Goal{at(1), never, at(20)}}
	rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
	if rep.Status != engine.Inconclusive || !slices.Equal(rep.Missed, []string{"a blue moon"}) ||
		rep.Why != "no run had a blue moon" {
		t.Errorf("%+v", rep)
	}
	s.Goals = []engine.Goal{at(1), at(20)}
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 20}}); rep.Status != engine.Held ||
		len(rep.Missed) > 0 {
		t.Errorf("%+v", rep)
	}
}

type doubtful struct{}

func (doubtful) Name() string { return "doubtful" }
func (doubtful) Doc() string  { return "" }
func (doubtful) Check(h *history.History) checkers.Verdict {
	return checkers.Verdict{Level: checkers.Unknown, Checker: "doubtful", Message: "who knows"}
}

func TestAJudgeThatCannotDecideMakesTheResultUnknown(t *testing.T) {
	s := engine.Scenario{Name: "test/doubt", Clients: 1, Program: idle, Checkers: []checkers.Checker{doubtful{}}}
	for _, workers := range []int{1, 8} {
		if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 3, Last: 40},
			Workers: workers}); rep.Status != engine.Inconclusive || rep.Why != "seed 3: doubtful: who knows" {
			t.Errorf("%+v", rep)
		}
	}
}

func TestAMutantThatGetsAwayHasEscaped(t *testing.T) {
	s := engine.Scenario{Name: "test/harmless", Clients: 1, Program: idle, Checkers: []checkers.Checker{checkers.Steps{}},
		Caught: []string{"steps"}}
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}}); rep.Status != engine.Escaped ||
		rep.Runs != 9 {
		t.Errorf("%+v", rep)
	}
	// Caught by another checker than the named one is not caught.
	s.Program = func(p *engine.Process) { p.Fail(context.Canceled) }
	s.Checkers = append(s.Checkers, checkers.Liveness{})
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}}); rep.Status != engine.Escaped {
		t.Errorf("%+v", rep)
	}
}

func TestARunWithoutASeedProvesNothing(t *testing.T) {
	for _, caught := range [][]string{nil, {"steps"}} {
		s := engine.Scenario{Name: "test/empty", Clients: 1, Program: idle, Caught: caught,
			Checkers: []checkers.Checker{checkers.Steps{}}}
		if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 1}, Shard: 0,
			Shards: 2}); rep.Status != engine.Inconclusive || rep.Why != "no seed was run" {
			t.Errorf("%+v", rep)
		}
	}
}

func TestClientCodeThatBlocksIsAnErrorAndNoHang(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	//zksim:ignore it is to block
	s := engine.Scenario{Name: "test/stuck", Clients: 1, Program: func(p *engine.Process) { <-release }}
	_, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 7, Last: 7}})
	if err == nil || !strings.HasPrefix(err.Error(),
		"test/stuck, seed 7: c1 waits otherwise than by its Conn and Env (chan receive)\n") ||
		!strings.Contains(err.Error(), "engine/engine_test.go:") {
		t.Error(err)
	}
}

// TestCodeThatEndsItsGoroutineIsAnError has a program, and Finally, which may call the Fatal of a test. Nobody can tell
// afterwards which of them it was.
func TestCodeThatEndsItsGoroutineIsAnError(t *testing.T) {
	for name, s := range map[string]engine.Scenario{
		"program": {Program: func(p *engine.Process) { p.Step(); runtime.Goexit() }},
		"finally": {Program: func(p *engine.Process) { p.Step() },
			Finally: func(*history.History) error { runtime.Goexit(); return nil }},
	} {
		s.Name, s.Clients = "test/goexit", 2
		_, err := engine.Run(context.Background(), &s,
			engine.Options{Seeds: engine.Range{First: 7, Last: 90}, Stuck: 5 * time.Second})
		if !errors.Is(err, engine.ErrEnded) || !strings.HasPrefix(err.Error(),
			"test/goexit, seed 7: the program, or what judges it, has ended its goroutine, as ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAProgramThatPanicsIsAViolation(t *testing.T) {
	s := engine.Scenario{Name: "test/panic", Clients: 2, Program: func(p *engine.Process) {
		p.Step()
		if p.ID == 2 {
			panic("oh\nno")
		}
	}}
	rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 5}})
	want := checkers.Verdict{Level: checkers.Violated, Checker: "panic", Message: "oh", Event: -1}
	if rep.Status != engine.Violation || rep.Failure.Verdict != want || rep.Failure.Schedule.Seed != 1 ||
		len(rep.Failure.Schedule.Names) == 0 {
		t.Errorf("%+v", rep)
	}
	r := engine.NewRunner()
	defer r.Close()
	if res, err := r.Replay(&s, rep.Failure.Schedule); err != nil || res.Verdict != want ||
		!strings.Contains(res.History.Panic, "engine_test.go") {
		t.Errorf("replayed: %+v, %v", res, err)
	}
	// The same world is good for other runs.
	s.Program = idle
	if res := r.Seed(&s, 1); res.Verdict.Level != checkers.OK {
		t.Errorf("%+v", res)
	}
}

func TestAProgramWithoutEndHitsTheStepLimit(t *testing.T) {
	s := engine.Scenario{Name: "test/livelock", Clients: 1, MaxSteps: 500, Checkers: []checkers.Checker{checkers.Steps{}},
		Program: func(p *engine.Process) {
			for {
				p.Conn.Exists("/nothing")
			}
		}}
	rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 5}})
	if v := rep.Failure.Verdict; rep.Status != engine.Violation || v.Checker != "steps" || rep.Failure.Steps != 500 ||
		v.Message != "still busy at the step limit: c1 goes on with exists /nothing" {
		t.Errorf("%+v", rep)
	}
}

func TestTheFailureIsThatOfTheLowestSeed(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	first := uint64(0)
	r := engine.NewRunner()
	defer r.Close()
	for seed := uint64(1); first == 0; seed++ {
		if r.Seed(&s, seed).Verdict.Level == checkers.Violated {
			first = seed
		}
	}
	for range 20 {
		if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 500},
			Workers: 8}); rep.Failure.Schedule.Seed != first || rep.Runs != int(first) {
			t.Fatalf("%+v, want seed %d", rep, first)
		}
	}
}

// seedsRun records which seeds a scenario is run with: the order of the UUIDs of a
// world is drawn from its seed.
func seedsRun(t *testing.T, o engine.Options) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := engine.Scenario{Name: "test/seeds", Clients: 1, Program: func(p *engine.Process) {
		id := p.Env.UUID()
		mu.Lock() //zksim:ignore worlds run at once, and the holder does not wait
		defer mu.Unlock()
		all = append(all, id)
	}}
	run(t, s, o)
	slices.Sort(all)
	return all
}

func TestShardsCoverEverySeedOnce(t *testing.T) {
	whole := slices.Compact(seedsRun(t, engine.Options{Seeds: engine.Range{First: 1, Last: 101}}))
	if len(whole) != 101 {
		t.Fatalf("%d different seeds", len(whole))
	}
	var parts []string
	for i := range uint64(4) {
		// the first are run twice
		part := slices.Compact(seedsRun(t, engine.Options{Seeds: engine.Range{First: 1, Last: 101}, Shard: i, Shards: 4}))
		if len(part) < 25 || len(part) > 26 {
			t.Errorf("shard %d has %d seeds", i, len(part))
		}
		parts = append(parts, part...)
	}
	slices.Sort(parts)
	if !slices.Equal(parts, whole) {
		t.Errorf("the shards are not the whole: %d and %d", len(parts), len(whole))
	}
}

func TestTheContextEndsARunEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ran atomic.Int64
	o := engine.Options{Seeds: engine.Range{First: 1, Last: 1 << 62}, Progress: func() {
		if ran.Add(1) == 50 {
			cancel()
		}
	}}
	s := engine.Scenario{Name: "test/endless", Clients: 1, Program: idle, Checkers: []checkers.Checker{checkers.Steps{}}}
	rep, err := engine.Run(ctx, &s, o)
	if err != nil || rep.Status != engine.Held || rep.Runs != int(ran.Load()) || rep.Runs < 50 || rep.Runs > 200 {
		t.Errorf("%+v, %v, %d runs", rep, err, ran.Load())
	}
	if rep, err := engine.Run(ctx, &s, o); err != nil || rep.Status != engine.Inconclusive || rep.Runs != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	s.Caught = []string{"steps"}
	ran.Store(0)
	again, cancelAgain := context.WithCancel(context.Background())
	defer cancelAgain()
	o.Progress = func() {
		if ran.Add(1) == 50 {
			cancelAgain()
		}
	}
	if rep, err := engine.Run(again, &s, o); err != nil || rep.Status != engine.Inconclusive ||
		rep.Why != "not caught before the time was up" {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestAScheduleThatDoesNotFitIsRefusedWithWhatWasPossible(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	s := catalog.Named("lock/lock")
	p := engine.Schedule{Scenario: s.Name, Servers: 1, Names: []string{"run c1", "serve c2"}}
	if _, err := r.Replay(s, p); err == nil || err.Error() != `the schedule does not fit scenario lock/lock: step 2: `+
		`"serve c2" is not possible here; `+
		`possible: connect c1 s1, run c2, connect c2 s1, run c3, connect c3 s1` {
		t.Error(err)
	}
	p.Names = []string{"lose-reply c1"} // not in the plan
	if _, err := r.Replay(s, p); err == nil || !strings.Contains(err.Error(), `step 1: "lose-reply c1" is not possible `+
		`here; possible: run c1,`) {
		t.Error(err)
	}
	whole := r.Seed(s, 1)
	r.Names(&whole)
	p = whole.Schedule
	p.Names = append(p.Names, "run c1")
	if _, err := r.Replay(s, p); err == nil || !strings.HasSuffix(err.Error(), `"run c1" is not possible here; `+
		`possible: nothing, the run is over`) {
		t.Error(err)
	}
}

func TestAForeignScheduleIsRefused(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	p := engine.Schedule{Scenario: "lock/workers", Servers: 1}
	if _, err := r.Replay(catalog.Named("lock/lock"), p); err == nil ||
		err.Error() != "the schedule is one of scenario lock/workers, not of lock/lock" {
		t.Error(err)
	}
}

func TestAPlanForAZnodeThatIsNotThereIsRefused(t *testing.T) {
	s := *catalog.Named("lock/lock")
	s.Faults = faults.MustParse("lose-reply=1 sequence=2@path=/none")
	const want = "fault plan: sequence=2@path=/none: there is no znode /none when lock/lock begins"
	if _, err := engine.Run(context.Background(), &s,
		engine.Options{Seeds: engine.Range{First: 1, Last: 1}}); fmt.Sprint(err) != want {
		t.Error(err)
	}
	r := engine.NewRunner()
	defer r.Close()
	if _, err := r.Replay(&s, engine.Schedule{Scenario: s.Name, Servers: 1, Faults: s.Faults}); fmt.Sprint(err) != want {
		t.Error(err)
	}
	s.Setup = append(s.Setup[:1:1], model.Request{Op: model.OpCreate, Path: "/none",
		ACL: catalog.Named("lock/lock").Setup[0].ACL})
	if _, err := engine.Run(context.Background(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 9}}); err != nil {
		t.Error(err)
	}
}

func TestRangesOfSeeds(t *testing.T) {
	for text, want := range map[string]engine.Range{"0": {0, 0}, "17": {17, 17}, "1-500": {1, 500},
		"9223372036854775807": {1<<63 - 1, 1<<63 - 1}} {
		if got, err := engine.ParseRange(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "1-", "-1", "5-1", "1-2-3", "x", "1..5", " 1", "+1", "9223372036854775808",
		strings.Repeat("9", 200)} {
		if got, err := engine.ParseRange(text); err == nil || len(err.Error()) > 150 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
