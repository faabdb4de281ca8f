package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"

	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

// results are what a command leaves in a folder: a folder for each failure, and an index of all scenarios.
type results struct {
	command string
	out     string
	asked   bool // -o is given
	rows    []reports.Row
	lost    []error // files that could not be written
}

// byProof is the folder of a failure that exhaustive search has found.
const byProof = "prove"

// flag defines -o for a command.
func (c *results) flag(f *flag.FlagSet) {
	c.command = f.Name()
	f.StringVar(&c.out, "o", "out", "folder for the reports of failures, and for an index of the run")
}

// begin finds out whether the folder can be written, if it was asked for, and removes the index of an earlier run.
func (c *results) begin() error {
	if !c.asked {
		return nil
	}
	if err := reportFolder(c.out); err != nil {
		return err
	}
	return pipeline.WithdrawIndex(c.out)
}

// failed explains a failure, writes its folder, and prints the block that leads to it. again are the arguments of the
// command that finds it again. It returns its row of the index.
func (c *results) failed(
	ctx context.Context, a *app, s *engine.Scenario, found *engine.Result, where, folder, again string,
) (*reports.RowFailure, error) {
	progress, end := a.shrinking(c.command, s, len(found.Schedule.Names))
	f, err := pipeline.Explain(ctx, s, found, where, progress)
	end()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.out, pipeline.FileName(s), folder)
	file := filepath.Join(dir, pipeline.ScheduleFile)
	again = a.command + " " + again
	err = f.Write(dir, a.command+" replay "+pipeline.Quote(file), again)
	if x := (*pipeline.Unrepeatable)(nil); errors.As(err, &x) {
		return nil, err
	}
	head := "FAIL  "
	if s.Broken() {
		head = "      "
	}
	f.PrintVerdict(a.out, head)
	if err != nil {
		c.noReport(a, fmt.Errorf("%s of %s fails (%s), but no report can be written: %w",
			f.Where, s.Name, f.Report.Checker, err))
		fmt.Fprintf(a.out, "      reproduce  %s\n", again)
		f.Report.Reproduce = []string{again}
		return reports.NewRowFailure(f.Failure, f.Where, ""), nil
	}
	fmt.Fprintf(a.out, "      replayed   2 of 2 identical, hash %s\n", f.Report.Hash)
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	fmt.Fprintf(a.out, "      reproduce  %s\n      or         %s\n", f.Report.Reproduce[0], f.Report.Reproduce[1])
	return reports.NewRowFailure(f.Failure, f.Where, c.pageOf(dir)), nil
}

// lose takes note of a file that could not be written. What was found counts, other scenarios are run, and in the end
// it is an error.
func (c *results) lose(err error) {
	if err != nil {
		c.lost = append(c.lost, err)
	}
}

// noReport says that a report cannot be written.
func (c *results) noReport(a *app, err error) {
	c.lose(err)
	fmt.Fprintf(a.out, "      no report  %s\n", reports.Printable(oneLine(err.Error())))
}

// scenariosOf returns where scenarios are.
func scenariosOf(list []engine.Scenario) (all []*engine.Scenario) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// pageOf is the page in a folder of a failure, from the index on.
func (c *results) pageOf(dir string) string {
	page := filepath.Join(dir, "index.html")
	if rel, err := filepath.Rel(c.out, page); err == nil {
		page = rel
	}
	return filepath.ToSlash(page)
}

// end writes the index and ends the record; text are the last lines.
func (c *results) end(
	ctx context.Context, a *app, rec *recorder, t *tally, all []*engine.Scenario, text string,
) (int, error) {
	if file, err := c.index(ctx, a, all, t.summary(len(all))); err != nil {
		c.lose(err)
	} else if file != "" && len(all) > 1 {
		text = "index   " + file + "\n" + text
	}
	return rec.end(ctx, a, t, text, c.lost)
}

// index writes the page of the whole run, and returns its name: if a folder was asked for with -o, or there are pages
// of failures to lead to.
func (c *results) index(ctx context.Context, a *app, all []*engine.Scenario, summary string) (string, error) {
	page := func(r reports.Row) bool { return r.Failure != nil && r.Failure.Page != "" }
	if !c.asked && !slices.ContainsFunc(c.rows, page) {
		return "", nil
	}
	x := reports.Index{Title: a.called() + " " + c.command, Summary: summary}
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
