package engine_test

import (
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
	seeds, few := first(30), first(5)
	if testing.Short() {
		seeds, few = first(5), first(2)
	}
	all := func(t *testing.T, seeds []uint64) {
		for i := range catalog.All {
			if _, err := engine.StrictRuns(&catalog.All[i], engine.Portfolio, seeds, 0); err != nil {
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
