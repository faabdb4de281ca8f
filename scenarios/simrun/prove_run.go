package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"zksim/internal/files"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
	"zksim/scenarios/prove"
)

// all proves one scenario after the other.
func (c *proveFlags) all(ctx context.Context, a *app, selected []*engine.Scenario, o prove.Options) (int, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most garbage is of runs that are over
	if o.Memory > 0 {
		// Shortly after that, garbage is collected more often, so that it is not most of the memory.
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Memory + o.Memory/8))
	}
	rec, err := a.record("prove", c.json, c.junit, scenarioNames(selected))
	if err != nil {
		return 0, err
	}
	var t tally
	for i, s := range selected {
		_, err := rec.scenario(s.Name, func(out io.Writer) (outcome, error) {
			status, err := c.one(ctx, a.to(out).nth(i, len(selected)), s, o)
			if err != nil {
				return outcome{}, err
			}
			return outcome{t.count(status), ctx.Err() != nil && status == engine.Inconclusive}, nil
		})
		if err != nil {
			return 0, rec.fails(ctx, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if c.certificate != nil && c.proved != nil {
		c.lose(c.certificate.write(ctx, c.proved.Write))
	}
	return rec.end(ctx, a, &t, t.summary(len(selected)), c.lost)
}

// tell shows how far a search has come.
func tell(b *bar) func(prove.Progress) {
	return func(p prove.Progress) {
		b.describe(fmt.Sprintf("faults <= %d: %d states", p.Faults, p.States), fmt.Sprintf("frontier %d", p.Frontier),
			fmt.Sprintf("%.0f%% new", 100*p.Fresh), fmt.Sprintf("%d transitions", p.Transitions),
			fmt.Sprintf("deepest %d", p.Deepest))
	}
}

// scope makes the scope of a scenario from the flags.
func (c *proveFlags) scope(s *engine.Scenario) (prove.Scope, error) {
	if c.clients < 0 || c.rounds < 0 {
		_, err := s.Sized(c.clients, c.rounds)
		return prove.Scope{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	unless := func(n, usual, other int) int { // flags and prove.Bounds have other numbers for what is usual
		if n == usual {
			return other
		}
		return n
	}
	most := c.most
	switch most {
	case -1:
		most = 0
	case 0:
		most = -1
	}
	b := prove.Bounds{Clients: unless(c.clients, 0, -1), Rounds: unless(unless(c.rounds, 0, -1), 1, 0),
		Servers: c.servers, Faults: c.plan, Most: most, Checkers: words(c.checkers), Order: c.order,
		Interleave: c.interleave, SlowWakes: c.slowWakes, Offline: c.offline, Ticks: c.ticks}
	sc, err := b.Of(s)
	if err != nil && strings.HasPrefix(err.Error(), "fault plan") {
		err = fmt.Errorf("-faults: %w", err)
	}
	return sc, err
}

// one proves one scenario, and prints what that comes to.
func (c *proveFlags) one(ctx context.Context, a *app, s *engine.Scenario, o prove.Options) (engine.Status, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	bar := a.progress("prove", s.Name, 0)
	defer bar.clear()
	o.Progress = tell(bar)
	if c.wide && s.Broken() {
		return c.attempts(ctx, limited, a, s, o, bar)
	}
	sc, err := c.scope(s)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	r, err := prove.Prove(limited, sc, o)
	took := time.Since(begin)
	bar.clear()
	if unsaid := prove.Unsaid(""); errors.As(err, &unsaid) {
		for line := range strings.SplitSeq(unsaid.Error(), "\n") {
			fmt.Fprintln(a.out, reports.Printable(line))
		}
		return engine.Violation, nil
	} else if misused(a.out, s, err) {
		return engine.Misused, nil
	}
	if err != nil && r.Outcome == "" {
		return 0, err
	}
	c.lose(err) // of a checkpoint, after the search has come to something
	c.proved = &r.Certificate
	status := c.report(ctx, a, sc.Scenario, &r, took)
	if r.Outcome == prove.Holds {
		fmt.Fprintf(a.out, "      not in it  %s\n", reports.Printable(sc.Outside(s)))
	}
	if c.wide && ctx.Err() == nil && (status == engine.Held || status == engine.Inconclusive) {
		return c.beyond(ctx, a, s, o, status, bar)
	}
	return status, nil
}

// beyond searches a recipe that nothing was found in by bounds that are wider in other ways, for as long again, and
// says how far that went. It returns the status from before unless something is found.
func (c *proveFlags) beyond(
	ctx context.Context, a *app, s *engine.Scenario, o prove.Options, status engine.Status, bar *bar,
) (engine.Status, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	found, all, err := prove.GoBeyond(limited, s, o, fewStates)
	bar.clear()
	switch {
	case misused(a.out, s, err):
		return engine.Misused, nil
	case err != nil:
		return 0, err
	case found != nil:
		return c.report(ctx, a, found.Scope.Scenario, &found.Result, found.Took), nil
	case ctx.Err() != nil:
		return engine.Inconclusive, nil
	}
	var closed, cut, untried int
	for _, x := range all {
		switch x.Result.Outcome {
		case "":
			untried++
		case prove.Holds:
			closed++
		default:
			cut++
		}
	}
	fmt.Fprintf(a.out, "      beyond     nothing in %d other scopes, each wider in one way: %d closed, "+
		"%d cut at %d states or by the time", len(all)-untried, closed, cut, fewStates)
	if untried > 0 {
		fmt.Fprintf(a.out, ", and %d were not tried in time", untried)
	}
	fmt.Fprintln(a.out)
	return status, nil
}

// lose takes note of a file that could not be written. What was found counts, and in the end it is an error.
func (c *proveFlags) lose(err error) {
	if err != nil {
		c.lost = append(c.lost, err)
	}
}

// attempts is one for a mutant of whose scope nothing is said: the one that refutes it, or else all that were
// made before limited was done.
func (c *proveFlags) attempts(
	ctx, limited context.Context, a *app, s *engine.Scenario, o prove.Options, bar *bar,
) (status engine.Status, err error) {
	caught, all, err := prove.Widen(limited, s, o, fewStates, manyStates)
	bar.clear()
	if misused(a.out, s, err) {
		return engine.Misused, nil
	} else if err != nil {
		return 0, err
	}
	if caught != nil {
		return c.report(ctx, a, caught.Scope.Scenario, &caught.Result, caught.Took), nil
	}
	status, untried := engine.Escaped, 0
	for _, x := range all {
		if x.Result.Outcome == "" {
			untried++
			continue
		}
		if c.report(ctx, a, x.Scope.Scenario, &x.Result, x.Took) == engine.Inconclusive {
			status = engine.Inconclusive
		}
	}
	if untried > 0 {
		fmt.Fprintf(a.out, "inconclusive: %s: %d of %d scopes were not tried in time\n", s.Name, untried, len(all))
		status = engine.Inconclusive
	}
	return status, nil
}

// report prints a certificate and what leads to a violation.
func (c *proveFlags) report(
	ctx context.Context, a *app, s *engine.Scenario, r *prove.Result, took time.Duration,
) engine.Status {
	fmt.Fprintf(a.out, "%s  (%v)\n", reports.Printable(r.Certificate.String()), took.Round(10*time.Millisecond))
	for _, sentence := range r.Never {
		fmt.Fprintf(a.out, "      never      in no schedule that was explored it holds that: %s\n",
			reports.Printable(sentence))
	}
	switch r.Outcome {
	case prove.Inconclusive:
		return engine.Inconclusive
	case prove.Violated:
		c.lose(c.counterexample(ctx, a, s, r.Counterexample))
		if s.Broken() {
			return engine.Caught
		}
		return engine.Violation
	}
	switch {
	case s.Broken():
		return engine.Escaped
	case len(r.Never) > 0:
		return engine.Inconclusive
	}
	return engine.Held
}

// counterexample shrinks the schedule that was found, saves it, and tells how to run
// it again.
func (c *proveFlags) counterexample(ctx context.Context, a *app, s *engine.Scenario, found *engine.Result) error {
	full := found.Schedule
	full.Checker = found.Verdict.Checker
	small, err := a.shrunk(ctx, "prove", s, full, 0)
	if err != nil {
		return fmt.Errorf("%s: the schedule that was found cannot be run again: %w", s.Name, err)
	}
	dir := filepath.Join(c.out, pipeline.FileName(s), "prove")
	file := filepath.Join(dir, pipeline.ScheduleFile)
	again, err := pipeline.ReplayTwice(s, small.Schedule)
	if err != nil || again.Parted != "" || again.Verdict != small.Verdict {
		return fmt.Errorf("%s: the schedule for %s does not repeat the violation", s.Name, file)
	}
	v := small.Verdict
	fmt.Fprintf(a.out, "      %s    %d steps, %s: %s%s\n", pipeline.Minimal(small.Cut), len(small.Schedule.Names),
		v.Checker,
		reports.Printable(v.Message), pipeline.NotMinimal(small.Cut))
	pipeline.PrintCalls(a.out, again.Stack)
	fmt.Fprintf(a.out, "      replayed   2 of 2 identical\n")
	if err := files.Save(dir, pipeline.ScheduleFile, small.Schedule.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "      reproduce  %s replay -v %s\n", a.command, pipeline.Quote(file))
	return nil
}

// verification derives a certificate again: with the same reductions in another order,
// and without any.
func (c *proveFlags) verification(ctx context.Context, a *app, o prove.Options) (int, error) {
	file, err := os.Open(c.verify)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	cert, err := prove.ReadCertificate(file)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.verify, err)
	}
	sc, err := cert.Scope(a.all)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.verify, err)
	}
	if err := cert.Replay(sc); err != nil {
		fmt.Fprintf(a.out, "%-19s %s\n", "run again", reports.Printable(oneLine(err.Error())))
		return exitViolation, nil
	}
	if cert.Outcome == prove.Violated {
		fmt.Fprintf(a.out, "%-19s %s\n", "run again", "the same")
	}
	code := exitHeld
	for _, how := range []struct {
		name string
		prove.Options
	}{
		{"in another order", prove.Options{Reductions: cert.Reductions, Reverse: true}},
		{"with monitors only", prove.Options{Reductions: prove.Reductions{Monitors: true}}},
	} {
		bar := a.progress("prove", cert.Scenario+" "+how.name, 0)
		how.Workers, how.Memory, how.Progress, how.Rerun = o.Workers, o.Memory, tell(bar), o.Rerun
		limited, cancel := context.WithTimeout(ctx, c.duration)
		r, err := prove.Prove(limited, sc, how.Options)
		cancel()
		bar.clear()
		if err != nil {
			return 0, err
		}
		text := "the same"
		switch why := cert.Differs(&r.Certificate); {
		case r.Outcome == prove.Inconclusive && cert.Outcome != prove.Inconclusive:
			text = "not feasible: " + r.Why
			if how.Reverse {
				code = max(code, exitInconclusive)
			}
		case why != "":
			text, code = why, exitViolation
		case ctx.Err() != nil:
			text = interrupted
		}
		fmt.Fprintf(a.out, "%-19s %s\n", how.name, text)
	}
	if ctx.Err() != nil {
		a.interrupted("prove", []string{c.verify})
		if code == exitHeld {
			code = exitInconclusive
		}
	}
	return code, nil
}
