package prove

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"zksim/faults"
	"zksim/scenarios"
)

// search is one exploration of all schedules with at most that many faults.
type search struct {
	scope    *Scope
	reduce   Reductions
	most     int // faults
	reverse  bool
	timed    bool
	maxDepth int

	scenario *scenarios.Scenario
	schedule scenarios.Schedule
	injector *faults.Injector
	outcome  func(*scenarios.Result)

	known       visited
	runs        atomic.Int64
	ends        atomic.Int64
	transitions atomic.Int64
	capped      atomic.Bool
	askedTime   atomic.Bool
	tooDeep     atomic.Bool

	mu      sync.Mutex
	refuted *scenarios.Result
	unsure  string
}

func (s *search) refute(r *scenarios.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuted == nil || len(r.Schedule.Names) < len(s.refuted.Schedule.Names) {
		x := *r
		s.refuted = &x
	}
}

func (s *search) doubt(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsure = why
}

func newSearch(sc *Scope, reduce Reductions, most int) *search {
	s := &search{scope: sc, reduce: reduce, most: most, maxDepth: 5000}
	scenario := *sc.Scenario
	scenario.SafetySteps, scenario.MaxSteps = math.MaxInt32, math.MaxInt32
	s.scenario = &scenario
	s.schedule = scenario.Blank(0)
	s.schedule.Servers, s.schedule.Order, s.schedule.Faults = sc.Servers, sc.Order, sc.Faults
	s.injector = &faults.Injector{}
	s.injector.Reset(sc.Faults)
	return s
}

// run explores with one worker.
func (s *search) run(ctx context.Context, limit time.Duration) bool {
	w := newWorker(s)
	defer w.runner.Close()
	begin := time.Now()
	w.explore(edge{})
	for len(w.stack) > 0 {
		if time.Since(begin) > limit || ctx.Err() != nil {
			return false
		}
		if s.refuted != nil {
			return true
		}
		last := len(w.stack) - 1
		e := w.stack[last]
		w.stack = w.stack[:last]
		w.explore(e)
	}
	return true
}
