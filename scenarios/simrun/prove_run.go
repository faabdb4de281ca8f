package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// all proves one scenario after the other.
func (c *proveFlags) all(ctx context.Context, a *app, selected []*engine.Scenario, o prove.Options) (int, error) {
	rec, err := c.record(a, scenarioNames(selected))
	if err != nil {
		return 0, err
	}
	var t tally
	err = rec.each(ctx, false, func(i int, out io.Writer) (outcome, error) {
		s := selected[i]
		status, err := c.one(ctx, a.to(out).nth(i, len(selected)), s, o)
		if err != nil && len(selected) > 1 {
			c.rows = append(c.rows, pipeline.NotRun(s, oneLine(err.Error())))
			return c.endedBy(err, out, s.Name), nil
		}
		if err != nil {
			return outcome{}, err
		}
		return outcome{code: t.count(status), cut: ctx.Err() != nil && status == engine.Inconclusive}, nil
	})
	if err != nil {
		return 0, err
	}
	if c.certificate != nil && c.proved != nil {
		c.lose(c.certificate.write(ctx, c.proved.Write))
	}
	return c.end(ctx, a, rec, &t, selected, t.summary(len(selected)))
}

// tell returns a function that shows the progress of a search.
func tell(b *bar) func(prove.Progress) {
	return func(p prove.Progress) {
		b.describe(fmt.Sprintf("faults <= %d: %s", p.Faults, history.Counted(p.States, "state")), fmt.Sprintf("frontier %d",
			p.Frontier),
			fmt.Sprintf("%.0f%% new", 100*p.Fresh), history.Counted(p.Transitions, "transition"),
			fmt.Sprintf("deepest %d", p.Deepest))
	}
}

// scopeOf makes the scope of a scenario from the flags.
func (c *proveFlags) scopeOf(s *engine.Scenario) (prove.Scope, error) {
	if c.rounds < 0 {
		_, err := s.Sized(c.clients.n, c.rounds)
		return prove.Scope{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	unless := func(n, usual, other int) int { // flags and prove.Bounds have different numbers for the default
		if n == usual {
			return other
		}
		return n
	}
	most := c.most.n
	if c.most.given && most == 0 {
		most = -1
	}
	clients := 0
	if c.clients.given {
		clients = unless(c.clients.n, 0, -1)
	}
	b := prove.Bounds{Clients: clients, Rounds: unless(unless(c.rounds, 0, -1), 1, 0),
		Servers: c.servers, Faults: c.plan, Most: most, Checkers: words(c.checkers), Order: c.order,
		Interleave: c.interleave, SlowWakes: c.slowWakes, Offline: c.offline, Ticks: c.ticks}
	x := *s
	c.like.of(&x)
	sc, err := b.Of(&x)
	if err != nil && strings.HasPrefix(err.Error(), "fault plan") {
		err = fmt.Errorf("-faults: %w", err)
	}
	return sc, err
}

// one proves one scenario, prints the result, and adds it to the index.
func (c *proveFlags) one(ctx context.Context, a *app, s *engine.Scenario, o prove.Options) (engine.Status, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	bar := a.progress("prove", s.Name, 0)
	defer bar.clear()
	o.Progress = tell(bar)
	var row reports.Row
	var err error
	if c.wide && s.Broken() {
		row, err = c.attempts(ctx, limited, a, s, o, bar)
	} else {
		row, err = c.attempt(ctx, limited, a, s, o, bar)
	}
	if x, ok := worthless(a, s, err); ok {
		row, err = x, nil
	}
	if err != nil {
		return 0, err
	}
	c.rows = append(c.rows, row)
	return pipeline.StatusOf(row), nil
}

// attempt is one for the scope that the flags give.
func (c *proveFlags) attempt(
	ctx, limited context.Context, a *app, s *engine.Scenario, o prove.Options, bar *bar,
) (reports.Row, error) {
	sc, err := c.scopeOf(s)
	if err != nil {
		return reports.Row{}, err
	}
	begin := time.Now()
	r, err := prove.Prove(limited, sc, o)
	took := time.Since(begin)
	bar.clear()
	if failed, ok := errors.AsType[prove.AuditError](err); ok {
		for line := range strings.SplitSeq(failed.Error(), "\n") {
			fmt.Fprintln(a.out, reports.Printable(line))
		}
		return pipeline.RowOf(s, engine.Violation, failed.Error()), nil
	}
	if err != nil && r.Outcome == "" {
		return reports.Row{}, err
	}
	c.lose(err) // the error of a checkpoint, although the search has a result
	c.proved = &r.Certificate
	row, err := c.report(ctx, a, sc.Scenario, &r, took)
	if err != nil {
		return row, err
	}
	if x := sc.Ordered(); x != "" && r.Outcome == prove.Inconclusive {
		fmt.Fprintf(a.out, "      ordered    %s\n", reports.Printable(x))
	}
	if r.Outcome == prove.Holds {
		proved(a.out, &r.Claim, sc.Outside(s), r.Unstruck, r.Idle)
	}
	if c.wide && ctx.Err() == nil && r.Outcome != prove.Violated {
		return c.beyond(ctx, a, s, o, row, bar)
	}
	return row, nil
}

// printProof prints a certificate, and the sentences that no schedule reaches.
func printProof(out io.Writer, r *prove.Result, took time.Duration) {
	fmt.Fprintf(out, "%s  (%v)\n", reports.Printable(r.Certificate.String()), took.Round(10*time.Millisecond))
	for _, sentence := range r.Never {
		fmt.Fprintf(out, "      never      no schedule that was explored reaches: %s\n", reports.Printable(sentence))
	}
}

// proved prints which checkers have found nothing, and what the proof says nothing about: what is outside its scope,
// rules that could strike nowhere in it, and checkers that have nothing to judge in it.
func proved(out io.Writer, c *prove.Claim, outside string, unstruck, idle []string) {
	fmt.Fprintf(out, "      checkers   %s\n", reports.Printable(strings.Join(c.Checkers, ", ")))
	fmt.Fprintf(out, "      not in it  %s\n", reports.Printable(outside))
	for _, x := range unstruck {
		fmt.Fprintf(out, "      not struck %s\n", reports.Printable(x))
	}
	for _, x := range idle {
		fmt.Fprintf(out, "      not proved %s\n", reports.Printable(x))
	}
}

// beyond searches a recipe in which nothing was found, for as long again, with bounds that are wider in other ways, and
// prints how far that went. It returns the given row unless something is found.
func (c *proveFlags) beyond(
	ctx context.Context, a *app, s *engine.Scenario, o prove.Options, row reports.Row, bar *bar,
) (reports.Row, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	found, all, err := prove.GoBeyond(limited, s, o, fewStates)
	bar.clear()
	switch {
	case err != nil:
		return row, err
	case found != nil:
		return c.report(ctx, a, found.Scope.Scenario, &found.Result, found.Took)
	case ctx.Err() != nil:
		return pipeline.RowOf(s, engine.Inconclusive, "interrupted, after "+row.Says), nil
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
	fmt.Fprintf(a.out, "      beyond     nothing in %s, each wider in one way: %d closed, "+
		"%d cut at %s or by the time", history.Counted(len(all)-untried, "other scope"), closed, cut,
		history.Counted(fewStates, "state"))
	if untried > 0 {
		fmt.Fprintf(a.out, ", and %d not tried in time", untried)
	}
	fmt.Fprintln(a.out)
	return row, nil
}

// attempts is one for a mutant if no flag gives a scope. It reports the attempt that refutes the mutant, or else all
// attempts that were made before limited was done.
func (c *proveFlags) attempts(
	ctx, limited context.Context, a *app, s *engine.Scenario, o prove.Options, bar *bar,
) (reports.Row, error) {
	caught, all, err := prove.Widen(limited, s, o, fewStates, manyStates)
	bar.clear()
	if err != nil {
		return reports.Row{}, err
	}
	if caught != nil {
		return c.report(ctx, a, s, &caught.Result, caught.Took)
	}
	whole, untried := pipeline.RowOf(s, engine.Escaped, ""), 0
	var says []string
	for _, x := range all {
		if x.Result.Outcome == "" {
			untried++
			continue
		}
		row, err := c.report(ctx, a, s, &x.Result, x.Took)
		if err != nil {
			return row, err
		}
		says = append(says, row.Says)
		if pipeline.StatusOf(row) == engine.Inconclusive {
			whole.Status = row.Status
		}
	}
	if untried > 0 {
		text := fmt.Sprintf("inconclusive: %s: %d of %s not tried in time", s.Name, untried,
			history.Counted(len(all), "scope"))
		fmt.Fprintln(a.out, text)
		whole = pipeline.RowOf(s, engine.Inconclusive, "")
		says = append(says, text)
	}
	whole.Says = strings.Join(says, "\n")
	return whole, nil
}

// report prints a certificate and what leads to a violation. It returns the row of the index.
func (c *proveFlags) report(
	ctx context.Context, a *app, s *engine.Scenario, r *prove.Result, took time.Duration,
) (reports.Row, error) {
	row := pipeline.Proved(s, r)
	printProof(a.out, r, took)
	if r.Outcome != prove.Violated {
		return row, nil
	}
	s, found := pipeline.Found(s, r)
	again := fmt.Sprintf("prove -run %s%s", pipeline.Quote("^"+regexp.QuoteMeta(s.Name)+"$"), c.again)
	told, err := c.failed(ctx, a, s, found, pipeline.BySearch, byProof, again)
	if x, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
		return nondeterministic(a, s, x), nil
	}
	if told != nil {
		row.Failure = told
	}
	return row, err
}

// worthless prints that client code has left the simulator, or that the same steps gave two different runs, and returns
// the row of the index, if the error of a search says so.
func worthless(a *app, s *engine.Scenario, err error) (row reports.Row, ok bool) {
	if misused(a.out, s, err) {
		return pipeline.RowOf(s, engine.Misused, misuseText(err)), true
	}
	if x, ok := errors.AsType[*prove.Unstable](err); ok {
		return nondeterministic(a, s, x), true
	}
	return row, false
}

// nondeterministic prints that a proof is worth nothing, and returns the row of the index.
func nondeterministic(a *app, s *engine.Scenario, why error) reports.Row {
	fmt.Fprintf(a.out, "FAIL    %-24s nondeterministic: %s\n", s.Name, reports.Printable(why.Error()))
	return pipeline.RowOf(s, engine.Nondeterministic, why.Error())
}

// readCertificate reads a certificate from a file.
func readCertificate(name string) (cert prove.Certificate, err error) {
	file, err := os.Open(name)
	if err != nil {
		return cert, err
	}
	defer file.Close()
	if cert, err = prove.ReadCertificate(file); err != nil {
		return cert, fmt.Errorf("%s: %w", name, err)
	}
	return cert, nil
}

// verification derives a certificate again: with the same reductions in another order, and without reductions.
func (c *proveFlags) verification(ctx context.Context, a *app, o prove.Options) (int, error) {
	cert, err := until(ctx, func() (prove.Certificate, error) { return readCertificate(c.verify) })
	if errors.Is(err, errNoInput) {
		a.interrupted("prove", []string{c.verify})
		return exitInconclusive, nil
	}
	if err != nil {
		return 0, err
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
		switch why, decided := r.Contradicts(&cert); {
		case why != "":
			text, code = why, exitViolation
		case !decided && cert.Outcome != prove.Inconclusive:
			text = "not feasible: " + r.Why
			if how.Reverse {
				code = cmp.Or(code, exitInconclusive)
			}
		case ctx.Err() != nil:
			text = interrupted
		case cert.Outcome == prove.Inconclusive:
			text, code = "nothing differs, but the certificate is inconclusive", cmp.Or(code, exitInconclusive)
		}
		fmt.Fprintf(a.out, "%-19s %s\n", how.name, reports.Printable(text))
	}
	if ctx.Err() != nil {
		a.interrupted("prove", []string{c.verify})
		code = cmp.Or(code, exitInconclusive)
	}
	return code, nil
}
