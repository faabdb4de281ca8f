package scenarios

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
)

func run(t *testing.T, s Scenario, o Options) Report {
	t.Helper()
	rep, err := Run(context.Background(), &s, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// idle is a program that does next to nothing.
func idle(p *Process) { p.Step() }

func TestAGoalThatIsNeverReachedMakesTheResultUnknown(t *testing.T) {
	never := Goal{"a blue moon", func(*history.History) bool { return false }}
	at := func(n int) Goal { // true at the n-th history
		var asked atomic.Int64
		return Goal{fmt.Sprint("run ", n), func(*history.History) bool { return int(asked.Add(1)) == n }}
	}
	s := Scenario{Name: "test/goals", Clients: 1, Program: idle, Goals: []Goal{at(1), never, at(20)}}
	rep := run(t, s, Options{Seeds: Range{1, 20}})
	if rep.Status != Inconclusive || !slices.Equal(rep.Missed, []string{"a blue moon"}) || rep.Why != "no run had a blue moon" {
		t.Errorf("%+v", rep)
	}
	s.Goals = []Goal{at(1), at(20)}
	if rep := run(t, s, Options{Seeds: Range{1, 20}}); rep.Status != Held || len(rep.Missed) > 0 {
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
	s := Scenario{Name: "test/doubt", Clients: 1, Program: idle, Checkers: []checkers.Checker{doubtful{}}}
	for _, workers := range []int{1, 8} {
		if rep := run(t, s, Options{Seeds: Range{3, 40}, Workers: workers}); rep.Status != Inconclusive || rep.Why != "seed 3: who knows" {
			t.Errorf("%+v", rep)
		}
	}
}

func TestATwinThatGetsAwayHasEscaped(t *testing.T) {
	s := Scenario{Name: "test/harmless", Clients: 1, Program: idle, Checkers: []checkers.Checker{checkers.Steps{}}, Caught: []string{"steps"}}
	if rep := run(t, s, Options{Seeds: Range{1, 9}}); rep.Status != Escaped || rep.Runs != 9 {
		t.Errorf("%+v", rep)
	}
	// Caught by another checker than the named one is not caught.
	s.Program = func(p *Process) { p.Fail(context.Canceled) }
	s.Checkers = append(s.Checkers, checkers.Liveness{})
	if rep := run(t, s, Options{Seeds: Range{1, 9}}); rep.Status != Escaped {
		t.Errorf("%+v", rep)
	}
}

func TestARunWithoutASeedProvesNothing(t *testing.T) {
	for _, caught := range [][]string{nil, {"steps"}} {
		s := Scenario{Name: "test/empty", Clients: 1, Program: idle, Caught: caught}
		if rep := run(t, s, Options{Seeds: Range{1, 1}, Shard: 0, Shards: 2}); rep.Status != Inconclusive || rep.Why != "no seed was run" {
			t.Errorf("%+v", rep)
		}
	}
}

func TestClientCodeThatBlocksIsAnErrorAndNoHang(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	//zksim:ignore it is to block
	s := Scenario{Name: "test/stuck", Clients: 1, Program: func(p *Process) { <-release }}
	_, err := Run(context.Background(), &s, Options{Seeds: Range{7, 7}})
	if err == nil || !strings.HasPrefix(err.Error(),
		"test/stuck, seed 7: c1 waits otherwise than by its Conn and Env (chan receive)\n") ||
		!strings.Contains(err.Error(), "scenarios/engine_test.go:") {
		t.Error(err)
	}
}

func TestClientCodeThatEndsItsGoroutineIsAnError(t *testing.T) {
	s := Scenario{Name: "test/goexit", Clients: 2, Program: func(p *Process) {
		p.Step()
		runtime.Goexit()
	}}
	_, err := Run(context.Background(), &s, Options{Seeds: Range{7, 90}, Stuck: 5 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "the program has ended its goroutine") {
		t.Error(err)
	}
}

func TestAProgramThatPanicsIsAViolation(t *testing.T) {
	s := Scenario{Name: "test/panic", Clients: 2, Program: func(p *Process) {
		p.Step()
		if p.ID == 2 {
			panic("oh\nno")
		}
	}}
	rep := run(t, s, Options{Seeds: Range{1, 5}})
	want := checkers.Verdict{Level: checkers.Violated, Checker: "panic", Message: "oh", Event: -1}
	if rep.Status != Violation || rep.Failure.Verdict != want || rep.Failure.Schedule.Seed != 1 || len(rep.Failure.Schedule.Names) == 0 {
		t.Errorf("%+v", rep)
	}
	r := NewRunner()
	defer r.Close()
	if res, err := r.Replay(&s, rep.Failure.Schedule); err != nil || res.Verdict != want || !strings.Contains(res.History.Panic, "engine_test.go") {
		t.Errorf("replayed: %+v, %v", res, err)
	}
	// The same world is good for other runs.
	s.Program = idle
	if res := r.Seed(&s, 1); res.Verdict.Level != checkers.OK {
		t.Errorf("%+v", res)
	}
}

func TestAProgramWithoutEndHitsTheStepLimit(t *testing.T) {
	s := Scenario{Name: "test/livelock", Clients: 1, MaxSteps: 500, Checkers: []checkers.Checker{checkers.Steps{}}, Program: func(p *Process) {
		for {
			p.Conn.Exists("/nothing")
		}
	}}
	rep := run(t, s, Options{Seeds: Range{1, 5}})
	if v := rep.Failure.Verdict; rep.Status != Violation || v.Checker != "steps" || rep.Failure.Steps != 500 ||
		v.Message != "still busy at the step limit: c1 goes on with exists /nothing" {
		t.Errorf("%+v", rep)
	}
}

func TestTheFailureIsThatOfTheLowestSeed(t *testing.T) {
	s := *scenario(t, "lock/plain-create")
	s.Caught = nil
	first := uint64(0)
	r := NewRunner()
	defer r.Close()
	for seed := uint64(1); first == 0; seed++ {
		if r.Seed(&s, seed).Verdict.Level == checkers.Violated {
			first = seed
		}
	}
	for range 20 {
		if rep := run(t, s, Options{Seeds: Range{1, 500}, Workers: 8}); rep.Failure.Schedule.Seed != first || rep.Runs != int(first) {
			t.Fatalf("%+v, want seed %d", rep, first)
		}
	}
}

// seedsRun records which seeds a scenario is run with: the order of the UUIDs of a
// world is drawn from its seed.
func seedsRun(t *testing.T, o Options) []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := Scenario{Name: "test/seeds", Clients: 1, Program: func(p *Process) {
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
	whole := slices.Compact(seedsRun(t, Options{Seeds: Range{1, 101}}))
	if len(whole) != 101 {
		t.Fatalf("%d different seeds", len(whole))
	}
	var parts []string
	for i := range uint64(4) {
		part := slices.Compact(seedsRun(t, Options{Seeds: Range{1, 101}, Shard: i, Shards: 4})) // the first are run twice
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
	o := Options{Seeds: Range{1, 1 << 62}, Progress: func() {
		if ran.Add(1) == 50 {
			cancel()
		}
	}}
	s := Scenario{Name: "test/endless", Clients: 1, Program: idle}
	rep, err := Run(ctx, &s, o)
	if err != nil || rep.Status != Held || rep.Runs != int(ran.Load()) || rep.Runs < 50 || rep.Runs > 200 {
		t.Errorf("%+v, %v, %d runs", rep, err, ran.Load())
	}
	if rep, err := Run(ctx, &s, o); err != nil || rep.Status != Inconclusive || rep.Runs != 0 {
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
	if rep, err := Run(again, &s, o); err != nil || rep.Status != Inconclusive || rep.Why != "not caught before the time was up" {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestAScheduleThatDoesNotFitIsRefusedWithWhatWasPossible(t *testing.T) {
	r := NewRunner()
	defer r.Close()
	s := scenario(t, "lock/lock")
	p := Schedule{Scenario: s.Name, Servers: 1, Names: []string{"run c1", "serve c2"}}
	if _, err := r.Replay(s, p); err == nil || err.Error() != `the schedule does not fit scenario lock/lock: step 2: "serve c2" is not possible here; `+
		`possible: connect c1 s1, run c2, connect c2 s1, run c3, connect c3 s1` {
		t.Error(err)
	}
	p.Names = []string{"lose-reply c1"} // not in the plan
	if _, err := r.Replay(s, p); err == nil || !strings.Contains(err.Error(), `step 1: "lose-reply c1" is not possible here; possible: run c1,`) {
		t.Error(err)
	}
	whole := r.Seed(s, 1)
	r.Names(&whole)
	p = whole.Schedule
	p.Names = append(p.Names, "run c1")
	if _, err := r.Replay(s, p); err == nil || !strings.HasSuffix(err.Error(), `"run c1" is not possible here; possible: nothing, the run is over`) {
		t.Error(err)
	}
}

func TestAForeignScheduleIsRefused(t *testing.T) {
	r := NewRunner()
	defer r.Close()
	p := Schedule{Scenario: "lock/workers", Servers: 1}
	if _, err := r.Replay(scenario(t, "lock/lock"), p); err == nil || err.Error() != "the schedule is one of scenario lock/workers, not of lock/lock" {
		t.Error(err)
	}
}

func TestAPlanForAZnodeThatIsNotThereIsRefused(t *testing.T) {
	s := *scenario(t, "lock/lock")
	s.Faults = plan("lose-reply=1 sequence=2@path=/none")
	const want = "fault plan: sequence=2@path=/none: there is no znode /none when lock/lock begins"
	if _, err := Run(context.Background(), &s, Options{Seeds: Range{1, 1}}); fmt.Sprint(err) != want {
		t.Error(err)
	}
	r := NewRunner()
	defer r.Close()
	if _, err := r.Replay(&s, Schedule{Scenario: s.Name, Servers: 1, Faults: s.Faults}); fmt.Sprint(err) != want {
		t.Error(err)
	}
	s.Setup = append(s.Setup[:1:1], model.Request{Op: model.OpCreate, Path: "/none", ACL: lockSetup[0].ACL})
	if _, err := Run(context.Background(), &s, Options{Seeds: Range{1, 9}}); err != nil {
		t.Error(err)
	}
}
