package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// spoiling returns a scenario whose code does something wrong in all runs after the first few.
func spoiling(few int64, wrong func()) engine.Scenario {
	var runs atomic.Int64
	return engine.Scenario{Name: "a/spoilt", Clients: 2, Checkers: []checkers.Checker{checkers.Steps{}},
		Program: func(p *engine.Process) {
			p.Conn.Exists("/a")
			if p.ID == 1 && runs.Add(1) > few {
				wrong()
			}
		}}
}

// TestASearchSaysThatAProgramLeavesTheSimulator has programs that do so in the first run, and in later ones, when only
// some runs are left.
func TestASearchSaysThatAProgramLeavesTheSimulator(t *testing.T) {
	//zksim:ignore that they leave the simulator is what is to be found
	sleeps, waits := func() { time.Sleep(time.Hour) }, func() { <-make(chan int) }
	for _, few := range []int64{0, 60} {
		for _, wrong := range []func(){sleeps, waits} {
			s := spoiling(few, wrong)
			x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Delays: 3})
			if m := (*sim.Misuse)(nil); !errors.As(err, &m) || !strings.HasPrefix(err.Error(), "a/spoilt") {
				t.Errorf("after %d runs: %s, %v is no misuse", few, &x, err)
			}
		}
		s := spoiling(few, runtime.Goexit)
		x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Delays: 3})
		if err == nil || !strings.Contains(err.Error(), "has ended its goroutine") {
			t.Errorf("after %d runs: %s, %v", few, &x, err)
		}
	}
	s := spoiling(1<<40, nil)
	if x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Delays: 3}); err != nil || !x.Closed || x.Made < 100 {
		t.Errorf("%s, %v", &x, err)
	}
}

// TestASearchSaysWhereItsChoicesEnd has runs that go on after the faults are over, and the same ones with faults until
// their end.
func TestASearchSaysWhereItsChoicesEnd(t *testing.T) {
	s := engine.Scenario{Name: "a/long", Clients: 1, Faults: faults.MustParse("disconnect=1"), SafetySteps: 9,
		Checkers: []checkers.Checker{checkers.Steps{}}, Program: func(p *engine.Process) {
			for range 10 {
				p.Conn.Exists("/a")
			}
		}}
	for steps, want := range map[int]string{9: "0 delays in its first 9 steps, ", 900: "0 delays, "} {
		s.SafetySteps = steps
		x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Faults: 1})
		if err != nil || !x.Closed || !strings.Contains(x.String(), want) {
			t.Errorf("%d steps: %s, %v", steps, &x, err)
		}
	}
}

// TestASearchSeesThatARunIsAnother has a program that asks for another znode in each later run, so that every choice
// exists, but not in the run in which it was found.
func TestASearchSeesThatARunIsAnother(t *testing.T) {
	var runs atomic.Int64
	s := engine.Scenario{Name: "a/counting", Clients: 1, Checkers: []checkers.Checker{checkers.Steps{}},
		Faults: faults.MustParse("disconnect=1"), Program: func(p *engine.Process) {
			p.Conn.Exists(fmt.Sprintf("/%d", max(9, runs.Add(1))))
		}}
	x, err := engine.Exhaust(t.Context(), &s, engine.Bounds{Faults: 1})
	if err != nil || x.Failure != nil || x.Missed == 0 {
		t.Errorf("%s, %d of another run, %v", &x, x.Missed, err)
	}
}
