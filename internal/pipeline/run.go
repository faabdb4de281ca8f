// Package pipeline takes a scenario from seeds to a failure that a stranger can use. It runs the seeds, searches a
// small scope exhaustively, shrinks what fails, finds the step that decides, writes the folder, and replays the
// schedule from there. The command line and the checks of tests are two ways to call it.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// The third part of the portfolio searches all schedules of a scope as small as that of most failures. The limits on
// states, and on steps where runs are long, take some tenths of a second.
const (
	smallClients = 2
	smallStates  = 5000
	smallSteps   = 200_000
)

// Options say how much to run.
type Options struct {
	engine.Options
	// Faults is the plan of the small scope; "": the default of prove.Bounds.
	Faults string
}

// Outcome is the outcome of a scenario.
type Outcome struct {
	engine.Report
	// Every is the largest number of faults up to which all schedules of the small scope were explored without a
	// violation; -1 if none were.
	Every int
	// Searched says that the failure was found in the small scope, not by a seed.
	Searched bool
	Scope    prove.Bounds // the small scope
}

// Run runs a scenario over seeds, see [engine.Run]. Unless the seeds are those of a shard, it also searches the small
// scope: at the same time if the scenario must hold and several workers are allowed, otherwise once the seeds have
// found nothing. If ctx is done before the end, the report is cut short.
func Run(ctx context.Context, s *engine.Scenario, o Options) (Outcome, error) {
	beside := o.Shards == 0 && o.Workers != 1 && !s.Broken() && searchable(s, o.Strategy)
	var r prove.Result
	var failed error
	done := make(chan struct{})
	apart, stop := context.WithCancel(ctx)
	defer stop()
	if beside {
		o.Began = func() {
			go func() {
				defer close(done)
				r, failed = search(apart, s, Small(s, o.Faults))
			}()
		}
	}
	rep, err := engine.Run(ctx, s, o.Options)
	x := NewOutcome(&rep, o.Faults)
	switch {
	case err != nil || o.Shards > 0: // in the search, too, client code might not come back
		return x, err
	case !beside:
		return x, x.Search(ctx, o.Strategy)
	}
	if !x.open() {
		stop()
	}
	if <-done; !x.open() {
		return x, nil
	}
	return x, x.conclude(ctx, &r, failed)
}

// NewOutcome returns the outcome of seeds. plan is the plan of the small scope; "": the default of prove.Bounds.
func NewOutcome(rep *engine.Report, plan string) Outcome {
	return Outcome{Report: *rep, Every: -1, Scope: Small(rep.Scenario, plan)}
}

// Small is the small scope of a scenario.
func Small(s *engine.Scenario, plan string) prove.Bounds {
	return prove.Bounds{Clients: min(smallClients, s.Clients), Faults: plan}
}

// searchable reports whether the small scope of a scenario is searched.
func searchable(s *engine.Scenario, strategy engine.Strategy) bool {
	return strategy == engine.Portfolio && s.Outside == nil
}

// open reports whether the seeds have found nothing.
func (x *Outcome) open() bool { return x.Status == engine.Held || x.Status == engine.Escaped }

// Search explores the schedules of the small scope, if the strategy is the portfolio and the seeds have found nothing.
// If ctx is done before the end, the report is cut short.
func (x *Outcome) Search(ctx context.Context, strategy engine.Strategy) error {
	if !x.open() || !searchable(x.Report.Scenario, strategy) {
		return nil
	}
	r, err := search(ctx, x.Report.Scenario, x.Scope)
	return x.conclude(ctx, &r, err)
}

// search explores the schedules of a small scope. The first seeds have already run the code strictly.
func search(ctx context.Context, s *engine.Scenario, b prove.Bounds) (prove.Result, error) {
	sc, err := b.Of(s)
	if err != nil {
		return prove.Result{}, err
	}
	return prove.Prove(ctx, sc, prove.Options{Reductions: prove.Every, Workers: 1, States: smallStates,
		Steps: smallSteps, Samples: -1, Trusted: true})
}

// conclude adds the result of a search of the small scope.
func (x *Outcome) conclude(ctx context.Context, r *prove.Result, err error) error {
	if unstable, ok := errors.AsType[*prove.Unstable](err); ok { // no seed has shown it
		x.Status, x.Why = engine.Nondeterministic, unstable.Error()
		return nil
	}
	switch {
	case err != nil:
		return err
	case r.Outcome == prove.Violated:
		x.Searched, x.Cut = true, false
		_, found := Found(x.Report.Scenario, r)
		x.Failure, x.Status = *found, engine.Violation
		if x.Report.Scenario.Broken() {
			x.Status = engine.Caught
		}
		return nil
	}
	x.Cut = x.Cut || r.Outcome == prove.Inconclusive && ctx.Err() != nil
	x.Every = len(r.Levels) - 1
	return nil
}

// Found returns the counterexample of a search, and the scenario that judges it. That has only the checkers of the
// search, so that no other one finds something first. If several checkers find something, the search ends at the first
// step at which one does, but the verdict on the whole run counts.
func Found(s *engine.Scenario, x *prove.Result) (*engine.Scenario, *engine.Result) {
	judged := s.Listed()
	judged.Checkers = slices.DeleteFunc(slices.Clone(judged.Checkers), func(k checkers.Checker) bool {
		return !slices.Contains(x.Checkers, k.Name())
	})
	r := engine.NewRunner()
	defer r.Close()
	found := *x.Counterexample
	whole, err := r.Replay(&judged, found.Schedule)
	if err == nil && whole.Verdict.Level == checkers.Violated && whole.Verdict.Checker != found.Verdict.Checker {
		found.Verdict = whole.Verdict
	}
	return &judged, &found
}

// BySearch is the place of a failure that no seed has found.
const BySearch = "exhaustive search"

// Where says which run failed, as in "seed 17".
func (x *Outcome) Where() string {
	if x.Searched {
		return BySearch
	}
	return fmt.Sprintf("seed %d", x.Failure.Schedule.Seed)
}

// Certain says which schedules were explored exhaustively, with a separator before it; "" if none were.
func (x *Outcome) Certain() string {
	if x.Every < 0 {
		return ""
	}
	most := ""
	if x.Every > 0 {
		most = "at most "
	}
	once := ""
	if x.Scenario.Rounds > 1 { // the scope has one of them
		once = " in 1 round"
	}
	return fmt.Sprintf("; every schedule of %s%s with %s%s", history.Counted(x.Scope.Clients, "client"), once, most,
		FaultsText(x.Every))
}

// FaultsText writes a number of faults.
func FaultsText(n int) string {
	if n == 0 {
		return "no fault"
	}
	return history.Counted(n, "fault")
}
