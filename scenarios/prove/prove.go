package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Options say how to search. They do not change what the certificate of a completed search says.
type Options struct {
	Reductions Reductions
	Workers    int   // at most engine.MaxWorkers; 0: one per core
	Memory     int64 // live heap bytes at which the search gives up; 0: no limit
	// States limits the distinct states of a level; 0: no limit. With one worker, the level always stops at the same
	// state.
	States int
	// Steps limits the steps that code makes in a level, including those to the point where a run goes its own way; 0: no
	// limit. The longer runs are, the fewer states it allows.
	Steps      int
	Checkpoint string        // file to resume from, if it exists, and to save to, with its folder; "": none
	Every      time.Duration // how often to save; 0: every minute
	Reverse    bool          // search in another order
	Stuck      time.Duration // how long client code may keep control before that is an error; 0: 30 seconds
	// Trusted says that the code has already run strictly, see [engine.Run], so that the search need not begin with that.
	Trusted bool
	// Audit searches without the reduction Forget, and fails with an [AuditError] if that reduction is not sound: if
	// states that are said to be the same go on differently.
	Audit bool
	// Rerun runs the code for every transition, and remembers nothing about what steps do. Its only use is to check that
	// this makes no difference.
	Rerun bool
	// Doubt says that one in this many remembered steps is run again; 0: 1000. If the result differs, the search fails.
	Doubt int
	// Samples is how many random runs of a scope are judged as a whole, without any reduction, before a scope in which
	// nothing was found is said to hold. A violation in one of them is the result of the search, and a checker that had
	// nothing to judge in any of them has proved nothing. 0: 500; less than 0: none.
	Samples int
	// Progress, if not nil, is called from time to time.
	Progress func(Progress)
}

// workers returns the number of workers.
func (o *Options) workers() int {
	return min(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), engine.MaxWorkers)
}

// Progress says how far a search has come.
type Progress struct {
	Faults      int // of the level that is being explored
	States      int
	Transitions int64
	Frontier    int   // edges that idle workers could take; each worker has more
	Deepest     int64 // steps of the longest run
	// Fresh is the share of the latest transitions that led to new states. It approaches 0 as the search comes to its end.
	Fresh float64
}

// Result is a certificate and, for a violation, the run that shows it.
type Result struct {
	Certificate
	Counterexample *engine.Result // as found, with the names of its steps
	Last           Level          // the last level, complete or not
	Limited        bool           // a limit was reached, or ctx was done: a longer search may have another result
	// Never lists the sentences of Process.Sometimes that held in no explored schedule, sorted.
	Never []string
	// Unstruck lists the rules of the plan whose faults could not strike in the scope, and what they need. A rule whose
	// fault another rule allowed is not in it.
	Unstruck []string
}

// Prove explores all schedules of a scope: first those without faults, then those with at most one, and so on, so that
// a counterexample has the least number of faults. It returns an outcome, or an error when the scope makes no sense, a
// checkpoint cannot be used, or client code blocks. It returns both if the latest checkpoint could not be saved. When
// ctx is done or a limit is reached, the outcome is Inconclusive.
func Prove(ctx context.Context, sc Scope, o Options) (Result, error) {
	if err := sc.check(); err != nil {
		return Result{}, err
	}
	switch {
	case o.Audit && o.Checkpoint != "":
		return Result{}, errors.New("an audit cannot be saved, so it takes no checkpoint")
	case o.Audit && (sc.Interleave || !o.Reductions.Forget):
		return Result{}, errors.New("there is nothing to audit where nothing is forgotten, as without that reduction or " +
			"when code interleaves")
	}
	judged := sc.Scenario.Listed()
	sc.Scenario = &judged
	if err := followed(sc.Scenario, o.Reductions); err != nil {
		return Result{}, err
	}
	o.Workers = o.workers()
	o.Every = cmp.Or(o.Every, time.Minute)
	o.Stuck = cmp.Or(o.Stuck, usuallyStuck)
	p := &prover{scope: sc, Options: o}
	p.result.Certificate = Certificate{Format: certificateFormat, Claim: sc.claim(o.Reductions)}
	from, err := p.resume()
	if err != nil {
		return Result{}, err
	}
	for ; ; from = nil {
		again, err := p.level(ctx, from)
		if err != nil || !again {
			return p.result, cmp.Or(err, p.err)
		}
	}
}

// prover is a Prove in progress.
type prover struct {
	scope Scope
	Options
	result Result
	stop   string  // the limit that was reached
	err    error   // of the latest checkpoint; it does not end the search
	memo   *memo   // of all levels
	hops   *hops   // of all levels
	chance float64 // memo.chance before the checkpoint
	// sentences are the sentences of Process.Sometimes, of all levels.
	sentences sentences
	code      uint64 // hash of a run, 0: not known yet
	saved     time.Time
	asked     time.Time // for progress
	before    [2]int64  // states and transitions then
	feasible  uint64    // faults, of all levels, as in a search
}

// level explores the next level, from a checkpoint if there is one, and reports whether another level follows.
func (p *prover) level(ctx context.Context, from *checkpoint) (again bool, err error) {
	cert := &p.result.Certificate
	s := newSearch(&p.scope, p.Reductions, len(cert.Levels))
	s.reverse, s.stuck, s.limit, s.effort = p.Reverse, p.Stuck, int64(p.States), int64(p.Steps)
	s.doubtful = cmp.Or(p.Doubt, 1000)
	s.again, s.strict = s.again || p.Audit || p.Rerun, p.Trusted
	if p.memo == nil {
		p.memo = s.memo
	}
	s.memo = p.memo
	if p.hops == nil {
		p.hops = s.hops
	}
	s.hops = p.hops
	if p.Audit {
		s.audit = &audit{next: map[uint64]successor{}}
	}
	edges := []edge{{}}
	if from != nil {
		edges = from.restore(s)
	}
	p.saved, p.before = time.Now(), [2]int64{}
	if err := p.explore(ctx, s, edges, from == nil); err != nil {
		return false, err
	}
	if s.audit != nil && s.audit.says != "" {
		return false, AuditError(s.audit.says)
	}
	left := s.frontierLeft()
	if s.refuted == nil && left == "" {
		if left, err = p.circles(ctx, s); err != nil {
			return false, err
		}
	}
	p.sentences.add(s.sentences)
	p.feasible |= s.feasible.Load()
	p.result.Never, p.result.Unstruck = p.sentences.never(), p.scope.unstruck(p.feasible)
	states, digest := s.known.size()
	p.result.Last = Level{s.most, states, s.transitions.Load(), s.runs.Load(), s.ends.Load(), fmt.Sprintf("%016x", digest)}
	switch {
	case s.refuted != nil:
		p.refuted(s)
		return false, p.discard()
	case left != "":
		return false, p.gaveUp(ctx, s, left)
	case s.unsure != "":
		cert.Outcome, cert.Why = Inconclusive, s.unsure
		return false, p.discard()
	}
	cert.Levels = append(cert.Levels, p.result.Last)
	cert.Collision = pairs(states, 128) + p.chance + p.memo.chance()
	if s.again { // the checkers' memories were not looked up
		cert.Collision += pairs(states, 64)
	}
	if s.most == 0 && p.scope.most() > 0 && !s.withheld.Load() {
		cert.Outcome, cert.Why = Inconclusive, neverStrikes+p.scope.lacks()
		return false, p.discard()
	}
	if s.most < p.scope.most() && s.withheld.Load() {
		return true, nil
	}
	if err := p.settle(s); err != nil {
		return false, err
	}
	return false, p.discard()
}

// settle makes the random runs of a scope in which the search has found nothing, and sets the outcome.
func (p *prover) settle(s *search) error {
	err := p.sample(s)
	switch cert := &p.result.Certificate; {
	case err != nil, cert.Outcome == Violated:
	case cert.Why != "":
		cert.Outcome = Inconclusive
	default:
		cert.Outcome = Holds
	}
	return err
}

const neverStrikes = "no fault of the plan can ever strike: "

// steadyStates is how many states of a level one worker explores alone, so that a violation among them is the same each
// time.
const steadyStates = 20_000

// explore runs the search of a level from the given edges. fresh says that nothing of the level is known yet.
func (p *prover) explore(ctx context.Context, s *search, from []edge, fresh bool) error {
	watch := func() bool { return p.watch(s) }
	if limit := s.limit; fresh && (limit == 0 || limit > steadyStates) {
		s.limit = steadyStates
		if err := s.run(ctx, 1, from, watch); err != nil {
			return err // the worker may still be in client code
		}
		more := s.full.Swap(false)
		if s.limit = limit; !more || s.spent.Load() || s.refuted != nil || p.stop != "" || ctx.Err() != nil {
			return nil
		}
		from = s.pool.queue
	}
	return s.run(ctx, p.Workers, from, watch)
}

// refuted records the schedule that was found.
func (p *prover) refuted(s *search) {
	cert, r := &p.result.Certificate, s.refuted
	p.scope.Scenario.KeepFaults(&r.Schedule)
	p.result.Counterexample = r
	cert.Outcome, cert.Checker, cert.Message = Violated, r.Verdict.Checker, r.Verdict.Message
	cert.Struck, cert.Schedule = s.most, r.Schedule.Names
}

// frontierLeft says what a search has left to explore, "" if nothing.
func (s *search) frontierLeft() string {
	if len(s.pool.queue) == 0 {
		return ""
	}
	return fmt.Sprintf("frontier %d", len(s.pool.queue))
}

// gaveUp records how far the search has come and what is left, and saves it.
func (p *prover) gaveUp(ctx context.Context, s *search, left string) error {
	why := cmp.Or(p.stop, "interrupted")
	if s.full.Load() {
		why = "the number of states is reached"
	}
	if s.spent.Load() {
		why = "the number of steps is reached"
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "the time is up"
	}
	cert, last := &p.result.Certificate, p.result.Last
	cert.Outcome, p.result.Limited = Inconclusive, true
	cert.Why = fmt.Sprintf("%s with at most %s after %s, %s and %s; %s", why, history.Counted(last.Faults, "fault"),
		history.Counted(last.States, "state"), history.Counted(last.Transitions, "transition"),
		history.Counted(last.Schedules, "schedule"), left)
	return p.save(s, s.pool.queue)
}

// watch reports progress, saves, and checks the limits. It returns true when one is reached.
func (p *prover) watch(s *search) bool {
	if p.full() {
		return true
	}
	if p.Progress != nil && time.Since(p.asked) >= progressEvery {
		p.asked = time.Now()
		p.Progress(p.progress(s))
	}
	if p.Checkpoint != "" && time.Since(p.saved) >= p.Every {
		s.pool.pause(func(queue []edge) { p.err = p.save(s, queue) })
		p.saved = time.Now()
	}
	return false
}

// full reports whether the limit of memory is reached.
func (p *prover) full() bool {
	used := int64(0)
	if p.Memory > 0 {
		used = heap()
	}
	if used <= p.Memory {
		return false
	}
	p.stop = fmt.Sprintf("the memory is up, %d MB,", used>>20)
	return true
}

const progressEvery = 200 * time.Millisecond

func (p *prover) progress(s *search) Progress {
	states, _ := s.known.size()
	x := Progress{Faults: s.most, States: states, Transitions: s.transitions.Load(), Frontier: s.pool.waiting(),
		Deepest: s.deepest.Load()}
	if n := x.Transitions - p.before[1]; n > 0 {
		x.Fresh = float64(int64(states)-p.before[0]) / float64(n)
	}
	p.before = [2]int64{int64(states), x.Transitions}
	return x
}

// heap returns the bytes of the heap that were in use after the latest collection.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
