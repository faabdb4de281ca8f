package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/internal/files"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
	"zksim/scenarios/prove"
)

// proveFlags are the flags of prove.
type proveFlags struct {
	run, plan, checkers, without, memory, checkpoint, cert, verify, out string
	clients, rounds, servers, most, ticks, workers                      int
	order                                                               uint64
	duration, every                                                     time.Duration
	interleave, slowWakes, offline, reverse, symmetry, audit, rerun     bool
	wide                                                                bool // nothing is said of the scope
	bar                                                                 bar
	certificate                                                         *output // of -cert, nil: none
	lost                                                                []error // files that could not be written
}

func proveCommand(ctx context.Context, a *app, args []string) (int, error) {
	var c proveFlags
	f := a.flags("prove", "")
	f.StringVar(&c.run, "run", "", "only scenarios whose name matches this regular expression")
	f.IntVar(&c.clients, "clients", 2, "number of clients; 0: the scenario's. For broken recipes, with no other flags than -run, -for, -mem, -p and -o, the scope grows until something is found")
	f.IntVar(&c.rounds, "rounds", 1, "how often each client repeats what it does; 0: the scenario's")
	f.IntVar(&c.servers, "servers", 0, "number of servers, 1, or 3 with lagging followers (default: the smallest of the scenario)")
	f.StringVar(&c.plan, "faults", "", "fault plan (default what of \""+prove.Losses+"\" is in the scenario's plan, for broken recipes all of that)")
	f.IntVar(&c.most, "most", -1, "at most this many faults in one run (default: as many as the plan has)")
	f.IntVar(&c.ticks, "ticks", 0, "let timers fire this often in a run although something else can happen (when nothing else can, they always do)")
	f.StringVar(&c.checkers, "checkers", "", "only these checkers, separated by commas, or \"state\" for those that need no order of events: much less to explore (default: the scenario's)")
	f.Uint64Var(&c.order, "order", 1, "number that decides what ZooKeeper leaves open, and names")
	f.BoolVar(&c.interleave, "interleave", false, "let the steps of client code interleave with everything, goroutine by goroutine")
	f.BoolVar(&c.offline, "offline", false, "let programs begin before their clients have a connection")
	f.BoolVar(&c.slowWakes, "slow-wakes", false, "let goroutines that were waiting for an event go on at any time after it")
	f.DurationVar(&c.duration, "for", time.Minute, "give up after this long, for each scenario")
	f.StringVar(&c.memory, "mem", "2G", "give up at this much memory, as 500M or 2G")
	f.IntVar(&c.workers, "p", 0, "runs at a time (default: one for each core)")
	f.StringVar(&c.without, "without", "", "reductions to switch off, of "+reductions("and")+", separated by commas")
	f.BoolVar(&c.symmetry, "symmetry", false, "take clients that the scenario calls alike for exchangeable: sound only if code makes nothing of the order of names")
	f.BoolVar(&c.audit, "audit", false, "check that code knows no more than what it says that it keeps (see recipes.Env, Forget)")
	f.BoolVar(&c.rerun, "rerun", false, "run the code for every transition, rather than remember what steps do; completed searches come to the same numbers")
	f.BoolVar(&c.reverse, "reverse", false, "search in another order; completed searches come to the same numbers")
	f.StringVar(&c.checkpoint, "checkpoint", "", "file to save the search to, and to resume it from if it is there (one scenario only)")
	f.DurationVar(&c.every, "every", time.Minute, "how often to save to the checkpoint")
	f.StringVar(&c.cert, "cert", "", "file to write the certificate to (one scenario only)")
	f.StringVar(&c.verify, "verify", "", "derive the certificate in this file again, in another order and, if there is time, with no reduction but monitors")
	f.StringVar(&c.out, "o", "out", "folder for the schedules of violations")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	o, err := c.options(a)
	if err != nil {
		return 0, err
	}
	if c.verify != "" {
		if name := other(f, "verify", "for", "mem", "p", "rerun"); name != "" {
			return 0, fmt.Errorf("-%s does not go with -verify: the certificate says what to prove", name)
		}
		return c.verification(ctx, a, o)
	}
	selected, err := a.pick(c.run)
	if err != nil {
		return 0, err
	}
	if len(selected) > 1 && (c.checkpoint != "" || c.cert != "") {
		return 0, fmt.Errorf("-checkpoint and -cert are for one scenario; -run matches %d", len(selected))
	}
	if c.cert != "" && c.checkpoint != "" && sameFile(c.cert, c.checkpoint) {
		return 0, errors.New("-cert and -checkpoint are two files, not one")
	}
	c.wide = other(f, "run", "for", "mem", "p", "o") == ""
	if err := c.outputs(f, &o); err != nil {
		return 0, err
	}
	return c.all(ctx, a, selected, o)
}

// other returns the first flag that is set and not among the known ones, "" if there is none.
func other(f *flag.FlagSet, known ...string) (name string) {
	f.Visit(func(x *flag.Flag) {
		if name == "" && !slices.Contains(known, x.Name) {
			name = x.Name
		}
	})
	return name
}

// outputs finds out whether all files can be written, before there is anything to lose.
func (c *proveFlags) outputs(f *flag.FlagSet, o *prove.Options) error {
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	if given["o"] {
		if err := files.Writable(c.out); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	if c.checkpoint != "" {
		file, err := openOutput("checkpoint", c.checkpoint)
		if err != nil {
			return err
		}
		if !file.replaced() {
			return fmt.Errorf("-checkpoint: %s is no regular file, which a search can be read from again", c.checkpoint)
		}
		o.Checkpoint = file.file
	}
	if c.cert != "" {
		var err error
		if c.certificate, err = openOutput("cert", c.cert); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether two names are of one file, be it there or not.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err1 == nil && err2 == nil && os.SameFile(x, y)
}

// options reads the flags that say how to search.
func (c *proveFlags) options(a *app) (o prove.Options, err error) {
	if c.duration <= 0 {
		return o, fmt.Errorf("-for is a time above 0, not %v", c.duration)
	}
	if c.every <= 0 {
		return o, fmt.Errorf("-every is a time above 0, not %v", c.every)
	}
	if c.order == 0 {
		return o, errors.New("-order is a number from 1 on, not 0")
	}
	if c.workers < 0 || c.most < -1 {
		return o, errors.New("-p and -most cannot be negative")
	}
	o = prove.Options{Reductions: prove.Every, Workers: c.workers, Checkpoint: c.checkpoint, Every: c.every, Reverse: c.reverse, Audit: c.audit, Rerun: c.rerun}
	o.Reductions.Symmetry = c.symmetry
	if o.Memory, err = parseMemory(c.memory); err != nil {
		return o, err
	}
	switches := o.Reductions.Switches()
	for _, name := range words(c.without) {
		i := slices.IndexFunc(switches, func(x prove.Switch) bool { return x.Name == name })
		if i < 0 {
			return o, fmt.Errorf("-without names %s, not %q", reductions("or"), name)
		}
		*switches[i].On = false
	}
	if c.bar = a.progress("prove", -1); a.terminal {
		o.Progress = func(p prove.Progress) {
			c.bar.describe(fmt.Sprintf("faults <= %d: %d states, %d transitions, %.0f%% of the latest to new states, frontier %d, deepest %d",
				p.Faults, p.States, p.Transitions, 100*p.Fresh, p.Frontier, p.Deepest))
		}
	}
	return o, nil
}

// words splits a list at its commas.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// reductions lists those that can be switched off, with a word before the last.
func reductions(word string) string {
	var list []string
	for _, x := range new(prove.Reductions).Switches() {
		list = append(list, x.Name)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + word + " " + list[last]
}

// parseMemory reads a number of bytes with the unit M or G.
func parseMemory(s string) (int64, error) {
	shift := map[byte]int{'M': 20, 'G': 30}
	if len(s) > 1 && shift[s[len(s)-1]] != 0 {
		if n, err := strconv.ParseInt(s[:len(s)-1], 10, 32); err == nil && n > 0 {
			return n << shift[s[len(s)-1]], nil
		}
	}
	return 0, fmt.Errorf("-mem is a number above 0 with the unit M or G, as 500M, not %q", s)
}

// all proves one scenario after the other.
func (c *proveFlags) all(ctx context.Context, a *app, selected []*engine.Scenario, o prove.Options) (int, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most garbage is of runs that are over
	if o.Memory > 0 {
		// Shortly after that, garbage is collected more often, lest it be most of the memory.
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Memory + o.Memory/8))
	}
	worst := exitHeld
	for i, s := range selected {
		code, err := c.one(ctx, a, s, o)
		if err != nil {
			return 0, err
		}
		if code == exitViolation || worst == exitHeld {
			worst = code
		}
		if ctx.Err() != nil {
			var undone []string
			if code == exitInconclusive {
				undone = append(undone, s.Name)
			}
			for _, s := range selected[i+1:] {
				undone = append(undone, s.Name)
			}
			a.interrupted("prove", undone)
			if worst == exitHeld {
				worst = exitInconclusive
			}
			break
		}
	}
	return worst, unwritten(c.lost)
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

// one proves one scenario, prints what that comes to and returns the exit status.
func (c *proveFlags) one(ctx context.Context, a *app, s *engine.Scenario, o prove.Options) (int, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	if c.wide && s.Broken() {
		return c.attempts(ctx, limited, a, s, o)
	}
	sc, err := c.scope(s)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	r, err := prove.Prove(limited, sc, o)
	took := time.Since(begin)
	c.bar.clear()
	if unsaid := prove.Unsaid(""); errors.As(err, &unsaid) {
		for line := range strings.SplitSeq(unsaid.Error(), "\n") {
			fmt.Fprintln(a.out, reports.Printable(line))
		}
		return exitViolation, nil
	} else if misused(a.out, s, err) {
		return exitUsage, nil
	}
	if err != nil && r.Outcome == "" {
		return 0, err
	}
	c.lose(err) // of a checkpoint, after the search has come to something
	code := c.report(ctx, a, sc.Scenario, &r, took)
	if c.certificate != nil {
		c.lose(c.certificate.write(ctx, r.Certificate.Write))
	}
	return code, nil
}

// lose takes note of a file that could not be written. What was found counts, and in the end it is an error.
func (c *proveFlags) lose(err error) {
	if err != nil {
		c.lost = append(c.lost, err)
	}
}

// attempts is one for a broken recipe of whose scope nothing is said: the one that refutes it, or else all that were
// made before limited was done.
func (c *proveFlags) attempts(
	ctx, limited context.Context, a *app, s *engine.Scenario, o prove.Options,
) (worst int, err error) {
	caught, all, err := prove.Widen(limited, s, o, fewStates, manyStates)
	c.bar.clear()
	if misused(a.out, s, err) {
		return exitUsage, nil
	} else if err != nil {
		return 0, err
	}
	if caught != nil {
		return c.report(ctx, a, caught.Scope.Scenario, &caught.Result, caught.Took), nil
	}
	untried := 0
	for _, x := range all {
		if x.Result.Outcome == "" {
			untried++
			continue
		}
		worst = max(worst, c.report(ctx, a, x.Scope.Scenario, &x.Result, x.Took))
	}
	if untried > 0 {
		fmt.Fprintf(a.out, "inconclusive: %s: %d of %d scopes were not tried in time\n", s.Name, untried, len(all))
		worst = exitInconclusive
	}
	return worst, nil
}

// report prints a certificate and what leads to a violation, and returns the exit status.
func (c *proveFlags) report(
	ctx context.Context, a *app, s *engine.Scenario, r *prove.Result, took time.Duration,
) int {
	fmt.Fprintf(a.out, "%s  (%v)\n", reports.Printable(r.Certificate.String()), took.Round(10*time.Millisecond))
	for _, sentence := range r.Never {
		fmt.Fprintf(a.out, "      never      in no schedule that was explored it holds that: %s\n", reports.Printable(sentence))
	}
	switch r.Outcome {
	case prove.Inconclusive:
		return exitInconclusive
	case prove.Violated:
		c.lose(c.counterexample(ctx, a, s, r.Counterexample))
	}
	if len(r.Never) > 0 && !s.Broken() && r.Outcome == prove.Holds {
		return exitInconclusive
	}
	if (r.Outcome == prove.Violated) != s.Broken() {
		return exitViolation
	}
	return exitHeld
}

// counterexample shrinks the schedule that was found, saves it, and tells how to run
// it again.
func (c *proveFlags) counterexample(ctx context.Context, a *app, s *engine.Scenario, found *engine.Result) error {
	full := found.Schedule
	full.Checker = found.Verdict.Checker
	small, err := a.shrunk(ctx, s, full, 0)
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
	fmt.Fprintf(a.out, "      %s    %d steps, %s: %s%s\n", pipeline.Minimal(small.Cut), len(small.Schedule.Names), v.Checker,
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
		how.Workers, how.Memory, how.Progress, how.Rerun = o.Workers, o.Memory, o.Progress, o.Rerun
		limited, cancel := context.WithTimeout(ctx, c.duration)
		r, err := prove.Prove(limited, sc, how.Options)
		cancel()
		c.bar.clear()
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
