package simrun

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"regexp"

	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
	"zksim/sim"
)

// fail explains a failure, writes its folder, and prints the block that leads to it. It returns its row of the index.
func (c *checkFlags) fail(
	ctx context.Context, a *app, s *engine.Scenario, x *pipeline.Outcome,
) (*reports.RowFailure, error) {
	progress, end := a.shrinking("check", s, len(x.Failure.Schedule.Names))
	f, err := pipeline.Explain(ctx, s, &x.Failure, x.Where(), progress)
	end()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.out, pipeline.FileName(s), c.folder(x))
	file := filepath.Join(dir, pipeline.ScheduleFile)
	again := a.command + " " + c.again(s, x)
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

// noReport says that a report cannot be written. The verdict counts, other scenarios are run, and
// in the end it is an error.
func (c *checkFlags) noReport(a *app, err error) {
	c.lost = append(c.lost, err)
	fmt.Fprintf(a.out, "      no report  %s\n", reports.Printable(oneLine(err.Error())))
}

// folder is the name of the folder of a failure below that of its scenario. That of a seed in other circumstances
// has these behind the number, so that two reports do not mix.
func (c *checkFlags) folder(x *pipeline.Outcome) string {
	name := "prove"
	if !x.Searched {
		name = fmt.Sprint(x.Failure.Schedule.Seed)
	}
	if flags := c.circumstances(); flags != "" {
		sum := fnv.New32a()
		io.WriteString(sum, flags)
		name += fmt.Sprintf("-%08x", sum.Sum32())
	}
	return name
}

// circumstances are the flags without which a seed is another run.
func (c *checkFlags) circumstances() string {
	flags := ""
	if c.clients != 0 {
		flags += fmt.Sprintf(" -clients %d", c.clients)
	}
	if c.rounds != 0 {
		flags += fmt.Sprintf(" -rounds %d", c.rounds)
	}
	if c.plan != "" {
		flags += " -faults " + pipeline.Quote(c.plan)
	}
	if c.strategy != string(engine.Portfolio) {
		flags += " -strategy " + c.strategy
	}
	return flags
}

// again returns the arguments of the command that finds a failure again.
func (c *checkFlags) again(s *engine.Scenario, x *pipeline.Outcome) string {
	name := pipeline.Quote("^" + regexp.QuoteMeta(s.Name) + "$")
	if x.Searched {
		text := fmt.Sprintf("prove -run %s -clients %d -rounds 1", name, x.Scope.Clients)
		if c.plan != "" {
			text += " -faults " + pipeline.Quote(c.plan)
		}
		return text
	}
	text := fmt.Sprintf("check -run %s -seeds %d%s", name, x.Failure.Schedule.Seed, c.circumstances())
	if s.Broken() {
		text += " -v"
	}
	return text
}

// misused prints what is wrong if an error says that client code has left the simulator, and reports whether it does.
func misused(w io.Writer, s *engine.Scenario, err error) bool {
	m := (*sim.Misuse)(nil)
	if !errors.As(err, &m) {
		return false
	}
	fmt.Fprintf(w, "FAIL    %-24s %s\n", s.Name, misuseText(err))
	pipeline.PrintCalls(w, pipeline.Calls(m.Stack))
	return true
}

// misuseText says in a line what is wrong, if an error says that client code has left the simulator.
func misuseText(err error) string {
	if m := (*sim.Misuse)(nil); errors.As(err, &m) {
		return "misuse: " + reports.Printable(m.Message)
	}
	return ""
}
