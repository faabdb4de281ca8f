package prove

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zksim/faults"
	"zksim/scenarios"
)

// search explores all schedules with at most a number of faults.
type search struct {
	scope   *Scope
	reduce  Reductions
	most    int  // faults
	clock   bool // the code asks for the time
	reverse bool // take the last first

	scenario *scenarios.Scenario
	schedule scenarios.Schedule // the circumstances
	injector *faults.Injector
	alike    []int                   // by client; nil: no two are
	outcome  func(*scenarios.Result) // if not nil, hears of every complete run

	pool  *pool
	known visited
	counters

	withheld atomic.Bool // a fault was possible and there had been enough
	asked    atomic.Bool // the code asks for the time
	deepest  atomic.Int64

	mu      sync.Mutex
	refuted *scenarios.Result
	unsure  string
}

// counters count what was done; they do not depend on the order in which it was.
type counters struct{ runs, ends, transitions atomic.Int64 }

// maxSteps is the length at which a schedule is given up as endless.
const maxSteps = 10_000

func newSearch(sc *Scope, reduce Reductions, most int) *search {
	x := *sc.Scenario
	x.SafetySteps, x.MaxSteps = math.MaxInt32, math.MaxInt32
	s := &search{scope: sc, reduce: reduce, most: most, scenario: &x, schedule: x.Blank(0), injector: &faults.Injector{}}
	s.schedule.Servers, s.schedule.Order, s.schedule.Faults = sc.Servers, sc.Order, sc.Faults
	s.injector.Reset(sc.Faults)
	named := func(r faults.Rule) bool { return r.Aim.Client > 0 }
	if reduce.Symmetry && x.Alike != nil && !slices.ContainsFunc(sc.Faults, named) {
		for id := range x.Clients + 1 {
			s.alike = append(s.alike, x.Alike(id, x.Rounds))
		}
	}
	return s
}

// refute takes note of a schedule that violates a checker. There is no need to go
// on.
func (s *search) refute(r *scenarios.Result) {
	s.mu.Lock()
	if s.refuted == nil || len(r.Schedule.Names) < len(s.refuted.Schedule.Names) {
		x := *r
		s.refuted = &x
	}
	s.mu.Unlock()
	s.pool.stop()
}

// doubt takes note of something that nobody can tell.
func (s *search) doubt(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsure == "" {
		s.unsure = why
	}
}

// reached notes the length of a run and reports whether it is too long.
func (s *search) reached(step int) bool {
	for {
		most := s.deepest.Load()
		if int64(step) <= most || s.deepest.CompareAndSwap(most, int64(step)) {
			break
		}
	}
	if step < maxSteps {
		return false
	}
	s.doubt(fmt.Sprintf("a schedule goes on for more than %d steps", maxSteps))
	return true
}

// stuck is how long client code may keep control.
const stuck = 30 * time.Second

// run explores with a number of workers, from the given edges on. Every so often it
// calls watch, which may pause the pool; when watch returns true, or ctx is done,
// the search stops and what is left is in the pool. It fails when client code blocks
// or ends its goroutine.
func (s *search) run(ctx context.Context, workers int, from []edge, watch func() bool) error {
	s.pool = newPool(workers)
	s.pool.queue = from
	all := make([]*worker, workers)
	dead := make(chan error, workers)
	var wg sync.WaitGroup
	for i := range all {
		w := newWorker(s)
		all[i] = w
		wg.Add(1)
		go func() {
			defer wg.Done()
			ended := false
			defer func() {
				if !ended {
					dead <- fmt.Errorf("%s: the program has ended its goroutine, as runtime.Goexit and the FailNow of a test do; it must return, or panic", s.scenario.Name)
				}
			}()
			w.work()
			ended = true
		}()
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case err := <-dead:
			s.pool.stop()
			return err
		case <-tick.C:
			for _, w := range all {
				if at := w.began.Load(); at != 0 && time.Since(time.Unix(0, at)) > stuck {
					return fmt.Errorf("%s: the program has kept control for %v; client code must wait only by its Env and Conn", s.scenario.Name, stuck)
				}
			}
			if s.asked.Load() || ctx.Err() != nil || watch() {
				s.pool.stop()
			}
		}
	}
}
