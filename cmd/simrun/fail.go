package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios"
	"zksim/sim"
)

// unrepeatable is the error of a failure that does not happen again: one seed, or
// one schedule, gave two different runs.
type unrepeatable struct {
	where string // a finding
	why   string
}

// Error says what differs.
func (e *unrepeatable) Error() string { return e.where + ": " + e.why }

// fail shrinks a failure, writes its folder, replays the schedule from there, and
// prints the block that leads to it.
func (c *checkFlags) fail(ctx context.Context, a *app, s *scenarios.Scenario, rep scenarios.Report, by finding) error {
	full := rep.Failure.Schedule
	full.Checker = rep.Failure.Verdict.Checker
	small, err := a.shrunk(ctx, s, full, scenarios.ShrinkOptions{})
	if err != nil {
		return &unrepeatable{by.where, err.Error()}
	}
	if v := small.Verdict; v.Level != checkers.Violated || v.Checker != full.Checker {
		return &unrepeatable{by.where, "the same steps do not violate " + full.Checker + " again"}
	}
	f, err := traced(s, small.Schedule)
	if err != nil {
		return &unrepeatable{by.where, err.Error()}
	}
	if f.Report.Why, err = futuresOf(ctx, s, small.Schedule); err != nil {
		return &unrepeatable{by.where, err.Error()}
	}
	small.Schedule.Notes = reports.Notes(f)
	f.Report.Steps, f.Report.Cut = len(full.Names), small.Cut
	dir := c.folder(s, by.folder)
	err = c.write(dir, s, f, full, small.Result, by)
	if x := (*unrepeatable)(nil); errors.As(err, &x) {
		return err
	}
	c.verdict(a, s, &f.Report, &full, by)
	if err != nil {
		c.noReport(a, fmt.Errorf("%s of %s fails (%s), but no report can be written: %w",
			by.where, s.Name, full.Checker, err))
		fmt.Fprintf(a.out, "      reproduce  go run ./cmd/simrun %s\n", by.again)
		return nil
	}
	c.block(a, dir, &f.Report)
	return nil
}

// noReport says that a report cannot be written. The verdict counts, other scenarios are run, and
// in the end it is an error.
func (c *checkFlags) noReport(a *app, err error) {
	c.lost = append(c.lost, err)
	fmt.Fprintf(a.out, "      no report  %s\n", reports.Printable(oneLine(err.Error())))
}

// variant is what the folder of a seed in other circumstances has behind the number, lest
// two reports mix.
func (c *checkFlags) variant() string {
	flags := c.circumstances()
	if flags == "" {
		return ""
	}
	sum := fnv.New32a()
	io.WriteString(sum, flags)
	return fmt.Sprintf("-%08x", sum.Sum32())
}

// folder is where the report of a run goes.
func (c *checkFlags) folder(s *scenarios.Scenario, run string) string {
	return filepath.Join(c.out, strings.ReplaceAll(s.Name, "/", "."), run)
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
		flags += " -faults " + quote(c.plan)
	}
	if c.strategy != string(scenarios.Portfolio) {
		flags += " -strategy " + c.strategy
	}
	return flags
}

// write writes the folder of a failure: the schedules, and, if what is in the file
// gives the same run again twice, the rest.
func (c *checkFlags) write(dir string, s *scenarios.Scenario, f *reports.Failure, full scenarios.Schedule, small scenarios.Result, by finding) error {
	if err := withdraw(dir); err != nil {
		return err
	}
	file := filepath.Join(dir, "schedule.txt")
	err := save(dir, "schedule.full.txt", full.Write)
	if err == nil {
		err = save(dir, "schedule.txt", small.Schedule.Write)
	}
	if err != nil {
		return err
	}
	schedule, err := readSchedule(file)
	if err != nil {
		return err
	}
	again, err := replayTwice(s, schedule)
	if m := (*sim.Misuse)(nil); errors.As(err, &m) {
		return err
	}
	if err != nil || !again.same || again.hash != small.Hash || again.verdict != small.Verdict {
		return &unrepeatable{by.where, "the schedule in " + file + " does not repeat the failure"}
	}
	f.Report.Reproduce = []string{"go run ./cmd/simrun replay " + quote(file), "go run ./cmd/simrun " + by.again}
	return writeReport(dir, f)
}

// verdict prints what was found.
func (c *checkFlags) verdict(a *app, s *scenarios.Scenario, r *reports.Report, full *scenarios.Schedule, by finding) {
	head := "FAIL  "
	if s.Broken() {
		head = "      "
	}
	fmt.Fprintf(a.out, "%s%s  %s  %s: %s\n", head, s.Name, by.where, r.Checker, reports.Printable(r.Message))
	printStack(a.out, r.Stack)
	clients, rounds := s.Size(full)
	size := fmt.Sprintf("%d of %d steps, %s", r.Minimal, r.Steps, partOf(r.Clients, clients, "client"))
	if rounds > 0 {
		size += ", " + partOf(r.Rounds, rounds, "round")
	}
	fmt.Fprintf(a.out, "      %s    %s, faults: %s%s\n", minimal(r.Cut), size, orNone(r.Struck), notMinimal(r.Cut))
	decided := r.Why.String()
	if r.Why.Step > 0 {
		decided = fmt.Sprintf("step %d, %s", r.Why.Step, decided)
	}
	fmt.Fprintf(a.out, "      decided    %s\n", decided)
}

// block prints what leads to the report.
func (c *checkFlags) block(a *app, dir string, r *reports.Report) {
	fmt.Fprintf(a.out, "      replayed   2 of 2 identical, hash %s\n", r.Hash)
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	fmt.Fprintf(a.out, "      reproduce  %s\n      or         %s\n", r.Reproduce[0], r.Reproduce[1])
}

// lines splits the text of a stack.
func lines(stack string) []string {
	return strings.FieldsFunc(stack, func(r rune) bool { return r == '\n' })
}

// printStack prints the calls of client code below the sentence that they belong to.
func printStack(w io.Writer, stack []string) {
	for _, call := range stack {
		fmt.Fprintf(w, "          %s\n", reports.Printable(call))
	}
}

// misused prints what is wrong if an error says that client code has left the simulator, and reports whether it does.
func misused(w io.Writer, s *scenarios.Scenario, err error) bool {
	m := (*sim.Misuse)(nil)
	if !errors.As(err, &m) {
		return false
	}
	fmt.Fprintf(w, "FAIL    %-24s misuse: %s\n", s.Name, reports.Printable(m.Message))
	printStack(w, lines(m.Stack))
	return true
}

// partOf says how many are left of how many.
func partOf(n, all int, what string) string {
	if all != 1 {
		what += "s"
	}
	if n == all {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d of %d %s", n, all, what)
}

// withdraw removes from a folder what an earlier run told of another schedule.
func withdraw(dir string) error {
	for _, name := range []string{"report.json", "index.html", "porcupine.html", "history.jsonl"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
		}
	}
	return nil
}

// writeReport writes what tells of a failure beside its schedule; report.json is
// the last, and there only if all others are.
func writeReport(dir string, f *reports.Failure) error {
	if err := withdraw(dir); err != nil {
		return err
	}
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"history.jsonl", func(w io.Writer) error { return reports.WriteHistory(w, f.History) }},
		{"porcupine.html", func(w io.Writer) error { _, err := w.Write(f.Search); return err }},
		{"index.html", func(w io.Writer) error { return reports.WritePage(w, f) }},
		{"report.json", f.Report.Write},
	} {
		if x.name == "porcupine.html" && len(f.Search) == 0 {
			continue
		}
		if err := save(dir, x.name, x.write); err != nil {
			return err
		}
	}
	return nil
}

// traced replays a schedule and returns what there is to tell of the run.
func traced(s *scenarios.Scenario, schedule scenarios.Schedule) (*reports.Failure, error) {
	r := scenarios.NewRunner()
	defer r.Close()
	trace, result, err := r.Trace(s, schedule)
	if err != nil {
		return nil, err
	}
	clients, rounds := s.Size(&schedule)
	f := &reports.Failure{Doc: s.Doc, Source: s.Source, Verdict: result.Verdict, History: result.History, Trace: trace}
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Backend: "sim", Seed: schedule.Seed, Servers: schedule.Servers,
		Clients: clients, Rounds: rounds, Faults: schedule.Faults.String(), Steps: len(schedule.Names), Minimal: len(schedule.Names),
		Struck: reports.Struck(f.History), Hash: fmt.Sprintf("%016x", result.Hash)}
	f.Report.SetVerdict(result.Verdict)
	f.Report.Stack = lines(result.History.PanicStack())
	f.Property = property(s, result.Verdict)
	f.Search, err = drawn(s, f.History)
	return f, err
}

// The curve of a report is made of few futures, and of no more work than a second or
// two. Both are numbers of runs and steps, lest the page depend on the machine.
const (
	curveFutures = 30
	curveSteps   = 2_000_000
)

// futuresOf returns how the chance of failure rises in the run of a schedule, and only how it begins
// once ctx is done.
func futuresOf(ctx context.Context, s *scenarios.Scenario, schedule scenarios.Schedule) (*reports.Futures, error) {
	limit := curveSteps
	if ctx.Err() != nil {
		limit = 1
	}
	x, _, err := scenarios.Why(context.Background(), s, schedule, curveFutures, limit)
	return &x, err
}

// property is what the checker that gave the verdict asks for.
func property(s *scenarios.Scenario, v checkers.Verdict) string {
	for _, c := range s.Checkers {
		if c.Name() == v.Checker {
			return c.Doc()
		}
	}
	return ""
}

// drawn returns the page on which porcupine shows whether the history is
// linearizable; empty if no checker of the scenario asks that, or it is too long.
func drawn(s *scenarios.Scenario, h *history.History) ([]byte, error) {
	var page bytes.Buffer
	for _, c := range s.Checkers {
		if d, ok := c.(checkers.Drawer); ok {
			if _, err := d.Draw(&page, h); err != nil {
				return nil, err
			}
			break
		}
	}
	return page.Bytes(), nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// quote makes a word safe for a shell.
func quote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=", r)
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
