package simrun

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"zksim/checkers"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

const maxFutures = 1_000_000_000

func why(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("why")
	futures := f.Int("futures", 200, "number of random futures after each step")
	out := f.String("o", "", "folder for the report, with the curve (default: no report)")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	if *futures < 1 || *futures > maxFutures {
		return 0, fmt.Errorf("-futures is a number from 1 to %d, not %d", maxFutures, *futures)
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
	ctx, stop := listen(ctx)
	defer stop()
	x, whole, err := engine.Why(ctx, s, schedule, *futures, 0)
	if ctx.Err() != nil {
		a.interrupted("why", nil)
		return exitInconclusive, nil
	}
	if errors.Is(err, engine.ErrNondeterministic) {
		fmt.Fprintf(a.out, "FAIL  %s  %s\n", s.Name, oneLine(err.Error()))
		return exitNondeterministic, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if whole.Verdict.Level != checkers.Violated {
		return 0, fmt.Errorf("%s: nothing to explain: the schedule violates nothing", name)
	}
	fmt.Fprintf(a.out, "%s  %s: %s\n", s.Name, whole.Verdict.Checker, reports.Printable(whole.Verdict.Message))
	explain(a, &x, whole.Schedule.Names, whole.History)
	if *out == "" {
		return exitHeld, nil
	}
	told, err := pipeline.Trace(s, schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	told.Report.Why = &x
	return exitHeld, replayReport(a, *out, file, schedule, told)
}

// explain prints the step that decides, and how the chance of failure rises.
func explain(a *app, x *history.Futures, names []string, h *history.History) {
	decided := ""
	if x.Step > 0 {
		decided = fmt.Sprintf("decided at step %d of %d: ", x.Step, len(names))
	}
	fmt.Fprintf(a.out, "%s%s\n", decided, x)
	for _, e := range h.Events {
		if x.Step > 0 && int(e.Step) == x.Step {
			fmt.Fprintf(a.out, "      %s\n", reports.Printable(e.String()))
		}
	}
	fmt.Fprintf(a.out, "\n step  chance of failure, of %d futures without further faults\n", x.Of)
	fmt.Fprintf(a.out, "    0  %s\n", gauge(x.Chance(0)))
	for i := 1; i < len(x.Failed); i++ {
		if moved := x.Failed[i] - x.Failed[i-1]; i == x.Step || 20*max(moved, -moved) > x.Of {
			fmt.Fprintf(a.out, "%5d  %s  %s\n", i, gauge(x.Chance(i)), names[i-1])
		}
	}
}

// gauge draws a chance as a bar.
func gauge(chance float64) string {
	const width = 25
	n := int(chance*width + 0.5)
	return fmt.Sprintf("%4s %s%s", history.Percent(chance), strings.Repeat("#", n), strings.Repeat(".", width-n))
}
