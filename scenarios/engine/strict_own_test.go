package engine_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// TestStrictRunsOfOwnScenariosFindNothing runs every scenario strictly, also on one processor and beside code that
// burns processor time and makes garbage.
func TestStrictRunsOfOwnScenariosFindNothing(t *testing.T) {
	first := func(n int) (seeds []uint64) {
		for seed := range uint64(n) {
			seeds = append(seeds, seed+1)
		}
		return seeds
	}
	seeds, few := first(15), first(5)
	if testing.Short() {
		seeds, few = first(5), first(2)
	}
	all := func(t *testing.T, seeds []uint64) {
		for i := range catalog.All {
			if _, err := engine.StrictRuns(t.Context(), &catalog.All[i], engine.Portfolio, seeds, 0); err != nil {
				t.Error(err)
			}
		}
	}
	t.Run("as it is", func(t *testing.T) { all(t, seeds) })
	t.Run("on one processor", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		all(t, few)
	})
	t.Run("beside a burner", func(t *testing.T) {
		var stop atomic.Bool
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop.Store(true)
		for range 2 {
			wg.Go(func() {
				for kept := make([][]byte, 64); !stop.Load(); {
					for i := range kept {
						kept[i] = make([]byte, 1<<14)
					}
					wg.Go(func() {})
				}
			})
		}
		all(t, few)
	})
}

// A search of a small program may run its code only once, and would not see that another run goes another way. How
// often a seed runs strictly depends on the machine, so a run differs from all others or from none.
func TestStrictRunsThatDifferAreAnError(t *testing.T) {
	for _, others := range []int{0, 1, 1000} { // runs that differ, the first of all among them
		calls := 0
		s := engine.Scenario{Name: "test/fickle", Clients: 1, Program: func(p *engine.Process) {
			for range max(others-calls, 0) {
				p.Step()
			}
			calls++
		}}
		err := engine.Strict(t.Context(), &s, 0)
		if differs := others > 0; errors.Is(err, engine.ErrNondeterministic) != differs || !differs && err != nil {
			t.Errorf("%d of %d runs differ: %v", others, calls, err)
		}
	}
}

// The strict runs of a scenario with long runs take seconds: an interruption must not wait for all of them.
func TestStrictRunsEndWhenTheirContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls := 0
	s := engine.Scenario{Name: "test/stops", Clients: 1, Program: func(p *engine.Process) {
		calls++
		cancel()
		p.Step()
	}}
	runs, err := engine.StrictRuns(ctx, &s, engine.Random, []uint64{1, 2, 3, 4, 5}, 0)
	if err != nil || len(runs) != 1 || calls != 1 {
		t.Errorf("%d runs and %d calls after the end, %v", len(runs), calls, err)
	}
	if err := engine.Strict(ctx, &s, 0); err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	rep, err := engine.Run(ctx, &s, engine.Options{Seeds: engine.Range{First: 1, Last: 50}, Strategy: engine.Random})
	if err != nil || !rep.Cut || rep.Runs != 0 || calls != 1 {
		t.Errorf("%+v, %d calls, %v", rep, calls, err)
	}
}
