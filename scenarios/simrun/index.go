package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// results are what a command leaves in a folder: a folder for each failure, and an index of all scenarios.
type results struct {
	command string
	out     string
	asked   bool // -o is given, or -shard, whose results merge has to find
	json    bool // -json
	junit   string
	still   bool // nothing is run: events have no times and no durations, like results from the cache of go test
	rows    []reports.Row
	lost    []error // files that could not be written
	left    tally   // of a part: what only the whole can tell
}

// byProof is the folder of a failure that exhaustive search has found.
const byProof = "prove"

// flags defines the flags that say where results go.
func (c *results) flags(f *flag.FlagSet) {
	c.command = f.Name()
	f.BoolVar(&c.json, "json", false, "print the events of go tool test2json, one test per scenario")
	f.StringVar(&c.junit, "junit", "", "also write this JUnit file, one test case per scenario")
	f.StringVar(&c.out, "o", "out", "folder for failure reports and an index of the run")
}

// parse parses the flags of a command, and returns its arguments.
func (c *results) parse(f *flag.FlagSet, args []string) ([]string, error) {
	rest, err := parseMixed(f, args)
	f.Visit(func(x *flag.Flag) { c.asked = c.asked || x.Name == "o" || x.Name == "shard" })
	return rest, err
}

// begin checks that the folder can be written, if one was asked for, and removes the index of an earlier run.
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
	f, err := c.explain(ctx, a, s, found, where)
	if err != nil {
		return nil, err
	}
	return c.written(a, s, f, folder, again)
}

// explain explains a failure, and shows progress on a terminal.
func (c *results) explain(
	ctx context.Context, a *app, s *engine.Scenario, found *engine.Result, where string,
) (*pipeline.Failure, error) {
	progress, end := a.shrinking(c.command, s, len(found.Schedule.Names))
	defer end()
	return pipeline.Explain(ctx, s, found, where, progress)
}

// written writes the folder of a failure, and prints the block that leads to it; see failed.
func (c *results) written(
	a *app, s *engine.Scenario, f *pipeline.Failure, folder, again string,
) (*reports.RowFailure, error) {
	dir := filepath.Join(c.out, pipeline.FileName(s), folder)
	file := filepath.Join(dir, pipeline.ScheduleFile)
	again = a.command + " " + again
	err := f.Write(dir, a.command+" replay "+pipeline.QuoteFile(file), again)
	if _, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
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

// lose notes a file that could not be written. What was found counts and other scenarios are run, but it is an error in
// the end.
func (c *results) lose(err error) {
	if err != nil {
		c.lost = append(c.lost, err)
	}
}

// unended says why a part is to be run again; "" if all was done and all files were written.
func (c *results) unended(ctx context.Context) string {
	if ctx.Err() != nil {
		return interrupted
	}
	if err := unwritten(c.lost); err != nil {
		return oneLine(err.Error())
	}
	return ""
}

// endedBy prints that an error has ended a scenario, which leaves it without a verdict. The others are run, but it is
// an error in the end.
func (c *results) endedBy(err error, w io.Writer, name string) outcome {
	text := strings.TrimPrefix(oneLine(err.Error()), name+": ")
	fmt.Fprintf(w, "FAIL    %-24s error: %s\n", name, text)
	c.lose(fmt.Errorf("%s: %s", name, text))
	return outcome{code: exitUsage}
}

// noReport prints that a report cannot be written.
func (c *results) noReport(a *app, err error) {
	c.lose(err)
	fmt.Fprintf(a.out, "      no report  %s\n", reports.Printable(oneLine(err.Error())))
}

// scenariosOf returns pointers to scenarios.
func scenariosOf(list []engine.Scenario) (all []*engine.Scenario) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// pageOf is the page in the folder of a failure, relative to the index.
func (c *results) pageOf(dir string) string {
	page := filepath.Join(dir, "index.html")
	if rel, err := filepath.Rel(c.out, page); err == nil {
		page = rel
	}
	return filepath.ToSlash(page)
}

// end writes the index and ends the record; text has the last lines.
func (c *results) end(
	ctx context.Context, a *app, rec *recorder, t *tally, all []*engine.Scenario, text string,
) (int, error) {
	if file, err := c.index(ctx, a, all, t.summary(len(all))); err != nil {
		c.lose(err)
	} else if file != "" && len(all) > 1 {
		text = "index   " + file + "\n" + text
	}
	t.leave(c.left)
	text = leftLine(c.left) + text
	return rec.end(ctx, a, t, text, c.lost)
}

// index writes the page of the whole run and returns its name. It does so if a folder was asked for with -o, or if
// there are pages of failures to link to.
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
	x.Rows = c.rowsOf(all, why)
	return pipeline.WriteIndex(c.out, &x)
}

// rowsOf returns the rows of scenarios. The row of a scenario that was not run says why.
func (c *results) rowsOf(all []*engine.Scenario, why string) (rows []reports.Row) {
	for _, s := range all {
		if i := slices.IndexFunc(c.rows, func(r reports.Row) bool { return r.Scenario == s.Name }); i >= 0 {
			rows = append(rows, c.rows[i])
		} else {
			rows = append(rows, pipeline.NotRun(s, why))
		}
	}
	return rows
}
