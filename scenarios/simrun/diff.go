package simrun

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"zksim/internal/pipeline"
	"zksim/model"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// diff exits with exitHeld when both are the same and, like the diff of Unix, with 1 when they differ.
func diff(_ context.Context, a *app, args []string) (int, error) {
	f := a.flags("diff")
	if err := parse(f, args, 2); err != nil {
		return 0, err
	}
	if f.Arg(0) == stdStream && f.Arg(1) == stdStream {
		return 0, errors.New("both are the standard input, expected one of them at most")
	}
	one, err := a.readRun(f.Arg(0))
	if err != nil {
		return 0, err
	}
	two, err := a.readRun(f.Arg(1))
	if err != nil {
		return 0, err
	}
	if one.kind != two.kind {
		return 0, fmt.Errorf("%s is a %s and %s a %s: give two of a kind", f.Arg(0), one.kind, f.Arg(1), two.kind)
	}
	if one.scenario != two.scenario {
		return 0, fmt.Errorf("%s is of scenario %s and %s of %s: give two of one scenario", f.Arg(0), one.scenario, f.Arg(1),
			two.scenario)
	}
	n := 0
	for n < len(one.steps) && n < len(two.steps) && slices.Equal(one.steps[n], two.steps[n]) {
		n++
	}
	for i, line := range one.circumstances {
		if other := two.circumstances[i]; line != other {
			fmt.Fprintf(a.out, "%s, and %s\n", line, other)
		}
	}
	if n == len(one.steps) && n == len(two.steps) {
		if err := one.missing(a.fileName(f.Arg(0))); err != nil {
			return 0, err
		}
		fmt.Fprintf(a.out, "the same in all %d %s\n", n, one.unit())
		if slices.Equal(one.circumstances, two.circumstances) {
			return exitHeld, nil
		}
		return exitViolation, nil
	}
	fmt.Fprintf(a.out, "the first %d %s are the same\n", n, one.unit())
	one.show(a, "A", n)
	two.show(a, "B", n)
	return exitViolation, nil
}

// recorded is a run as a list of steps, each with what happened at it.
type recorded struct {
	kind          string // schedule or history
	scenario      string
	circumstances []string
	steps         [][]string
}

func (r *recorded) unit() string {
	if r.kind == "history" {
		return "lines"
	}
	return "steps"
}

// missing returns an error if lines are missing in a history: two that are cut at the same place may differ behind it.
// Behind the end of a history may be a recording, with an end of its own.
func (r *recorded) missing(file string) error {
	if r.kind != "history" {
		return nil
	}
	first := 0
	for i, line := range r.steps {
		var end struct {
			Kind  string
			Lines int
		}
		if err := json.Unmarshal([]byte(line[0]), &end); err != nil || end.Kind != "end" {
			continue
		}
		if n := i - first; n != end.Lines {
			return fmt.Errorf("%s: line %d: the history has %d lines before its end, expected %d", file, i+1, n, end.Lines)
		}
		first = i + 1
	}
	if first < len(r.steps) {
		return fmt.Errorf(`%s: line %d: the history was cut off, expected that its last line is {"kind":"end",...}`, file,
			len(r.steps)+1)
	}
	return nil
}

// show prints step n, or that the run has ended.
func (r *recorded) show(a *app, name string, n int) {
	if n >= len(r.steps) {
		fmt.Fprintf(a.out, "%s %5d  (ends here)\n", name, n+1)
		return
	}
	for i, line := range r.steps[n] {
		if i == 0 {
			fmt.Fprintf(a.out, "%s %5d  %s\n", name, n+1, reports.Printable(line))
		} else {
			fmt.Fprintf(a.out, "         %s\n", reports.Printable(line))
		}
	}
}

// readRun reads a history, or reads a schedule and runs it. It reads the file once, so that it may be a pipe, and stops
// where it no longer makes sense.
func (a *app) readRun(file string) (*recorded, error) {
	in, err := a.open(file, pipeline.ScheduleFile)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	name := a.fileName(file)
	b := bufio.NewReader(in)
	if isHistory(b) {
		return historyLines(name, b)
	}
	schedule, s, err := a.loadFrom(file, b)
	if err != nil {
		return nil, err
	}
	x := engine.NewRunner()
	defer x.Close()
	res, err := x.Replay(s, schedule)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := res.Schedule
	clients, rounds := s.Size(&p)
	r := &recorded{kind: "schedule", scenario: s.Name, circumstances: []string{
		fmt.Sprintf("servers %d", p.Servers), fmt.Sprintf("clients %d", clients), fmt.Sprintf("rounds %d", rounds),
		fmt.Sprintf("order %#x", p.Order), "faults " + p.Faults.String()}}
	if p.Like != model.ZooKeeper {
		r.circumstances[0] += " like " + p.Like.String()
	}
	for _, name := range p.Names {
		r.steps = append(r.steps, []string{name})
	}
	for _, e := range res.History.Events {
		if e.Step > 0 {
			r.steps[e.Step-1] = append(r.steps[e.Step-1], e.String())
		}
	}
	return r, nil
}

// historyLines reads the lines of a history.
func historyLines(file string, in io.Reader) (*recorded, error) {
	r := &recorded{kind: "history"}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, reports.MaxHistoryLine)
	for lines.Scan() {
		var event struct{ Kind string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || event.Kind == "" {
			return nil, fmt.Errorf("%s: line %d: a history has an object with a \"kind\" in each line, not %.60q", file,
				len(r.steps)+1, lines.Text())
		}
		r.steps = append(r.steps, []string{lines.Text()})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: line %d: no line of a history is longer than %d bytes", file, len(r.steps)+1,
			reports.MaxHistoryLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", file, len(r.steps)+1, err)
	}
	return r, nil
}
