package scenarios

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"zksim/checkers"
)

// Range is a range of seeds, both ends included.
type Range struct{ First, Last uint64 }

// Options say how much to run.
type Options struct {
	Seeds   Range
	Workers int // 0: one for each core
	// Shard i of n takes the seeds whose remainder modulo n is i; n 0: all.
	Shard, Shards uint64
	// Progress, if not nil, is called after every run, from many goroutines.
	Progress func()
	// Stuck is how long client code may keep control before the run is given
	// up as an error; 0: 30 seconds.
	Stuck time.Duration
}

// Status is the outcome of a scenario over all its seeds.
type Status uint8

// The outcomes, and what they mean for the exit status of a tool.
const (
	Held             Status = iota // everything held
	Caught                         // a broken recipe was caught as it should be
	Violation                      // something that must hold does not
	Escaped                        // a broken recipe was not caught
	Inconclusive                   // a judge could not decide, or a goal was not reached
	Nondeterministic               // one seed, two different runs
)

// Report is what a scenario came to.
type Report struct {
	Scenario *Scenario
	Status   Status
	Runs     int
	Steps    int
	// Failure is the run of the lowest seed that was violated (or of a broken
	// recipe caught); its History is not kept.
	Failure Result
	Missed  []string // goals that no run reached
	Why     string   // for Inconclusive and Nondeterministic
}

// Run runs a scenario over seeds, on several cores. The report does not depend
// on their number. It stops early at the first failure, when ctx is done (then
// the report covers what was run), and with an error when client code blocks.
func Run(ctx context.Context, s *Scenario, o Options) (Report, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Stuck == 0 {
		o.Stuck = 30 * time.Second
	}
	e := &engine{Scenario: s, Options: o, ctx: ctx, reached: make([]atomic.Bool, len(s.Goals))}
	e.next.Store(o.Seeds.First)
	e.limit.Store(o.Seeds.Last)
	if err := e.work(); err != nil {
		return Report{Scenario: s}, err
	}
	return e.report(), nil
}

// engine is one Run in progress.
type engine struct {
	*Scenario
	Options
	ctx     context.Context
	next    atomic.Uint64
	limit   atomic.Uint64 // no seed beyond it is of interest any more
	runs    atomic.Int64
	steps   atomic.Int64
	reached []atomic.Bool

	mu      sync.Mutex
	failure *Result
	doubt   string // a verdict "unknown"
	differs string // a run that was not the same twice
}

// work runs the seeds and watches over the workers.
func (e *engine) work() error {
	beats := make([]heartbeat, e.Workers)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range e.Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e.worker(&beats[i])
		}()
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	tick := time.NewTicker(e.Stuck / 10)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-tick.C:
			for i := range beats {
				if seed, since := beats[i].last(); since > e.Stuck {
					return fmt.Errorf("%s, seed %d: the program has kept control for %v; client code must wait only by its Env and Conn",
						e.Name, seed, since.Round(time.Second))
				}
			}
		}
	}
}

// heartbeat is when a worker began which seed.
type heartbeat struct{ seed, began atomic.Int64 }

func (h *heartbeat) beat(seed uint64) {
	h.seed.Store(int64(seed))
	h.began.Store(time.Now().UnixNano())
}

func (h *heartbeat) last() (uint64, time.Duration) {
	at := h.began.Load()
	if at == 0 {
		return 0, 0
	}
	return uint64(h.seed.Load()), time.Since(time.Unix(0, at))
}

// twice is how many of the first seeds are run a second time to see whether the
// run is the same.
const twice = 3

func (e *engine) worker(h *heartbeat) {
	r := NewRunner()
	defer r.Close()
	defer h.began.Store(0)
	for e.ctx.Err() == nil {
		seed := e.next.Add(1) - 1
		if seed > e.limit.Load() || seed < e.Seeds.First {
			return
		}
		if e.Shards > 0 && seed%e.Shards != e.Shard {
			continue
		}
		h.beat(seed)
		e.one(r, seed)
		if e.Progress != nil {
			e.Progress()
		}
	}
}

// one runs a seed and takes note of what it shows.
func (e *engine) one(r *Runner, seed uint64) {
	res := r.Seed(e.Scenario, seed)
	e.runs.Add(1)
	e.steps.Add(int64(res.Steps))
	for i := range e.Goals {
		if !e.reached[i].Load() && e.Goals[i].Reached(res.History) {
			e.reached[i].Store(true)
		}
	}
	bad := res.Verdict.Level == checkers.Violated && (!e.Broken() || e.catches(res.Verdict.Checker))
	if bad {
		r.Names(&res)
	}
	if seed < e.Seeds.First+twice {
		e.again(r, seed, res)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if res.Verdict.Level == checkers.Unknown && e.doubt == "" {
		e.doubt = fmt.Sprintf("seed %d: %s", seed, res.Verdict.Message)
	}
	if bad && (e.failure == nil || seed < e.failure.Schedule.Seed) {
		res.History = nil
		e.failure = &res
		e.limit.Store(seed)
	}
}

// again runs a seed once more and compares.
func (e *engine) again(r *Runner, seed uint64, res Result) {
	first := append([]uint64(nil), r.Hashes()...)
	if r.Seed(e.Scenario, seed); r.world.Hash() == res.Hash {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.differs = fmt.Sprintf("seed %d: two runs part at step %d", seed, FirstDifference(first, r.Hashes())+1)
}

// FirstDifference returns the first index at which two runs' hashes differ.
func FirstDifference(a, b []uint64) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// catches reports whether a checker is one that must catch the broken recipe.
func (s *Scenario) catches(checker string) bool {
	for _, name := range s.Caught {
		if name == checker {
			return true
		}
	}
	return false
}

func (e *engine) report() Report {
	rep := Report{Scenario: e.Scenario, Runs: int(e.runs.Load()), Steps: int(e.steps.Load())}
	for i, g := range e.Goals {
		if !e.reached[i].Load() {
			rep.Missed = append(rep.Missed, g.Name)
		}
	}
	if e.failure != nil {
		rep.Failure = *e.failure
	}
	switch {
	case e.differs != "":
		rep.Status, rep.Why = Nondeterministic, e.differs
	case e.failure != nil && e.Broken():
		rep.Status = Caught
	case e.failure != nil:
		rep.Status = Violation
	case e.Broken() && e.ctx.Err() == nil:
		rep.Status = Escaped
	case e.doubt != "":
		rep.Status, rep.Why = Inconclusive, e.doubt
	case e.Broken():
		rep.Status, rep.Why = Inconclusive, "not caught before the time was up"
	case len(rep.Missed) > 0:
		rep.Status, rep.Why = Inconclusive, "no run had "+rep.Missed[0]
	}
	return rep
}
