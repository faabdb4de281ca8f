package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"zksim/sim"
)

// ErrEnded says that client code, or a checker, a goal or Finally, ended the goroutine that runs it.
var ErrEnded = errors.New("the program, or what judges it, has ended its goroutine, as runtime.Goexit and the " +
	"FailNow of a test do; it must return, or panic")

// patience is how long a run that is known to be worthless may go on before it is abandoned.
const patience = 200 * time.Millisecond

// watchful is for how long the guard looks at goroutines all the time.
const watchful = 300 * time.Millisecond

// Strictly calls f, which makes r run. If client code leaves the simulator, Strictly returns an error that is a
// [*sim.Misuse], otherwise the error of f. It may call f several times. Runs take a few times as long as usual. If
// client code does not come back, r is no longer usable, and need not be closed.
func (r *Runner) Strictly(f func() error) error {
	w := NewGuard(0).watch(r)
	once := func() error {
		w.turns.begin()
		return f()
	}
	return r.strictly(w, func() error {
		if err := once(); err != nil {
			return err
		}
		return w.turns.doubts(once)
	})
}

// ReplayStrictly is Replay under Strictly.
func (r *Runner) ReplayStrictly(s *Scenario, schedule Schedule) (res Result, err error) {
	err = r.Strictly(func() (err error) {
		res, err = r.Replay(s, schedule)
		return err
	})
	return res, err
}

func (r *Runner) strictly(w *watched, f func() error) error {
	defer func() {
		if !r.lost {
			r.world.Watch, r.world.Strict = nil, false
		}
	}()
	r.world.Strict, w.turns.target = true, -1
	w.guard.counted.Store(true)
	done := make(chan struct{})
	err := ErrEnded
	var panicked any
	go func() {
		defer close(done)
		defer func() {
			if x := recover(); x != nil {
				panicked = fmt.Sprintf("%v\n\n%s", x, debug.Stack())
			}
		}()
		err = f()
	}()
	began := time.Now()
	if found := w.guard.Until(done, func() bool { return time.Since(began) < watchful }); found != nil {
		r.lost = !ends(done)
		return found
	}
	if panicked != nil {
		panic(panicked)
	}
	if m := r.world.Misuse(); m != nil && (err == nil || err == ErrEnded) {
		return w.where(m)
	}
	return err
}

// ends waits a while for done, and reports whether it was closed.
func ends(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

// Shown is what a run has shown, which is enough to tell whether another run is the same.
type Shown struct {
	hashes []uint64
	names  []string
}

// Shown returns what the last run has shown.
func (r *Runner) Shown() Shown {
	return Shown{append([]uint64(nil), r.Hashes()...), r.names()}
}

// strict is how many of the first seeds are run strictly, before the others.
const strict = 10

// Strict runs the first few seeds of a scenario strictly, twice, until ctx is done. It returns an error that is a
// [*sim.Misuse] if client code leaves the simulator, or keeps control for longer than stuck (0: 30 seconds), one that
// wraps [ErrNondeterministic] if the two runs of a seed differ, and another error if client code ends its goroutine.
// Nothing else that client code does is an error here.
func Strict(ctx context.Context, s *Scenario, stuck time.Duration) error {
	seeds := []uint64{1, 2, 3} // few: an exhaustive search watches its own runs
	var runs [2]map[uint64]Shown
	for k := range runs {
		var err error
		if runs[k], err = strictRuns(ctx, s, Portfolio, seeds, stuck); err != nil {
			return err
		}
		slices.Reverse(seeds) // so that other runs come before each, if runs hand on something
	}
	for _, seed := range seeds {
		one, first := runs[0][seed]
		other, second := runs[1][seed]
		if first && second { // else ctx was done
			if parts := Parts(one, other); parts != "" {
				return fmt.Errorf("%w: two runs of seed %d %s", ErrNondeterministic, seed, parts)
			}
		}
	}
	return nil
}

// errStopped ends strict runs early.
var errStopped = errors.New("stopped")

// strictRuns runs seeds strictly. It begins no run after ctx is done.
func strictRuns(
	ctx context.Context, s *Scenario, strategy Strategy, seeds []uint64, stuck time.Duration,
) (map[uint64]Shown, error) {
	r := NewRunner()
	r.Strategy = strategy
	runs := map[uint64]Shown{}
	w := NewGuard(stuck).watch(r)
	w.name = s.Name
	err := r.strictly(w, func() error {
		for _, seed := range seeds {
			once := func() error {
				if ctx.Err() != nil {
					return errStopped
				}
				w.begins(seed)
				if m := r.Seed(s, seed).Misuse; m != nil {
					return w.where(m)
				}
				return nil
			}
			if err := once(); err != nil {
				return err
			}
			runs[seed] = r.Shown()
			if err := w.turns.doubts(once); err != nil {
				return err
			}
			if err := w.turns.confirm(once); err != nil {
				if m, ok := err.(*sim.Misuse); ok {
					err = w.where(m)
				}
				return err
			}
		}
		return nil
	})
	r.Close()
	switch err {
	case errStopped:
		err = nil
	case ErrEnded:
		err = fmt.Errorf("%s, seed %d: %w", s.Name, w.seed, err)
	}
	return runs, err
}

// hint is what usually makes runs of one seed part.
const hint = "random numbers or time from outside of Env, or the order of a map?"

// Parts says, as in "part at step 3", where two runs of one seed or schedule differ, and what usually causes that; ""
// if they are the same.
func Parts(a, b Shown) string {
	i := firstDifference(a.hashes, b.hashes)
	if i == len(a.hashes) && i == len(b.hashes) {
		return ""
	}
	name := func(x Shown) string {
		if i < len(x.names) {
			return x.names[i]
		}
		return "the end of the run"
	}
	one, other := name(a), name(b)
	what := one + " in one and " + other + " in the other"
	if one == other {
		what = one + " is not the same in both"
	}
	if client := clientOf(one); client != "" && client == clientOf(other) {
		what += ", code of " + client
	}
	return fmt.Sprintf("part at step %d (%s): %s", i+1, what, hint)
}

// clientOf returns the client whose code a transition runs, such as "c1" for "run c1/watch"; "" if it runs none.
func clientOf(name string) string {
	verb, rest, _ := strings.Cut(name, " ")
	if verb != "run" && verb != "deliver" {
		return ""
	}
	client, _, _ := strings.Cut(rest, "/")
	return client
}
