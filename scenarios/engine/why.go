package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"zksim/model/history"
	"zksim/sim"
)

// ErrNondeterministic says that one schedule gave two different runs.
var ErrNondeterministic = errors.New("nondeterministic")

// Why branches the run of a failing schedule after each of its steps into random futures without further faults, and
// counts those that the same checker finds violated. If code says that something is broken, it counts those in which
// the code says the same. Once all futures of a step fail the matter is decided, and later steps are not tried. They
// are also not tried once all futures together have taken more than limit steps; 0: no limit. Why fails if the schedule
// does not fit, or fits only once, or ctx is done.
func Why(ctx context.Context, s *Scenario, p Schedule, futures, limit int) (history.Futures, Result, error) {
	r := NewRunner()
	defer r.Close()
	f := history.Futures{Of: futures}
	whole, err := r.Replay(s, p)
	if err != nil {
		return f, whole, err
	}
	b := branches{scenario: s, schedule: p, checker: whole.Verdict.Checker, sentence: whole.sentence(),
		runners: make([]*Runner, runtime.GOMAXPROCS(0))}
	for i := range b.runners {
		b.runners[i] = NewRunner()
		defer b.runners[i].Close()
	}
	names := whole.Schedule.Names
	for i := 0; i <= len(names); i++ {
		if f.Cut = limit > 0 && b.steps.Load() > int64(limit); f.Cut {
			break
		}
		failed, err := b.count(ctx, names[:i], futures)
		if err != nil {
			return f, whole, fmt.Errorf("%w: steps that fitted once do not fit again: %w", ErrNondeterministic, err)
		}
		if f.Failed = append(f.Failed, failed); failed == futures {
			break
		}
	}
	f.Decide(names)
	return f, whole, ctx.Err()
}

// calm is the name of the transition that ends the faults.
const calm = "calm"

// branches runs futures on all cores.
type branches struct {
	scenario *Scenario
	schedule Schedule
	checker  string
	sentence string
	runners  []*Runner
	steps    atomic.Int64 // of all runs
}

// future is a schedule with random steps after it.
type future struct {
	sim.Replay
	seed uint64
}

func newFuture(names []string, seed uint64, loose bool) *future {
	then := &ahead{seed: seed}
	then.Seed(seed)
	return &future{sim.Replay{Names: names, Loose: loose, Then: then}, seed}
}

// ahead is a random chooser that begins where the steps of a schedule end. If Go's runtime draws from a seed, it gets a
// new seed there: otherwise all futures would have the draws of the run that failed.
type ahead struct {
	sim.Random
	seed  uint64
	begun bool
}

// Choose implements [sim.Chooser].
func (a *ahead) Choose(w *sim.World) (sim.Transition, bool, error) {
	if !a.begun {
		a.begun = true
		w.Branch(a.seed)
	}
	return a.Random.Choose(w)
}

// count returns how many futures after these steps fail.
func (b *branches) count(ctx context.Context, names []string, futures int) (int, error) {
	if !slices.Contains(names, calm) {
		names = append(slices.Clone(names), calm)
	}
	var next, failed atomic.Int64
	var flaky atomic.Pointer[error]
	var wg sync.WaitGroup
	for _, r := range b.runners {
		wg.Go(func() {
			for k := next.Add(1); k >= 1 && k <= int64(futures) && ctx.Err() == nil; k = next.Add(1) {
				res, err := r.run(b.scenario, b.schedule, newFuture(names, uint64(k), b.schedule.Loose()))
				if err != nil {
					flaky.Store(&err)
					return
				}
				b.steps.Add(int64(res.cost()))
				if res.Verdict.Checker == b.checker && res.sentence() == b.sentence {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := flaky.Load(); err != nil {
		return 0, *err
	}
	return int(failed.Load()), nil
}

// sentence identifies what code says is broken: its kind, or else the text before a colon, since places and values of
// the run may follow; "" if the violation is of another kind.
func (r *Result) sentence() string {
	e := r.broken()
	if e == nil {
		return ""
	}
	text, _, _ := strings.Cut(e.Path, ": ")
	return cmp.Or(e.Data, text)
}
