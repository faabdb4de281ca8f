package simrun

import (
	"context"
	"slices"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// mostExplained is how many failing runs of each checker of a scenario a part explains to learn their kinds, from the
// lowest seed on. An explanation takes about a tenth of a second. If more runs fail, merge says so.
const mostExplained = 100

// kinds are the failures of a scenario, one of each kind, with the lowest seed. The kind is the checker and the kind of
// the step that decides.
type kinds struct {
	failures []shardFailure
	rows     []*reports.RowFailure // of the failures that were explained
	partly   []shardExplained      // of the checkers whose failures were not all explained
	cut      string                // why not; empty if all were, or mostExplained
}

// explained explains the failures that were kept, and writes the folder of the first of each kind. An interruption ends
// this after the first one.
func (c *checkFlags) explained(
	ctx context.Context, a *app, s *engine.Scenario, rep *pipeline.Outcome,
) (x kinds, err error) {
	list := rep.Failures
	if rep.Searched {
		list = []engine.Result{rep.Failure}
	}
	done := map[string]shardExplained{}
	for i := range list {
		if ctx.Err() != nil && i > 0 {
			x.cut = interrupted
			break
		}
		one := *rep
		one.Failure = list[i]
		row, again, err := c.ofKind(ctx, a, s, &one, &x)
		if err != nil {
			return x, err
		}
		checker := list[i].Verdict.Checker
		done[checker] = shardExplained{checker, done[checker].Runs + 1, list[i].Schedule.Seed}
		if row != nil {
			f := shardFailureOf(&list[i], row, again)
			if ctx.Err() != nil { // the step that decides was not looked for
				f.Cut, x.cut = interrupted, interrupted
			}
			x.failures, x.rows = append(x.failures, f), append(x.rows, row)
		}
	}
	for _, n := range rep.Part.Failed {
		if d := done[n.Checker]; d.Runs < n.Runs {
			d.Checker = n.Checker
			x.partly = append(x.partly, d)
		}
	}
	return x, nil
}

// ofKind explains a failure, and writes its folder if it is the first of its kind. It returns its row of the index, or
// nil if it has none, and the arguments that find it again.
func (c *checkFlags) ofKind(
	ctx context.Context, a *app, s *engine.Scenario, one *pipeline.Outcome, x *kinds,
) (*reports.RowFailure, string, error) {
	again := c.again(s, one)
	f, err := c.explain(ctx, a, s, &one.Failure, one.Where())
	if err != nil {
		return nil, again, err
	}
	kind := reports.NewRowFailure(f.Failure, f.Where, "")
	if slices.ContainsFunc(x.rows, func(y *reports.RowFailure) bool {
		return y.Checker == kind.Checker && y.Decides == kind.Decides
	}) {
		return nil, again, nil
	}
	row, err := c.written(a, s, f, c.folder(one), again)
	return row, again, err
}
