package simrun

import (
	"context"
	"fmt"
	"io"

	"zksim/checkers"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

func shrink(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("shrink")
	target := f.String("o", stdStream, "file for the schedule; - is standard output")
	attempts := f.Int("attempts", 0, "give up after this many runs, with the smallest schedule so far (default: 10000)")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	if *attempts < 0 {
		return 0, fmt.Errorf("-attempts cannot be negative, as %d is", *attempts)
	}
	out, err := a.openOutput("shrink", "o", *target)
	if err != nil {
		return 0, err
	}
	file := f.Arg(0)
	schedule, s, err := a.load(file)
	if err != nil {
		return 0, err
	}
	name := a.fileName(file)
	ctx, stop := listen(ctx)
	defer stop()
	o, end := a.shrinking("shrink", s, len(schedule.Names))
	o.Attempts = *attempts
	r := engine.NewRunner()
	defer r.Close()
	small, err := r.Shrink(ctx, s, schedule, o)
	end()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if small.Verdict.Level != checkers.Violated {
		return 0, fmt.Errorf("%s: nothing to shrink: the schedule violates nothing", name)
	}
	told, err := pipeline.Trace(s, small.Schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	small.Schedule.Notes = reports.Notes(told)
	if small.Cut != "" {
		a.says("shrink", "the schedule may not be minimal: %s", small.Cut)
	}
	err = out.write(ctx, func(w io.Writer) error {
		if err := small.Schedule.Write(w); err != nil || small.Cut == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\n# may not be minimal: %s\n", small.Cut)
		return err
	})
	if small.Cut != "" {
		return exitInconclusive, err
	}
	return exitHeld, err
}

// shrinking returns options that show on a terminal the progress of shrinking a run of that many steps, and end, which
// ends that.
func (a *app) shrinking(command string, s *engine.Scenario, steps int) (o engine.ShrinkOptions, end func()) {
	bar := a.progress(command, s.Name, 0)
	o.Progress = func(_, left int) {
		bar.describe(fmt.Sprintf("shrinking, %d of %s left", left, history.Counted(steps, "step")))
	}
	return o, bar.clear
}
