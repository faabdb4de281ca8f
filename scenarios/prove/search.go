package prove

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/hash"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// search explores all schedules with at most a given number of faults.
type search struct {
	scope   *Scope
	reduce  Reductions
	most    int  // faults
	reverse bool // take the last first
	stuck   time.Duration
	limit   int64 // states; 0: none
	effort  int64 // steps that code may make; 0: no limit

	scenario *engine.Scenario
	schedule engine.Schedule      // the settings of all runs
	injector *faults.Injector     // describes the plan; those of the workers say what it permits
	words    checkers.Vocabulary  // words that a run may record
	alike    []int                // by client; nil: no two are alike
	outcome  func(*engine.Result) // if not nil, called with every complete run

	pool  *pool
	known set // fingerprints of the states that were reached
	counters

	memo     *memo
	hops     *hops         // nil: hops are not recorded
	traps    *traps        // of the hops; nil: not known
	fine     bool          // faults may strike any request
	distant  bool          // faults may look at servers without connections
	again    bool          // run the code for every transition
	doubtful int           // one in this many recalled steps is run again
	audit    *audit        // nil: none
	strict   bool          // code has run strictly
	withheld atomic.Bool   // a fault was possible but the limit was reached
	struck   atomic.Bool   // a fault was taken
	feasible atomic.Uint64 // bit i: the fault of kind sim.FirstFault + i was possible in some state
	full     atomic.Bool   // limit is reached
	spent    atomic.Bool   // effort is used up
	states   atomic.Int64
	taken    atomic.Int64 // steps
	deepest  atomic.Int64

	sentences *sentences // of Process.Sometimes

	mu      sync.Mutex
	refuted *engine.Result
	unsure  string
}

// counters count what was done, in whatever order.
type counters struct{ runs, ends, transitions atomic.Int64 }

// maxSteps is the length at which a schedule counts as endless.
const maxSteps = 10_000

func newSearch(sc *Scope, reduce Reductions, most int) *search {
	x := *sc.Scenario
	x.SafetySteps, x.MaxSteps = math.MaxInt32, math.MaxInt32
	if x.Broken() { // findings of others neither count nor end a run
		x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers),
			func(c checkers.Checker) bool { return !slices.Contains(x.Caught, c.Name()) })
	}
	s := &search{scope: sc, reduce: reduce, most: most, scenario: &x, schedule: x.NewSchedule(0),
		injector: &faults.Injector{}, memo: &memo{}, sentences: &sentences{},
		doubtful: 1000, stuck: usuallyStuck}
	if x.Dials > 0 {
		s.memo.hosts = x.Clients
	}
	s.words = checkers.VocabularyOf(sc.Scenario.Checkers, sc.Scenario.Words)
	s.schedule.Servers, s.schedule.Order, s.schedule.Faults = sc.Servers, sc.Order, sc.Faults
	s.injector.Reset(sc.Faults)
	s.fine = s.injector.Strikes()
	if reduce.Forget && !sc.Interleave && x.Dials == 0 && slices.ContainsFunc(x.Checkers, func(c checkers.Checker) bool {
		return c.Name() == checkers.Steps{}.Name()
	}) {
		s.hops = &hops{}
	}
	s.distant = slices.ContainsFunc(sc.Faults, func(r faults.Rule) bool { return slices.Contains(distant, r.Fault) })
	// When an election cuts the connections of two clients at once, the code of the first goes on first. With the clients
	// exchanged, no run has it the other way round.
	differs := func(r faults.Rule) bool { return r.Aim.Client > 0 || r.OfSeveral() }
	if reduce.Symmetry && x.Alike() != nil && x.Dials == 0 && !slices.ContainsFunc(sc.Faults, differs) {
		for id := range x.Clients + 1 {
			s.alike = append(s.alike, x.Alike()(id, x.Rounds))
		}
	}
	return s
}

// distant lists the faults that look for a server that lags.
var distant = []string{"late-request", "expiry-lag", "failover", "late-commit"}

// refute records a schedule that violates a checker, and stops the search.
func (s *search) refute(r *engine.Result) {
	s.mu.Lock()
	if s.refuted == nil || len(r.Schedule.Names) < len(s.refuted.Schedule.Names) {
		s.refuted = r
	}
	s.mu.Unlock()
	s.pool.stop()
}

// doubt records something that cannot be decided.
func (s *search) doubt(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsure == "" {
		s.unsure = why
	}
}

// reached records the length of a run and reports whether it is too long.
func (s *search) reached(step int) bool {
	for {
		most := s.deepest.Load()
		if int64(step) <= most || s.deepest.CompareAndSwap(most, int64(step)) {
			break
		}
	}
	return step >= maxSteps
}

// usuallyStuck is how long client code may keep control without calling its Conn or Env or waiting.
const usuallyStuck = 30 * time.Second

// run explores with a number of workers, from the given edges. It calls watch regularly, which may pause the pool. When
// watch returns true, or ctx is done, the search stops and leaves the rest in the pool. It fails when client code
// leaves the simulator, with a [*sim.Misuse], or ends its goroutine. It also looks for that before it begins, with a
// few seeds.
func (s *search) run(ctx context.Context, workers int, from []edge, watch func() bool) error {
	if s.most == 0 && !s.strict {
		if s.strict = true; ctx.Err() == nil {
			err := engine.Strict(ctx, s.scope.Scenario, s.stuck)
			if errors.Is(err, engine.ErrNondeterministic) {
				err = &Unstable{s.scenario.Name, err.Error()}
			}
			if err != nil {
				return err
			}
		}
	}
	s.memo.exact = s.injector.Counts() || s.injector.Contends()
	s.pool = newPool(workers)
	s.pool.queue = from
	if ctx.Err() != nil { // now, not when it is noticed
		s.pool.stop()
	}
	all := make([]*worker, workers)
	dead := make(chan error, 2*workers+1)
	guard := engine.NewGuard(s.stuck)
	var wg sync.WaitGroup
	for i := range all {
		w := newWorker(s)
		w.runner.Misused = func(m *sim.Misuse) { panic(m) }
		guard.Watch(w.runner)
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
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	go func() {
		defer close(watched)
		s.guard(guard, all, done, dead)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-dead:
			return err
		case <-watched:
			<-done
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

// failed says why a search cannot go on.
type failed string

// unstable says where the same steps led to another state.
type unstable string

// Unstable is the error of a search that took the same steps twice and reached another state. Its result would be
// worthless.
type Unstable struct {
	Scenario string
	Where    string // what differs, and after which steps
}

// Error names the possible causes.
func (u *Unstable) Error() string {
	return u.Scenario + ": the same steps lead to another state, since the program is not deterministic, which a check " +
		"shows, or else a fingerprint or a monitor leaves something out (" + u.Where + ")"
}

// guarded works. It returns an error if client code has ended the goroutine (a Goexit in a coroutine is passed on to
// the goroutine that resumed it), or if a step is not possible that was possible after the same steps before.
func (w *worker) guarded() (err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			r := recover()
			if why, ok := r.(failed); ok {
				err = fmt.Errorf("%s: %s", w.scenario.Name, string(why))
			} else if m, ok := r.(*sim.Misuse); ok {
				err = fmt.Errorf("%s: %w", w.scenario.Name, m)
			} else if t, ok := r.(hash.Twins); ok {
				err = fmt.Errorf("%s: %s", w.scenario.Name, t)
			} else if u, ok := r.(unstable); ok {
				err = &Unstable{w.scenario.Name, string(u)}
			} else if where := engine.Panicking(); r != nil && where != "" {
				err = fmt.Errorf("%s: %s%v\n%s", w.scenario.Name, engine.JudgePanics, r, where)
			} else if r != nil {
				err = &Unstable{w.scenario.Name, fmt.Sprint(r)}
			}
		}()
		err = fmt.Errorf("%s: %w", w.scenario.Name, engine.ErrEnded)
		w.work()
		err = nil
	}()
	<-ended
	return err
}

// guard stops the search when client code leaves the simulator. It runs in its own goroutine, because a pause of the
// pool would wait for that client.
func (s *search) guard(g *engine.Guard, all []*worker, done <-chan struct{}, dead chan<- error) {
	err := g.Until(done, nil)
	for _, w := range all {
		if err != nil {
			break
		}
		if m := w.runner.World().Misuse(); m != nil { // by a goroutine that outlived the runs
			err = m
		}
	}
	if err != nil {
		dead <- fmt.Errorf("%s: %w", s.scenario.Name, err)
		s.pool.stop()
	}
}
