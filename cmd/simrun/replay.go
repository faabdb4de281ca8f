package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"zksim/checkers"
	"zksim/reports"
	"zksim/scenarios"
)

func replay(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("replay", "FILE")
	verbose := f.Bool("v", false, "tell what happens at each step")
	out := f.String("o", "", "folder for the report of a violation (default: none is written)")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	file := f.Arg(0)
	schedule, s, err := load(file)
	if err != nil {
		return 0, err
	}
	if err := reportFolder(*out); err != nil {
		return 0, err
	}
	r, err := replayTwice(s, schedule)
	if misused(a.out, s, err) {
		return exitUsage, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if !r.same {
		fmt.Fprintf(a.out, "FAIL  %s  nondeterministic: two runs of the schedule %s\n", s.Name, r.parted)
		return exitNondeterministic, nil
	}
	told, err := traced(s, schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if *verbose {
		if err := reports.WriteStory(a.out, told); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(a.out, "%s  %d steps, replayed 2 of 2 identical, hash %016x\n", s.Name, len(r.names), r.hash)
	switch r.verdict.Level {
	case checkers.Violated:
		fmt.Fprintf(a.out, "FAIL  %s: %s\n", r.verdict.Checker, reports.Printable(r.verdict.Message))
		printStack(a.out, r.stack)
		if *out == "" {
			return exitViolation, nil
		}
		if told.Report.Why, err = futuresOf(ctx, s, schedule); err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		return exitViolation, replayReport(a, *out, file, told)
	case checkers.Unknown:
		fmt.Fprintf(a.out, "unknown  %s: %s\n", r.verdict.Checker, reports.Printable(r.verdict.Message))
		return exitInconclusive, nil
	}
	fmt.Fprintln(a.out, "ok  everything held")
	return exitHeld, nil
}

// reportFolder finds out whether the folder of -o, if there is one, can be written.
func reportFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := writable(dir); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// replayReport writes the report of a failure that was replayed from a file.
func replayReport(a *app, dir, file string, f *reports.Failure) error {
	f.Report.Reproduce = []string{"go run ./cmd/simrun replay " + quote(file)}
	if err := writeReport(dir, f); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	return nil
}

// load reads a schedule and finds its scenario.
func load(file string) (scenarios.Schedule, *scenarios.Scenario, error) {
	schedule, err := readSchedule(file)
	if err != nil {
		return schedule, nil, err
	}
	s, err := scenarioOf(file, schedule)
	return schedule, s, err
}

// scenarioOf finds the scenario of the schedule in a file.
func scenarioOf(file string, schedule scenarios.Schedule) (*scenarios.Scenario, error) {
	s, err := find(schedule.Scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func readSchedule(file string) (scenarios.Schedule, error) {
	in, err := os.Open(file)
	if err != nil {
		return scenarios.Schedule{}, err
	}
	defer in.Close()
	return parseSchedule(file, in)
}

func parseSchedule(file string, in io.Reader) (scenarios.Schedule, error) {
	s, err := scenarios.ParseSchedule(in)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// find returns the scenario of that name.
func find(name string) (*scenarios.Scenario, error) {
	for i := range scenarios.All {
		if scenarios.All[i].Name == name {
			return &scenarios.All[i], nil
		}
	}
	return nil, fmt.Errorf("no scenario is called %.60q; \"simrun list\" shows them", name)
}

// repeated is what two replays of a schedule came to.
type repeated struct {
	same    bool
	parted  string // how they differ
	hash    uint64
	verdict checkers.Verdict
	names   []string
	stack   []string // of a panic
}

// replayTwice runs a schedule in two fresh worlds, strictly.
func replayTwice(s *scenarios.Scenario, schedule scenarios.Schedule) (repeated, error) {
	var runs [2]scenarios.Shown
	var res scenarios.Result
	for i := range runs {
		r := scenarios.NewRunner()
		defer r.Close()
		err := r.Strictly(func() (err error) {
			res, err = r.Replay(s, schedule)
			return err
		})
		if err != nil {
			return repeated{}, err
		}
		runs[i] = r.Shown()
	}
	parted := scenarios.Parts(runs[0], runs[1])
	return repeated{parted == "", parted, res.Hash, res.Verdict, res.Schedule.Names,
		lines(res.History.PanicStack())}, nil
}
