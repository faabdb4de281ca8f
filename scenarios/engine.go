package scenarios

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zksim/checkers"
)

// Range is a range of seeds, both ends included.
type Range struct{ First, Last uint64 }

// Options say how much to run.
type Options struct {
	Seeds    Range
	Strategy Strategy
	Workers  int // 0: one for each core
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
	Inconclusive                   // a judge could not decide, or what must happen for that never did
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
	Coverage
	Why string // for Inconclusive and Nondeterministic
	Cut bool   // ctx was done before all seeds were run, and nothing had failed until then
}

// Run runs a scenario over seeds, on several cores. The report does not depend
// on their number. It stops early at the first failure, when ctx is done (then
// the report covers what was run, and says that it was cut short), and with an
// error when client code blocks or records a word that no checker knows.
func Run(ctx context.Context, s *Scenario, o Options) (Report, error) {
	if err := s.Accepts(s.Faults); err != nil {
		return Report{Scenario: s}, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if seeds := o.Seeds.Last - o.Seeds.First; uint64(o.Workers) > seeds {
		o.Workers = int(seeds) + 1 // more would have nothing to do
	}
	o.Workers = min(o.Workers, maxWorkers)
	if o.Stuck == 0 {
		o.Stuck = 30 * time.Second
	}
	e := &engine{Scenario: s, Options: o, ctx: ctx, turn: o.Seeds.First, waiting: map[uint64]outcome{},
		coverage: newCoverer(s), words: checkers.VocabularyOf(s.Checkers, s.Words)}
	e.next.Store(o.Seeds.First)
	e.limit.Store(o.Seeds.Last)
	if err := e.work(); err != nil {
		return Report{Scenario: s}, err
	}
	if e.stranger != "" {
		return Report{Scenario: s}, errors.New(e.stranger)
	}
	return e.report(), nil
}

// maxWorkers bounds the memory that workers take.
const maxWorkers = 1024

// engine is one Run in progress. Workers finish seeds in any order; what they
// found is taken into account in the order of the seeds and only up to the first
// failure, as if there were one worker.
type engine struct {
	*Scenario
	Options
	ctx   context.Context
	next  atomic.Uint64
	limit atomic.Uint64 // no seed beyond it is of interest any more

	mu      sync.Mutex
	turn    uint64             // the seed to be taken into account next
	waiting map[uint64]outcome // of seeds beyond it
	dead    error              // a worker that ended before its time

	words    checkers.Vocabulary
	coverage *coverer

	runs, steps int
	failure     *Result
	stranger    string // a word that nobody knows
	doubt       string // a verdict "unknown"
	differs     string // a run that was not the same twice
}

// outcome is what one seed came to. The zero value is a seed of another shard.
type outcome struct {
	run      bool
	steps    int
	sight    sight
	failure  *Result
	stranger string
	doubt    string
	differs  string
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
	tick := time.NewTicker(max(e.Stuck/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-done:
			return e.dead
		case <-tick.C:
			for i := range beats {
				if seed, since := beats[i].last(); since > e.Stuck {
					return fmt.Errorf("%s, seed %d: the program has kept control for %v; client code must wait only by its Env and Conn",
						e.Name, seed, since.Round(time.Millisecond))
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
	r.Strategy = e.Strategy
	defer r.Close()
	defer h.began.Store(0)
	for e.ctx.Err() == nil {
		seed := e.next.Add(1) - 1
		if seed > e.limit.Load() || seed < e.Seeds.First {
			return
		}
		if e.Shards > 0 && seed%e.Shards != e.Shard {
			e.take(seed, outcome{})
			continue
		}
		h.beat(seed)
		e.guarded(r, seed)
		if e.Progress != nil {
			e.Progress()
		}
	}
}

// guarded runs a seed and takes note of a program that ends the worker: a
// Goexit in a coroutine is passed on to whoever resumed it.
func (e *engine) guarded(r *Runner, seed uint64) {
	ended := false
	defer func() {
		if ended {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.limit.Store(0)
		e.dead = fmt.Errorf("%s, seed %d: the program has ended its goroutine, as runtime.Goexit and the FailNow of a test do; it must return, or panic",
			e.Name, seed)
	}()
	out := e.one(r, seed)
	ended = true
	e.take(seed, out)
}

// one runs a seed.
func (e *engine) one(r *Runner, seed uint64) outcome {
	res := r.Seed(e.Scenario, seed)
	out := outcome{run: true, steps: res.Steps, sight: e.coverage.look(r, &res)}
	if why := e.words.Unknown(res.History); why != "" {
		out.stranger = fmt.Sprintf("%s, seed %d: %s", e.Name, seed, e.strange(why))
	}
	if res.Verdict.Level == checkers.Unknown {
		out.doubt = fmt.Sprintf("seed %d: %s", seed, res.Verdict.Message)
	}
	if res.Verdict.Level == checkers.Violated && (!e.Broken() || e.Catches(res.Verdict)) {
		r.Names(&res)
		out.failure = &res
	}
	if seed < e.Seeds.First+twice {
		out.differs = again(r, e.Scenario, seed, res.Hash)
	}
	res.History = nil
	return out
}

// again runs a seed once more and says where the runs part, if they do.
func again(r *Runner, s *Scenario, seed, hash uint64) string {
	first := append([]uint64(nil), r.Hashes()...)
	if r.Seed(s, seed).Hash == hash {
		return ""
	}
	return fmt.Sprintf("seed %d: two runs part at step %d", seed, FirstDifference(first, r.Hashes())+1)
}

// take notes what a seed came to, and takes into account what is due.
func (e *engine) take(seed uint64, out outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if (out.failure != nil || out.stranger != "") && seed < e.limit.Load() {
		e.limit.Store(seed)
	}
	e.waiting[seed] = out
	for {
		out, due := e.waiting[e.turn]
		if !due {
			return
		}
		delete(e.waiting, e.turn)
		e.turn++
		if e.failure == nil && e.stranger == "" && out.run {
			e.add(out)
		}
	}
}

func (e *engine) add(out outcome) {
	e.runs++
	e.steps += out.steps
	e.coverage.add(&out.sight)
	e.failure, e.stranger = out.failure, out.stranger
	if e.doubt == "" {
		e.doubt = out.doubt
	}
	if e.differs == "" {
		e.differs = out.differs
	}
}

// FirstDifference returns the first index at which two runs' hashes differ.
func FirstDifference(a, b []uint64) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// Catches reports whether a verdict is that of a checker that must find the flaw
// of the broken recipe.
func (s *Scenario) Catches(v checkers.Verdict) bool {
	return v.Level == checkers.Violated && slices.Contains(s.Caught, v.Checker)
}

func (e *engine) report() Report {
	rep := Report{Scenario: e.Scenario, Runs: e.runs, Steps: e.steps, Coverage: e.coverage.report()}
	rep.Cut = e.failure == nil && e.turn <= e.Seeds.Last && e.ctx.Err() != nil
	for i, g := range e.Goals {
		if rep.Reached[i] == 0 {
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
	case e.runs == 0:
		rep.Status, rep.Why = Inconclusive, "no seed was run"
	case e.Broken() && !rep.Cut:
		rep.Status = Escaped
	case e.doubt != "":
		rep.Status, rep.Why = Inconclusive, e.doubt
	case e.Broken():
		rep.Status, rep.Why = Inconclusive, "not caught before the time was up"
	case len(rep.Missed) > 0:
		missed := "no run had " + rep.Missed[0]
		rep.Status, rep.Why = Inconclusive, strings.Join(append([]string{missed}, rep.Gaps...), "; and ")
	case len(rep.Gaps) > 0:
		rep.Status, rep.Why = Inconclusive, strings.Join(rep.Gaps, "; and ")
	}
	return rep
}
