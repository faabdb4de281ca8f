package simrun

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

func replay(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("replay")
	verbose := f.Bool("v", false, "tell what happens at each step")
	out := f.String("o", "", "folder for the report of a violation (default: none is written)")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	file := f.Arg(0)
	schedule, s, err := a.load(file)
	if err != nil {
		return 0, err
	}
	name := a.fileName(file)
	if err := reportFolder(*out); err != nil {
		return 0, err
	}
	r, err := pipeline.ReplayTwice(s, schedule)
	if misused(a.out, s, err) {
		return exitUsage, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if r.Parted != "" {
		fmt.Fprintf(a.out, "FAIL  %s  nondeterministic: two runs of the schedule %s\n", s.Name, r.Parted)
		return exitNondeterministic, nil
	}
	told, err := pipeline.Trace(s, schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if *verbose {
		if err := reports.WriteStory(a.out, told); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(a.out, "%s  %d steps, replayed 2 of 2 identical, hash %016x\n", s.Name, len(r.Names), r.Hash)
	switch r.Verdict.Level {
	case checkers.Violated:
		fmt.Fprintf(a.out, "FAIL  %s: %s\n", r.Verdict.Checker, reports.Printable(r.Verdict.Message))
		pipeline.PrintCalls(a.out, r.Stack)
		if *out == "" {
			return exitViolation, nil
		}
		if told.Report.Why, err = pipeline.Curve(ctx, s, schedule); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		return exitViolation, replayReport(a, *out, file, schedule, told)
	case checkers.Unknown:
		fmt.Fprintf(a.out, "unknown  %s: %s\n", r.Verdict.Checker, reports.Printable(r.Verdict.Message))
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
	if err := files.Writable(dir); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// replayReport writes the report of a failure that was replayed from a file. What was read from the standard input is
// written beside it, so that it can be run again.
func replayReport(a *app, dir, file string, schedule engine.Schedule, f *reports.Failure) error {
	if file == stdStream {
		file = filepath.Join(dir, pipeline.ScheduleFile)
		if err := files.Save(dir, pipeline.ScheduleFile, schedule.Write); err != nil {
			return err
		}
		f.Files = []reports.File{{Name: pipeline.ScheduleFile, What: "the schedule"}}
	}
	f.Report.Reproduce = []string{a.command + " replay " + pipeline.Quote(file)}
	if err := pipeline.WriteReport(dir, f); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "      report     %s\n", filepath.Join(dir, "index.html"))
	return nil
}

// load reads a schedule and finds its scenario.
func (a *app) load(file string) (engine.Schedule, *engine.Scenario, error) {
	in, err := a.open(file)
	if err != nil {
		return engine.Schedule{}, nil, err
	}
	defer in.Close()
	schedule, err := parseSchedule(a.fileName(file), in)
	if err != nil {
		return schedule, nil, err
	}
	s, err := a.scenarioOf(file, schedule)
	return schedule, s, err
}

// open opens a file to read it; "-" is the standard input.
func (a *app) open(file string) (io.ReadCloser, error) {
	if file == stdStream {
		return io.NopCloser(a.in), nil
	}
	return os.Open(file)
}

// fileName is what a file is called in errors.
func (a *app) fileName(file string) string {
	if file == stdStream {
		return "standard input"
	}
	return file
}

// scenarioOf finds the scenario of the schedule in a file.
func (a *app) scenarioOf(file string, schedule engine.Schedule) (*engine.Scenario, error) {
	s, err := a.find(schedule.Scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	return s, nil
}

func parseSchedule(file string, in io.Reader) (engine.Schedule, error) {
	s, err := engine.ParseSchedule(in)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
