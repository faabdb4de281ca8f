package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zksim/checkers"
	"zksim/sim"
)

// Range is a range of seeds, including both ends.
type Range struct{ First, Last uint64 }

// ParseRange reads seeds: "17" or "1-500". The first must be no larger than the last, and none larger than 2^63-1.
func ParseRange(s string) (Range, error) {
	first, last, isRange := strings.Cut(s, "-")
	a, err := strconv.ParseUint(first, 10, 63)
	b := a
	if err == nil && isRange {
		b, err = strconv.ParseUint(last, 10, 63)
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Range{}, fmt.Errorf("seeds are numbers up to %d, not %q", int64(math.MaxInt64), clip(s))
	case err != nil:
		return Range{}, fmt.Errorf("seeds are a number or a range as 1-500, not %q", clip(s))
	case b < a:
		return Range{}, fmt.Errorf("seeds are a range whose first is no larger than its last, as 1-500, not %q", clip(s))
	}
	return Range{a, b}, nil
}

// Options say how much to run.
type Options struct {
	Seeds    Range
	Strategy Strategy
	Workers  int // 0: one for each core
	// Shard i of Shards takes the seeds whose remainder modulo Shards is i; Shards 0: all seeds.
	Shard, Shards uint64
	// Keep, if above 0, is how many failing runs of each checker are kept, those of the lowest seeds. A scenario that must
	// hold is then run with all its seeds. With 0 the first failure ends the work; for mutants it always does.
	Keep int
	// Began, if not nil, is called after the first seeds were run strictly, before they are run with the others.
	Began func()
	// Progress, if not nil, is called after every run, from many goroutines.
	Progress func()
	// Stuck is how long client code may keep control without a call of its Conn or Env before that is a misuse, unless it
	// waits meanwhile; 0: 30 seconds.
	Stuck time.Duration
}

// Status is the outcome of a scenario over all its seeds.
type Status uint8

// The outcomes.
const (
	Held             Status = iota // everything held
	Caught                         // a mutant was caught, as it should be
	Violation                      // something that must hold does not
	Escaped                        // a mutant was not caught
	Inconclusive                   // a judge could not decide, or something that must happen never did
	Nondeterministic               // one seed, two different runs
	Misused                        // client code left the simulator, see sim.Misuse
)

// Report is the outcome of running a scenario.
type Report struct {
	Scenario *Scenario
	Status   Status
	Runs     int
	Steps    int
	// Failure is the run of the lowest seed that was violated, or that caught a mutant; its History is not kept.
	Failure  Result
	Failures []Result // the failures that were kept, by seed; the first is Failure
	Part     Part     // the numbers, to be added to the parts of other seeds
	Missed   []string // goals that no run reached; with fewer runs than Enough they are only noted
	Coverage
	Why   string // for Inconclusive, Nondeterministic and Misused; for Escaped what is violated instead, if anything
	Stack string // of client code, one call a line, for Misused and if the failure is a panic
	Cut   bool   // ctx was done before all seeds were run, and nothing had failed by then
}

// Run runs a scenario over seeds, on several cores. The report does not depend on their number. Run stops at the first
// failure, unless o.Keep says otherwise. It also stops when ctx is done; then the report covers what was run, and says
// that it was cut short. It fails when client code leaves the simulator, with a [*sim.Misuse] that is also in the
// report, when it ends its goroutine, or when it records a word that no checker knows.
func Run(ctx context.Context, s *Scenario, o Options) (Report, error) {
	if err := s.Valid(); err != nil {
		return Report{Scenario: s}, err
	}
	if s.Broken() {
		o.Keep = 0
	}
	o.Workers = o.workers()
	e := &engine{Scenario: s, Options: o, ctx: ctx, turn: o.Seeds.First, waiting: map[uint64]outcome{},
		coverage: newCoverer(s), words: checkers.VocabularyOf(s.Judges(), s.Words)}
	e.next.Store(o.Seeds.First)
	e.limit.Store(o.Seeds.Last)
	if err := e.work(); err != nil {
		rep := Report{Scenario: s}
		if m, ok := errors.AsType[*sim.Misuse](err); ok {
			rep.Status, rep.Why, rep.Stack = Misused, m.Message, m.Stack
		}
		return rep, err
	}
	e.rest()
	if e.unknown != nil {
		return Report{Scenario: s}, e.unknown
	}
	return e.report(), nil
}

// MaxWorkers bounds the number of workers, and so their memory.
const MaxWorkers = 1024

// workers returns how many workers there are: no more than seeds.
func (o *Options) workers() int {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return int(min(uint64(min(n, MaxWorkers)-1), o.Seeds.Last-o.Seeds.First)) + 1
}

// engine is one Run in progress. Workers finish seeds in any order. What they found counts in the order of the seeds
// and only up to the first failure, as if there were one worker. If ctx is done before, seeds are left out.
type engine struct {
	*Scenario
	Options
	ctx   context.Context
	next  atomic.Uint64
	limit atomic.Uint64 // no seed beyond it matters any more

	mu      sync.Mutex
	turn    uint64             // the seed that counts next
	waiting map[uint64]outcome // of seeds beyond it
	dead    error              // of a worker that ended too early

	words    checkers.Vocabulary
	coverage *coverer

	runs, steps int
	failures    []Result
	unknown     error     // a word that no checker knows
	doubt       *PartNote // a verdict "unknown"
	other       *PartNote // what a mutant violates that must be caught by another checker
	differs     *PartNote // a run that was not the same twice
	failed      []PartFailed
	panicked    string // of the first failure
	strict      map[uint64]Shown
}

// outcome is the result of one seed. The zero value is a seed of another shard.
type outcome struct {
	run      bool
	steps    int
	sight    sight
	failure  *Result
	unknown  error
	doubt    string
	differs  string
	other    string // in a mutant: the checker that was violated, if it is none that must find the flaw
	panicked string
	unmade   bool // it could not be made; doubt says why
}

// work runs the seeds and watches over the workers.
func (e *engine) work() error {
	if e.Outside == nil {
		var err error
		if e.strict, err = strictRuns(e.ctx, e.Scenario, e.Strategy, e.first(), e.Stuck); err != nil {
			return err
		}
	}
	if e.Began != nil {
		e.Began()
	}
	all, err := NewGuard(e.Stuck).workers(e.Workers, e.Scenario, e.Strategy, e.worker, func() { e.limit.Store(0) })
	if err != nil {
		return err
	}
	for _, w := range all {
		if m := w.runner.world.Misuse(); m != nil && e.dead == nil { // of a goroutine that has outlived the runs
			return w.where(m)
		}
	}
	return e.dead
}

// first returns the seeds that are also run strictly.
func (e *engine) first() (list []uint64) {
	for seed := e.Seeds.First; seed <= e.Seeds.Last && len(list) < strict && e.ctx.Err() == nil; seed++ {
		if e.Shards == 0 || seed%e.Shards == e.Shard {
			list = append(list, seed)
		}
	}
	return list
}

func (e *engine) worker(r *Runner, w *watched) {
	defer r.Close()
	for {
		seeds, more := e.claim()
		if !more {
			return
		}
		for i, seed := range seeds {
			if e.ctx.Err() != nil || seed > e.limit.Load() {
				return
			}
			w.begins(seed)
			r.ahead = seeds[i+1:]
			e.guarded(r, w, seed)
			if e.Progress != nil {
				e.Progress()
			}
		}
	}
}

// mostAhead is how many seeds a worker claims at once, at most, if its runs are made elsewhere.
const mostAhead = 16

// claim returns the next seeds of this shard for a worker, and whether there may be more. It claims one seed at a time,
// or several if runs are made elsewhere, since these can be ordered at once. If few seeds are left it claims few of
// them, so that all workers end at about the same time.
func (e *engine) claim() (list []uint64, more bool) {
	n, limit := uint64(1), e.limit.Load()
	if e.Elsewhere != nil {
		n = max(1, min(mostAhead, (limit-e.next.Load())/uint64(4*e.Workers)))
	}
	end := e.next.Add(n)
	for seed := end - n; seed < end; seed++ {
		switch {
		case seed > limit || seed < e.Seeds.First:
			return list, len(list) > 0
		case e.Shards > 0 && seed%e.Shards != e.Shard:
			e.take(seed, outcome{})
		default:
			list = append(list, seed)
		}
	}
	return list, true
}

// die ends the work with an error.
func (e *engine) die(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.limit.Store(0)
	if e.dead == nil {
		e.dead = err
	}
}

// guarded runs a seed, and notes a program that leaves the simulator or ends the worker: a Goexit in a coroutine is
// passed on to the goroutine that resumed it.
func (e *engine) guarded(r *Runner, w *watched, seed uint64) {
	ended := false
	defer func() {
		if !ended {
			e.die(fmt.Errorf("%s, seed %d: %w", e.Name, seed, ErrEnded))
		}
	}()
	out, m := e.one(r, seed)
	ended = true
	if m != nil {
		e.die(w.where(m))
		return
	}
	e.take(seed, out)
}

// one runs a seed.
func (e *engine) one(r *Runner, seed uint64) (outcome, *sim.Misuse) {
	res := r.Seed(e.Scenario, seed)
	out := outcome{run: true, steps: res.Steps, unmade: res.unmade}
	if res.Misuse != nil {
		return out, res.Misuse
	}
	if m := Judging(func() { out.sight = e.coverage.look(r, &res) }); m != nil {
		return out, m
	}
	if err := r.unfit(&e.words, &res); err != nil {
		out.unknown = fmt.Errorf("%s, seed %d: %w", e.Name, seed, err)
	}
	if res.Verdict.Level == checkers.Unknown {
		out.doubt = fmt.Sprintf("seed %d: %s", seed, res.Verdict)
	}
	switch {
	case res.Verdict.Level != checkers.Violated:
	case e.Broken() && !e.Catches(res.Verdict):
		out.other = res.Verdict.Checker
	default:
		r.Names(&res)
		out.failure = &res
		out.panicked = res.History.PanicStack()
	}
	if res.Hung && out.failure == nil { // other runs would take as long
		out.unknown = fmt.Errorf("%s, seed %d: %s", e.Name, seed, res.Verdict.Message)
	}
	if before, ok := e.strict[seed]; ok {
		if why := Parts(before, r.Shown()); why != "" {
			out.differs = fmt.Sprintf("seed %d: two runs %s", seed, why)
		}
	}
	res.History = nil
	return out, nil
}

// take notes the outcome of a seed, and counts the outcomes that are due.
func (e *engine) take(seed uint64, out outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if (out.failure != nil && e.Keep == 0 || out.unknown != nil) && seed < e.limit.Load() {
		e.limit.Store(seed)
	}
	e.waiting[seed] = out
	for {
		out, due := e.waiting[e.turn]
		if !due {
			return
		}
		delete(e.waiting, e.turn)
		e.add(e.turn, out)
		e.turn++
	}
}

// rest counts the outcomes that still wait for seeds that were not run because ctx was done.
func (e *engine) rest() {
	for _, seed := range slices.Sorted(maps.Keys(e.waiting)) {
		e.add(seed, e.waiting[seed])
	}
}

// add counts the outcome of a seed, unless a lower seed has ended the work.
func (e *engine) add(seed uint64, out outcome) {
	if len(e.failures) > 0 && e.Keep == 0 || e.unknown != nil || !out.run {
		return
	}
	if e.doubt == nil && out.doubt != "" {
		e.doubt = &PartNote{seed, out.doubt}
	}
	if out.unmade {
		return
	}
	e.runs++
	e.steps += out.steps
	e.coverage.add(&out.sight)
	e.unknown = out.unknown
	if out.failure != nil {
		e.keep(out.failure)
		if len(e.failures) == 1 {
			e.panicked = out.panicked
		}
	}
	if e.differs == nil && out.differs != "" {
		e.differs = &PartNote{seed, out.differs}
	}
	if e.other == nil && out.other != "" {
		e.other = &PartNote{seed, fmt.Sprintf("seed %d violates %s", seed, out.other)}
	}
}

// keep counts a failure, and keeps it unless its checker has enough of them.
func (e *engine) keep(r *Result) {
	checker := r.Verdict.Checker
	if failedBy(e.failed, checker) < max(1, e.Keep) {
		e.failures = append(e.failures, *r)
	}
	e.failed = fail(e.failed, checker, 1)
}

// firstDifference returns the first index at which the hashes of two runs differ.
func firstDifference(a, b []uint64) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// Catches reports whether a verdict is a violation found by a checker that must find the flaw of the mutant.
func (s *Scenario) Catches(v checkers.Verdict) bool {
	return v.Level == checkers.Violated && slices.Contains(s.Caught, v.Checker)
}

func (e *engine) report() Report {
	rep := Report{Scenario: e.Scenario, Runs: e.runs, Steps: e.steps, Coverage: e.coverage.report(),
		Failures: e.failures, Stack: e.panicked}
	rep.Part = Part{Runs: e.runs, Steps: e.steps, Doubt: e.doubt, Differs: e.differs, Other: e.other}
	if e.Keep > 0 {
		rep.Part.Failed = e.failed
	}
	rep.Part.fill(e.coverage)
	done := len(e.failures) > 0 && e.Keep == 0
	rep.Cut = !done && e.turn <= e.Seeds.Last && e.ctx.Err() != nil
	rep.decide()
	return rep
}

// Strategy is how a seed chooses the order of events.
type Strategy string

// The strategies. The empty one is Random.
const (
	Random    Strategy = "random"    // [zksim/sim.Random]
	PCT       Strategy = "pct"       // [zksim/sim.PCT]
	Portfolio Strategy = "portfolio" // Random for odd seeds, PCT for even ones
)

// Strategies are all strategies by name.
var Strategies = []Strategy{Random, PCT, Portfolio}

// pct reports whether the seed is one for PCT.
func (s Strategy) pct(seed uint64) bool { return s == PCT || s == Portfolio && seed%2 == 0 }
