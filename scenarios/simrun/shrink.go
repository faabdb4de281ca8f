package simrun

import (
	"context"
	"fmt"

	"zksim/checkers"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

func shrink(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("shrink", "FILE")
	attempts := f.Int("attempts", 0, "give up after this many runs (default: 10000), with the smallest schedule so far")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	if *attempts < 0 {
		return 0, fmt.Errorf("-attempts cannot be negative, as %d is", *attempts)
	}
	file := f.Arg(0)
	schedule, s, err := a.load(file)
	if err != nil {
		return 0, err
	}
	ctx, stop := listen(ctx)
	defer stop()
	small, err := a.shrunk(ctx, s, schedule, *attempts)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if small.Verdict.Level != checkers.Violated {
		return 0, fmt.Errorf("%s: nothing to shrink: the schedule violates nothing", file)
	}
	told, err := pipeline.Trace(s, small.Schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	small.Schedule.Notes = reports.Notes(told)
	if err := small.Schedule.Write(a.out); err != nil || small.Cut == "" {
		return exitHeld, err
	}
	fmt.Fprintf(a.err, "simrun shrink: the schedule may not be minimal: %s\n", small.Cut)
	_, err = fmt.Fprintf(a.out, "\n# may not be minimal: %s\n", small.Cut)
	return exitInconclusive, err
}

// shrunk makes a schedule smaller, and shows on a terminal how far it has come.
func (a *app) shrunk(
	ctx context.Context, s *engine.Scenario, full engine.Schedule, attempts int,
) (engine.Shrunk, error) {
	o, end := a.shrinking(s, len(full.Names))
	defer end()
	o.Attempts = attempts
	r := engine.NewRunner()
	defer r.Close()
	return r.Shrink(ctx, s, full, o)
}

// shrinking returns the options that show on a terminal how far the shrinking of a run of so many steps has come,
// and what ends that.
func (a *app) shrinking(s *engine.Scenario, steps int) (o engine.ShrinkOptions, end func()) {
	bar := a.progress(s.Name, -1)
	o.Progress = func(_, left int) {
		bar.describe(fmt.Sprintf("%s: shrinking, %d of %d steps left", s.Name, left, steps))
		bar.add()
	}
	return o, bar.clear
}
