package prove

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios"
)

// search explores all schedules with at most a number of faults.
type search struct {
	scope   *Scope
	reduce  Reductions
	most    int  // faults
	reverse bool // take the last first
	stuck   time.Duration
	limit   int64 // states; 0: none

	scenario *scenarios.Scenario
	schedule scenarios.Schedule // the circumstances
	injector *faults.Injector
	alike    []int                   // by client; nil: no two are
	outcome  func(*scenarios.Result) // if not nil, hears of every complete run

	pool  *pool
	known visited
	counters

	memo     *memo
	fine     bool        // faults may strike any request
	distant  bool        // faults may look at servers to which nobody is connected
	again    bool        // run the code for every transition
	doubtful int         // how many recalled steps there are to one that is found out again
	audit    *audit      // nil: none
	withheld atomic.Bool // a fault was possible and there had been enough
	full     atomic.Bool // limit is reached
	states   atomic.Int64
	deepest  atomic.Int64

	mu      sync.Mutex
	refuted *scenarios.Result
	unsure  string
}

// counters count what was done; they do not depend on the order in which it was.
type counters struct{ runs, ends, transitions atomic.Int64 }

// maxSteps is the length at which a schedule is taken for endless.
const maxSteps = 10_000

func newSearch(sc *Scope, reduce Reductions, most int) *search {
	x := *sc.Scenario
	x.SafetySteps, x.MaxSteps = math.MaxInt32, math.MaxInt32
	if x.Broken() { // what others find neither counts nor ends a run
		x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers), func(c checkers.Checker) bool { return !slices.Contains(x.Caught, c.Name()) })
	}
	s := &search{scope: sc, reduce: reduce, most: most, scenario: &x, schedule: x.Blank(0), injector: &faults.Injector{}, memo: &memo{}, again: sc.Servers > 1, doubtful: 1000, stuck: usuallyStuck}
	s.schedule.Servers, s.schedule.Order, s.schedule.Faults = sc.Servers, sc.Order, sc.Faults
	s.injector.Reset(sc.Faults)
	s.fine = s.injector.Strikes()
	s.distant = slices.ContainsFunc(sc.Faults, func(r faults.Rule) bool { return slices.Contains(distant, r.Fault) })
	named := func(r faults.Rule) bool { return r.Aim.Client > 0 }
	if reduce.Symmetry && x.Alike != nil && !slices.ContainsFunc(sc.Faults, named) {
		for id := range x.Clients + 1 {
			s.alike = append(s.alike, x.Alike(id, x.Rounds))
		}
	}
	return s
}

// distant are the faults that look for a server which lags.
var distant = []string{"late-request", "expiry-lag", "failover", "late-commit"}

// refute takes note of a schedule that violates a checker. There is no need to go
// on.
func (s *search) refute(r *scenarios.Result) {
	s.mu.Lock()
	if s.refuted == nil || len(r.Schedule.Names) < len(s.refuted.Schedule.Names) {
		s.refuted = r
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
	return step >= maxSteps
}

// usuallyStuck is how long client code may keep control.
const usuallyStuck = 30 * time.Second

// run explores with a number of workers, from the given edges on. Every so often it
// calls watch, which may pause the pool; when watch returns true, or ctx is done,
// the search stops and what is left is in the pool. It fails when client code blocks
// or ends its goroutine.
func (s *search) run(ctx context.Context, workers int, from []edge, watch func() bool) error {
	s.memo.exact = s.injector.Counts() || s.injector.Contends()
	s.pool = newPool(workers)
	s.pool.queue = from
	if ctx.Err() != nil { // at once, not when it is noticed
		s.pool.stop()
	}
	all := make([]*worker, workers)
	dead := make(chan error, workers+1)
	var wg sync.WaitGroup
	for i := range all {
		w := newWorker(s)
		all[i] = w
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := w.guarded(); err != nil {
				dead <- err
				s.pool.stop()
			}
		}()
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	go s.guard(all, done, dead)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-dead:
			return err
		case <-done:
			select {
			case err := <-dead:
				return err
			default:
				return nil
			}
		case <-tick.C:
			if ctx.Err() != nil || watch() {
				s.pool.stop()
			}
		}
	}
}

// failed is why a search cannot go on.
type failed string

// guarded works, and reports that client code has ended the goroutine (a Goexit in a
// coroutine is passed on to whoever resumed it), or that a step is not possible which
// was when the same steps had been taken before.
func (w *worker) guarded() (err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			r := recover()
			if why, ok := r.(failed); ok {
				err = fmt.Errorf("%s: %s", w.scenario.Name, string(why))
			} else if r != nil {
				err = fmt.Errorf("%s: the same steps lead to another state, since the program is not deterministic (%v)", w.scenario.Name, r)
			}
		}()
		err = fmt.Errorf("%s: the program has ended its goroutine, as runtime.Goexit and the FailNow of a test do; it must return, or panic", w.scenario.Name)
		w.work()
		err = nil
	}()
	<-ended
	return err
}

// guard stops the search when client code keeps control for too long. It does so from
// a goroutine of its own, since a pause of the pool would wait for that client.
func (s *search) guard(all []*worker, done <-chan struct{}, dead chan<- error) {
	tick := time.NewTicker(max(s.stuck/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		for _, w := range all {
			if at := w.began.Load(); at != 0 && time.Since(time.Unix(0, at)) > s.stuck {
				dead <- fmt.Errorf("%s: the program has kept control for %v; client code must wait only by its Env and Conn", s.scenario.Name, s.stuck)
				s.pool.stop()
				return
			}
		}
	}
}
