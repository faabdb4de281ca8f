package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// Unrepeatable is the error for a failure that does not happen again: one seed, or one schedule, gave two different
// runs.
type Unrepeatable struct {
	Where string // as in Failure
	Why   string
}

// Error says what differs.
func (e *Unrepeatable) Error() string { return e.Where + ": " + e.Why }

// Failure is a violation, explained.
type Failure struct {
	*reports.Failure // what the page shows

	Scenario *engine.Scenario
	Full     engine.Schedule // of the run that failed
	Small    engine.Shrunk   // the shortest that fails in the same way
}

// Explain shrinks a failing run and explains it. A failure that does not happen again is an [*Unrepeatable]. If runs of
// its schedule may differ, see [engine.Schedule.Loose], most of them must fail again. Once ctx is done, Explain makes
// do with what it has, and says so in Small.Cut. If that is because of its deadline, it does not look for the step that
// decides.
func Explain(
	ctx context.Context, s *engine.Scenario, found *engine.Result, where string, o engine.ShrinkOptions,
) (*Failure, error) {
	f := &Failure{Scenario: s, Full: found.Schedule}
	f.Full.Checker = found.Verdict.Checker
	differs := func(err error) error { return &Unrepeatable{where, err.Error()} }
	r := engine.NewRunner()
	defer r.Close()
	var err error
	if f.Small, err = r.Shrink(ctx, s, f.Full, o); err != nil {
		return nil, differs(err)
	}
	holds := &Unrepeatable{where, "the same steps do not violate " + f.Full.Checker + " again"}
	if !f.Full.Shown(f.Small.Verdict) {
		return nil, holds
	}
	if ctx.Err() == nil || f.Full.Loose() {
		if err = f.repeat(); err != nil {
			return nil, differs(err)
		}
	}
	if f.Failure, err = Trace(s, f.Small.Schedule); err != nil {
		return nil, differs(err)
	}
	f.Where = where
	if !f.Full.Shown(f.Verdict) {
		return nil, holds
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) { // otherwise its runs take too long
		if f.Report.Why, err = Curve(ctx, s, f.Small.Schedule); err != nil {
			return nil, differs(err)
		}
	}
	f.Small.Schedule.Notes = reports.Notes(f.Failure)
	f.Report.Steps, f.Report.Cut = len(f.Full.Names), f.Small.Cut
	if again := &f.Small.Schedule.Again; again.Of > 0 {
		f.Report.Again = again.String()
	}
	return f, nil
}

// repeat replays the shortest schedule if it is of code outside the simulator, and if shrinking has not done so: its
// runs may differ although those of the full one did not. It fails if most of them hold.
func (f *Failure) repeat() error {
	small := &f.Small.Schedule
	again := small.Again
	if !small.Loose() {
		if f.Scenario.Outside == nil {
			return nil
		}
		var err error
		again, err = engine.Repeat(f.Scenario, *small, engine.Repetitions)
		if err != nil || again.Always() {
			return err
		}
	}
	if !again.Mostly() {
		return errors.New("its shortest schedule has " + again.String())
	}
	small.Again = again
	return nil
}

// Trace replays a schedule and returns what a page shows of the run.
func Trace(s *engine.Scenario, schedule engine.Schedule) (*reports.Failure, error) {
	r := engine.NewRunner()
	defer r.Close()
	trace, result, err := r.Trace(s, schedule)
	if err != nil {
		return nil, err
	}
	if err := engine.Waits(s, result.Schedule, result.History); err != nil {
		return nil, err
	}
	clients, rounds := s.Size(&schedule)
	if s.Outside != nil { // they join
		clients = result.History.Clients
	}
	f := &reports.Failure{Doc: s.Doc, Source: s.Notes().Source, Verdict: result.Verdict, History: result.History,
		Trace: trace, Initial: schedule.Faults.Initial()}
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Backend: "sim", Seed: schedule.Seed,
		Servers: schedule.Servers, Clients: clients, Rounds: rounds, Faults: schedule.Faults.String(),
		Steps: len(schedule.Names), Minimal: len(schedule.Names),
		Struck: slices.Insert(reports.Struck(f.History), 0, f.Initial...), Hash: fmt.Sprintf("%016x", result.Hash)}
	if schedule.Like != model.ZooKeeper {
		f.Report.Like = schedule.Like.String()
	}
	f.Report.SetVerdict(result.Verdict)
	f.Report.Also = others(s, result)
	f.Report.Stack = Calls(result.History.PanicStack())
	f.Report.SetWaits(result.History)
	f.Property = Property(s, result.Verdict)
	f.Search, err = Drawing(s, f.History)
	return f, err
}

// others returns what other checkers find violated in the same run, in the order of the checkers: causes before their
// consequences.
func others(s *engine.Scenario, result engine.Result) (list []string) {
	for _, c := range s.Judges() {
		if c.Name() == result.Verdict.Checker {
			continue
		}
		if v := checkers.VerdictOf(c, result.History); v.Level == checkers.Violated {
			list = append(list, v.Checker+": "+v.Message)
		}
	}
	return list
}

// The curve of a report is made from few futures, and takes no more than a second or two. Both limits are numbers of
// runs and steps, so that the page does not depend on the machine.
const (
	curveFutures = 30
	curveSteps   = 2_000_000
)

// Curve returns how the chance of failure rises in the run of a schedule. Once ctx is done it returns only the
// beginning.
func Curve(ctx context.Context, s *engine.Scenario, schedule engine.Schedule) (*history.Futures, error) {
	limit := curveSteps
	if ctx.Err() != nil {
		limit = 1
	}
	x, _, err := engine.Why(context.Background(), s, schedule, curveFutures, limit)
	return &x, err
}

// Property is what the checker that gave the verdict requires.
func Property(s *engine.Scenario, v checkers.Verdict) string {
	if s.Outside != nil && v.Checker == (checkers.Always{}).Name() {
		return "what the code says of itself holds, it does not panic, waits for nothing in vain and leaves no goroutine"
	}
	for _, c := range append(s.Judges(), checkers.Always{}) {
		if c.Name() == v.Checker {
			return c.Doc()
		}
	}
	return ""
}

// Drawing returns the page on which porcupine shows whether the history is linearizable. It is empty if no checker of
// the scenario asks that, or if the history is too long.
func Drawing(s *engine.Scenario, h *history.History) ([]byte, error) {
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

// Calls returns the calls in the text of a stack, without the harness's calls around the code.
func Calls(stack string) []string {
	calls := strings.FieldsFunc(stack, func(r rune) bool { return r == '\n' })
	return slices.DeleteFunc(calls, func(call string) bool {
		return strings.HasPrefix(call, "zksim/scenarios/workload.") ||
			strings.HasPrefix(call, "zksim/scenarios/engine.Object.")
	})
}
