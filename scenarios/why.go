package scenarios

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"zksim/sim"
)

// Futures is, for each step of a failing run, how many random futures that begin
// after it fail in the same way. Where this jumps, something was decided.
type Futures struct {
	Names  []string // of the steps
	Failed []int    // [i] after the first i steps, so there is one more than there are steps
	Of     int      // futures that were tried each time
}

// Jump returns the step (from 1) that raised the chance of failure most, and the
// chances before and after it; the first of equals.
func (f *Futures) Jump() (step int, before, after float64) {
	best := -1
	for i := 1; i < len(f.Failed); i++ {
		if d := f.Failed[i] - f.Failed[i-1]; d > best {
			best, step = d, i
		}
	}
	if step == 0 {
		return 0, 0, 0
	}
	return step, f.Chance(step - 1), f.Chance(step)
}

// Chance is the share of futures after the first i steps that fail.
func (f *Futures) Chance(i int) float64 { return float64(f.Failed[i]) / float64(f.Of) }

// ErrNondeterministic says that one schedule gave two different runs.
var ErrNondeterministic = errors.New("nondeterministic")

// Why branches the run of a failing schedule after each of its steps into random
// futures, in which no more faults strike, and counts those that the same checker
// finds violated. Once all of them fail the matter is decided and later steps are
// not tried. Why fails if the schedule does not fit, or fits only once, or ctx is done.
func Why(ctx context.Context, s *Scenario, p Schedule, futures int) (Futures, Result, error) {
	r := NewRunner()
	defer r.Close()
	whole, err := r.Replay(s, p)
	if err != nil {
		return Futures{}, whole, err
	}
	names, checker := whole.Schedule.Names, whole.Verdict.Checker
	f := Futures{Names: names, Failed: make([]int, len(names)+1), Of: futures}
	runners := make([]*Runner, runtime.GOMAXPROCS(0))
	for i := range runners {
		runners[i] = NewRunner()
		defer runners[i].Close()
	}
	for i := range f.Failed {
		var next, failed atomic.Int64
		var flaky atomic.Pointer[error]
		var wg sync.WaitGroup
		for _, r := range runners {
			wg.Go(func() {
				for k := next.Add(1); k >= 1 && k <= int64(futures) && ctx.Err() == nil; k = next.Add(1) {
					by, err := r.future(s, p, names[:i], uint64(k))
					if err != nil {
						flaky.Store(&err)
						return
					}
					if by == checker {
						failed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if err := flaky.Load(); err != nil {
			return f, whole, fmt.Errorf("%w: steps that fitted once do not fit again: %w", ErrNondeterministic, *err)
		}
		f.Failed[i] = int(failed.Load())
		if f.Failed[i] == futures {
			for k := range f.Failed[i:] {
				f.Failed[i+k] = futures
			}
			break
		}
	}
	return f, whole, ctx.Err()
}

// future runs the first steps of a schedule and then what a seed chooses, and
// returns the checker that finds it violated.
func (r *Runner) future(s *Scenario, p Schedule, names []string, seed uint64) (string, error) {
	then := &sim.Random{}
	then.Seed(seed)
	res, err := r.run(s, p, &sim.Replay{Names: names, Then: then})
	return res.Verdict.Checker, err
}
