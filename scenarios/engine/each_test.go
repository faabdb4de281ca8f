package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/sim"
)

func TestEachRunsAllSeedsWhateverTheyComeTo(t *testing.T) {
	s := catalog.Named("lock/plain-create")
	for _, workers := range []int{1, 3} {
		var mu sync.Mutex
		violated := map[uint64]bool{}
		n, err := engine.Each(t.Context(), s, engine.Options{Seeds: engine.Range{First: 5, Last: 84}, Workers: workers},
			func(seed uint64, res *engine.Result) {
				mu.Lock()
				defer mu.Unlock()
				violated[seed] = res.Verdict.Level == checkers.Violated
				if len(res.Schedule.Names) != res.Steps {
					t.Errorf("seed %d: %d names of %d steps", seed, len(res.Schedule.Names), res.Steps)
				}
			})
		fails := 0
		for _, v := range violated { // order-free: counted
			if v {
				fails++
			}
		}
		if err != nil || n != 80 || len(violated) != 80 || fails < 2 || fails == 80 {
			t.Errorf("%d workers: %d runs of %d seeds, %d fail, %v", workers, n, len(violated), fails, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := engine.Each(ctx, s, engine.Options{Seeds: engine.Range{Last: 1000}}, nil); n != 0 || err != nil {
		t.Errorf("%d runs, %v", n, err)
	}
}

func TestEachSaysThatAProgramLeavesTheSimulator(t *testing.T) {
	visit := func(uint64, *engine.Result) {}
	seeds := engine.Options{Seeds: engine.Range{Last: 100}}
	//zksim:ignore that it leaves the simulator is what is to be found
	sleeps := engine.Scenario{Name: "a/sleeper", Clients: 1, Program: func(*engine.Process) { time.Sleep(time.Hour) }}
	_, err := engine.Each(t.Context(), &sleeps, seeds, visit)
	if m := (*sim.Misuse)(nil); !errors.As(err, &m) {
		t.Errorf("%v is no misuse", err)
	}
	ends := engine.Scenario{Name: "a/ended", Clients: 1, Program: func(*engine.Process) { runtime.Goexit() }}
	if _, err := engine.Each(t.Context(), &ends, seeds, visit); err == nil ||
		!strings.Contains(err.Error(), "has ended its goroutine") {
		t.Error(err)
	}
}
