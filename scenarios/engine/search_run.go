package engine

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"zksim/checkers"
	"zksim/model/history"
)

// Searched is the result of an exhaustive search.
type Searched struct {
	Bounds
	Servers int
	Made    int     // runs
	Closed  bool    // no other schedule is within the bounds
	Missed  int     // runs that differ from the ones in which their paths were found
	First   int     // steps of a run in which the search makes its choices, if a run was longer; 0: no run was
	Failure *Result // the first that was violated, in an order that does not depend on the number of workers
	Doubt   string  // a verdict "unknown"
	Unmet   string  // if it is closed: what at least one run must meet and none did
	Idle    []Idle  // if it is closed: the checkers that had nothing to judge, perhaps because the bounds are small

	seen  *coverer
	words checkers.Vocabulary
}

// String returns it as in "every schedule of 1 server with at most 1 fault and 2 delays, 5123 runs". If a run was
// longer than its choices, it is "2 delays in its first 2000 steps".
func (x *Searched) String() string {
	text := fmt.Sprintf("schedule of %s with at most %s and %s", history.Counted(x.Servers, "server"),
		history.Counted(x.Faults, "fault"),
		history.Counted(x.Delays, "delay"))
	if x.First > 0 {
		text += fmt.Sprintf(" in its first %s", history.Counted(x.First, "step"))
	}
	switch {
	case x.Failure != nil:
		return fmt.Sprintf("run %d of those of each %s", x.Made, text)
	case x.Closed:
		return fmt.Sprintf("every %s, %s", text, history.Counted(x.Made, "run"))
	}
	return fmt.Sprintf("not every %s: the first %s", text, history.Counted(x.Made, "run"))
}

// Exhaust searches a scenario within bounds, with the whole plan and the first of its sizes of ensembles. Schedules
// that differ at the fewest steps come first. It ends with the first failure, after the runs that the bounds allow, and
// when ctx is done. It fails like [Run] when client code leaves the simulator or ends its goroutine, and like [Strict],
// with which it begins.
func Exhaust(ctx context.Context, s *Scenario, b Bounds) (Searched, error) {
	if err := s.Valid(); err != nil {
		return Searched{}, err
	}
	if err := b.valid(); err != nil {
		return Searched{}, err
	}
	if s.Outside == nil {
		if err := Strict(ctx, s, 0); err != nil {
			return Searched{}, err
		}
	}
	b.Runs = cmp.Or(b.Runs, UsualRuns)
	p := s.NewSchedule(0)
	if len(s.Servers) > 0 {
		p.Servers = s.Servers[0]
	}
	p.Order, p.Faults = 1, s.Faults
	x := Searched{Bounds: b, Servers: p.Servers, seen: newCoverer(s), words: checkers.VocabularyOf(s.Judges(), s.Words)}
	runners, guard := make([]*Runner, runtime.GOMAXPROCS(0)), NewGuard(0)
	for i := range runners {
		runners[i] = NewRunner()
		guard.Watch(runners[i])
		defer runners[i].Close()
	}
	for level := []branch{{}}; ; {
		if len(level) == 0 {
			x.Closed, x.Unmet, x.Idle = true, x.unmet(), x.seen.judged.Idle()
			return x, nil
		}
		left := b.Runs - x.Made
		next, err := x.level(ctx, p, level[:min(len(level), left)], runners, guard)
		if err != nil || x.Failure != nil || ctx.Err() != nil || len(level) > left {
			return x, err
		}
		level = next
	}
}

// found is the result of the run of a branch.
type found struct {
	made   bool
	widths []Width
	missed bool
	longer bool
	result *Result
	doubt  string
	err    error
	sight  sight
}

// level runs branches that differ at equally many steps, and returns those that differ at one step more.
func (x *Searched) level(
	ctx context.Context, p Schedule, level []branch, runners []*Runner, guard *Guard,
) (next []branch, err error) {
	all, err := x.runs(ctx, p, level, runners, guard)
	if err != nil {
		return nil, err
	}
	for i := range all {
		f := &all[i]
		if !f.made || f.err != nil && ctx.Err() != nil { // it was interrupted
			continue
		}
		x.Made++
		switch {
		case f.err != nil:
			return nil, f.err
		case f.result != nil:
			x.Failure = f.result
			return nil, nil
		}
		x.Doubt = cmp.Or(x.Doubt, f.doubt)
		x.seen.add(&f.sight)
		if f.longer {
			x.First = x.seen.usualSafety()
		}
		if f.missed {
			x.Missed++
			continue
		}
		next = level[i].children(next, f.widths, x.Bounds)
	}
	return next, nil
}

// runs runs branches up to the first that fails. It returns an error when the guard finds one.
func (x *Searched) runs(
	ctx context.Context, p Schedule, level []branch, runners []*Runner, guard *Guard,
) ([]found, error) {
	all := make([]found, len(level))
	var turn atomic.Int64
	ended := found{made: true, err: fmt.Errorf("%s: %w", x.seen.Name, ErrEnded)}
	var failed atomic.Bool
	var wg sync.WaitGroup
	for _, r := range runners {
		wg.Go(func() {
			for ctx.Err() == nil && !failed.Load() {
				i := int(turn.Add(1)) - 1
				if i >= len(level) {
					return
				}
				all[i] = ended // as long as the code has not come back: when it ends its goroutine, it ends this one
				all[i] = r.again(x, p, &level[i])
				if all[i].result != nil || all[i].err != nil {
					failed.Store(true)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	err := guard.Until(done, nil)
	failed.Store(err != nil)
	lost := err != nil && !ends(done)
	for _, r := range runners {
		if r.lost = lost; lost {
			continue
		}
		if m := r.world.Misuse(); m != nil && err == nil { // of a goroutine that has outlived the runs
			err = m
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.seen.Name, err)
	}
	return all, nil
}

// unmet says which sentences held in no run and, if the bounds allow faults, which rules could never strike.
func (x *Searched) unmet() string {
	var list []string
	for _, r := range x.seen.rules {
		if r.Possible == 0 && r.Strikes == 0 && x.Faults > 0 && !x.seen.loose {
			list = append(list, fmt.Sprintf("%s could never strike: %s", r.Rule, r.Lacks(x.seen.Faults, x.seen.Clients)))
		}
	}
	for _, y := range x.seen.wishes {
		if y.Held == 0 {
			list = append(list, "no run had "+y.Sentence)
		}
	}
	return strings.Join(list, "; and ")
}

// again runs a branch. Code outside of the simulator need not go the same way each time. A run of it that is not the
// one in which its turns were found is repeated.
func (r *Runner) again(x *Searched, p Schedule, b *branch) (f found) {
	for range Repetitions {
		f = r.branch(x, p, b)
		if !f.missed || f.result != nil || f.err != nil || x.seen.Outside == nil && x.seen.Elsewhere == nil {
			break
		}
	}
	return f
}

// branch runs a branch.
func (r *Runner) branch(x *Searched, p Schedule, b *branch) found {
	s, ch := x.seen.Scenario, &Search{Path: b.path}
	res, err := r.run(s, p, ch)
	f := found{made: true, widths: ch.Widths, missed: ch.Missed, longer: ch.Longer, err: err}
	if err != nil {
		return f
	}
	m := res.Misuse
	if m == nil {
		m = Judging(func() { f.sight = x.seen.look(r, &res) })
	}
	if m != nil {
		f.err = m
		return f
	}
	if f.err = r.unfit(&x.words, &res); f.err != nil {
		return f
	}
	switch {
	case res.Verdict.Level == checkers.Unknown:
		f.doubt = res.Verdict.String()
	case res.Verdict.Level == checkers.Violated && (!s.Broken() || s.Catches(res.Verdict)):
		r.Names(&res)
		res.History = nil
		f.result = &res
	}
	return f
}
