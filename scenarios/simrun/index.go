package simrun

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

// scenariosOf returns where scenarios are.
func scenariosOf(list []engine.Scenario) (all []*engine.Scenario) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// pageOf is the page in a folder of a failure, from the index on.
func (c *checkFlags) pageOf(dir string) string {
	page := filepath.Join(dir, "index.html")
	if rel, err := filepath.Rel(c.out, page); err == nil {
		page = rel
	}
	return filepath.ToSlash(page)
}

// row adds what a scenario came to, and what was found out of its failure, to the index.
func (c *checkFlags) row(s *engine.Scenario, x *pipeline.Outcome, text string, told *reports.RowFailure) {
	row := x.Row(s, text)
	if told != nil {
		row.Failure = told
	}
	c.rows = append(c.rows, row)
}

// end writes the index and ends the record; text are the last lines.
func (c *checkFlags) end(
	ctx context.Context, a *app, rec *recorder, t *tally, all []*engine.Scenario, text string,
) (int, error) {
	if file, err := c.index(ctx, a, all, t.summary(len(all))); err != nil {
		c.lost = append(c.lost, err)
	} else if file != "" && len(all) > 1 {
		text = "index   " + file + "\n" + text
	}
	return rec.end(ctx, a, t, text, c.lost)
}

// index writes the page of the whole run, and returns its name: if a folder was asked for with -o, or there are pages
// of failures to lead to.
func (c *checkFlags) index(ctx context.Context, a *app, all []*engine.Scenario, summary string) (string, error) {
	page := func(r reports.Row) bool { return r.Failure != nil && r.Failure.Page != "" }
	if !c.reports && !slices.ContainsFunc(c.rows, page) {
		return "", nil
	}
	x := reports.Index{Title: a.called() + " check", Summary: summary}
	why := failedFast
	if ctx.Err() != nil {
		why = interrupted
		x.Summary = fmt.Sprintf("%s, %s", summary, interrupted)
	}
	for _, s := range all {
		i := slices.IndexFunc(c.rows, func(r reports.Row) bool { return r.Scenario == s.Name })
		if i < 0 {
			x.Rows = append(x.Rows, pipeline.NotRun(s, why))
			continue
		}
		x.Rows = append(x.Rows, c.rows[i])
	}
	return pipeline.WriteIndex(c.out, &x)
}
