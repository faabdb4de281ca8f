package simrun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"zksim/faults"
	"zksim/internal/edit"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// checkFlags are the flags of check.
type checkFlags struct {
	run, seeds, strategy, plan, backend, servers string
	part                                         partFlag
	duration, session                            time.Duration
	workers, clients, rounds, nodes              int
	failfast, verbose                            bool
	like                                         like
	shard                                        *shardWriter // nil: there is none
	results
}

const (
	goodSeeds   = 1000 // by default, for what must hold
	brokenSeeds = 2000 // and at most, until a mutant is caught
)

func check(ctx context.Context, a *app, args []string) (int, error) {
	var c checkFlags
	f := a.flags("check")
	f.StringVar(&c.run, "run", "", "only scenarios whose names match this regular expression")
	f.StringVar(&c.seeds, "seeds", "", fmt.Sprintf("seeds to run, as 17 or 1-500 (default 1-%d, for mutants 1-%d)",
		goodSeeds, brokenSeeds))
	f.StringVar(&c.strategy, "strategy", string(engine.Portfolio),
		"how to choose the order of events: random, pct (priorities) or portfolio (both in turn, then all schedules of a "+
			"small scope)")
	f.DurationVar(&c.duration, "for", 0, "run for this long in total instead of a number of seeds; "+
		"with -seeds: at most this long, and what is not done by then is inconclusive")
	f.StringVar(&c.plan, "faults", "", "use this fault plan, as \"lose-reply=2 expire=1@client=c1\", none, contract or "+
		"own, the scenario's (default own; with -backend zookeeper none)")
	likeFlag(f, &c.like)
	f.StringVar(&c.backend, "backend", "sim", "where to run: sim, or zookeeper for real servers")
	f.StringVar(&c.servers, "servers", "", "with -backend zookeeper: use the ensemble at host:port,... instead of "+
		"starting one")
	f.IntVar(&c.nodes, "nodes", 1, "with -backend zookeeper: start this many servers, 1 or 3")
	f.DurationVar(&c.session, "session-timeout", 0, "with -backend zookeeper: session timeout that clients ask for "+
		fmt.Sprintf("(default %v)", live.DefaultSessionTimeout))
	f.IntVar(&c.clients, "clients", 0, fmt.Sprintf("number of clients (default: the scenario's; with -backend zookeeper "+
		"and no -faults: %d)", liveClients))
	f.IntVar(&c.rounds, "rounds", 0, "rounds of each client (default: the scenario's)")
	f.IntVar(&c.workers, "p", 0, "number of parallel runs (default: one per core)")
	c.part.flag(f, "every n-th seed")
	c.flags(f)
	f.BoolVar(&c.failfast, "failfast", false, "stop after the first scenario that fails")
	f.BoolVar(&c.verbose, "v", false, "also write reports of mutants that were caught, and print what the runs of other "+
		"scenarios covered")
	names, err := c.parse(f, args)
	if err != nil {
		return 0, err
	}
	set := map[string]bool{}
	f.Visit(func(x *flag.Flag) { set[x.Name] = true })
	selected, err := a.pick(c.run, names...)
	if err != nil {
		return 0, err
	}
	switch c.backend {
	case "sim":
		for _, name := range []string{"servers", "nodes", "session-timeout"} {
			if set[name] {
				return 0, fmt.Errorf("-%s goes with -backend zookeeper only", name)
			}
		}
		return c.simulated(ctx, a, selected)
	case "zookeeper":
		if set["like"] {
			return 0, errors.New("-like goes with -backend sim only")
		}
		if err := c.liveFlags(set); err != nil {
			return 0, err
		}
		if set["servers"] && set["nodes"] {
			return 0, errors.New("-servers and -nodes exclude each other")
		}
		return c.live(ctx, a, selected)
	}
	return 0, noBackend(c.backend)
}

// simulated checks scenarios in the simulator.
func (c *checkFlags) simulated(ctx context.Context, a *app, selected []*engine.Scenario) (int, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // runs keep nothing, so little memory is in use
	if !slices.Contains(engine.Strategies, engine.Strategy(c.strategy)) {
		return 0, fmt.Errorf("-strategy is random, pct or portfolio, not %q%s", c.strategy,
			edit.Meant(c.strategy, a.valuesOf("strategy")))
	}
	if c.workers < 0 || c.duration < 0 {
		return 0, errors.New("-p and -for cannot be negative")
	}
	o := engine.Options{Workers: c.workers, Strategy: engine.Strategy(c.strategy)}
	part, err := c.part.read(a, "check")
	if err != nil {
		return 0, err
	}
	if o.Shard, o.Shards = part.Remainder(), part.Of; part.Of > 0 {
		o.Keep = mostExplained
	}
	var seeds engine.Range
	if c.seeds != "" {
		if seeds, err = engine.ParseRange(c.seeds); err != nil {
			return 0, fmt.Errorf("-seeds: %w", err)
		}
	}
	sized, err := resized(selected, c.clients, c.rounds)
	if err != nil {
		return 0, err
	}
	if c.plan == ownPlan { // as without -faults
		c.plan = ""
	}
	plan, err := faults.Parse(c.plan)
	if err != nil {
		return 0, fmt.Errorf("-faults: %w", err)
	}
	if err := c.adapt(sized, plan); err != nil {
		return 0, err
	}
	rec, err := c.recorder(a, sized)
	if err != nil {
		return 0, err
	}
	if c.shard, err = c.newShard(part, c.parameters(sized, seeds)); err != nil {
		return 0, rec.fails(ctx, err)
	}
	var t tally
	err = rec.each(ctx, c.failfast, func(i int, out io.Writer) (outcome, error) {
		x := &sized[i]
		o.Seeds = c.seedsOf(x, seeds)
		y, err := c.scenario(ctx, a.to(out).nth(i, len(sized)), x, o, c.share(len(selected)), &t)
		if err != nil && len(sized) > 1 {
			c.rows = append(c.rows, pipeline.NotRun(x, oneLine(err.Error())))
			return c.endedBy(err, out, x.Name), nil
		}
		return y, err
	})
	if err != nil {
		c.lose(c.shard.end(broken + ": " + oneLine(err.Error())))
		return 0, err
	}
	why := c.unended(ctx)
	if why == "" && len(rec.todo) > 0 {
		why = failedFast
	}
	c.lose(c.shard.end(why))
	return c.end(ctx, a, rec, &t, scenariosOf(sized), t.summary(len(selected)))
}

// adapt gives scenarios the servers of -like and the plan of -faults. All of them must accept the plan.
func (c *checkFlags) adapt(sized []engine.Scenario, plan faults.Plan) error {
	for i := range sized {
		x := &sized[i]
		if c.like.of(x); c.plan == "" {
			continue
		}
		if *x = x.WithPlan(plan); x.Accepts(plan) != nil {
			return fmt.Errorf("-faults: %w", x.Accepts(plan))
		}
	}
	return nil
}

// recorder makes the recorder, after checking that all files can be written.
func (c *checkFlags) recorder(a *app, sized []engine.Scenario) (*recorder, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return c.record(a, scenarioNames(scenariosOf(sized)))
}

// resized returns copies of scenarios with other numbers of clients and rounds; 0 leaves a number as it is.
func resized(selected []*engine.Scenario, clients, rounds int) ([]engine.Scenario, error) {
	sized := make([]engine.Scenario, len(selected))
	for i, s := range selected {
		var err error
		if sized[i], err = s.Sized(clients, rounds); err != nil {
			return nil, err
		}
	}
	return sized, nil
}

// share is the time for one of n scenarios. 0 means no limit, so the shortest time is not rounded down to it.
func (c *checkFlags) share(n int) time.Duration {
	if c.duration == 0 {
		return 0
	}
	return max(1, c.duration/time.Duration(n))
}

// seedsOf returns the seeds of a scenario: the requested ones, or the default.
func (c *checkFlags) seedsOf(s *engine.Scenario, asked engine.Range) engine.Range {
	switch {
	case c.seeds != "":
		return asked
	case c.duration > 0:
		return engine.Range{First: 1, Last: 1 << 62}
	case s.Broken():
		return engine.Range{First: 1, Last: brokenSeeds}
	}
	return engine.Range{First: 1, Last: goodSeeds}
}

// parameters are what the parts of this check have in common.
func (c *checkFlags) parameters(sized []engine.Scenario, asked engine.Range) shardParameters {
	p := shardParameters{Clients: c.clients, Rounds: c.rounds, Faults: c.plan, Strategy: c.strategy}
	if c.like.given {
		p.Like = c.like.String()
	}
	if c.duration > 0 {
		p.For = c.duration.String()
	}
	for i := range sized {
		seeds := c.seedsOf(&sized[i], asked)
		p.Scenarios = append(p.Scenarios, shardSeeds{sized[i].Name, seeds.First, seeds.Last})
	}
	return p
}

// scenario checks one scenario and prints its line.
func (c *checkFlags) scenario(
	ctx context.Context, a *app, s *engine.Scenario, o engine.Options, d time.Duration, t *tally,
) (outcome, error) {
	limited := ctx
	if d > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	bar := a.progress("check", s.Name, int64(o.Seeds.Last-o.Seeds.First)+1)
	o.Progress = bar.add
	rep, err := pipeline.Run(limited, s, pipeline.Options{Options: o, Faults: c.plan})
	bar.clear()
	cut, timed := c.cutShort(ctx, &rep.Report), ""
	if rep.Cut && !cut && c.seeds == "" {
		timed = fmt.Sprintf("; the time was up after %s, -for %v in all", seedsText(o, rep.Runs), c.duration)
	}
	var block bytes.Buffer
	var x kinds
	if err == nil && (rep.Status == engine.Violation || rep.Status == engine.Caught && c.verbose) {
		x, err = c.explained(ctx, a.to(&block), s, &rep)
		if y, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
			rep.Status, rep.Why, err = engine.Nondeterministic, y.Error(), nil
			block.Reset()
		}
	}
	if misused(a.out, s, err) {
		rep.Status = engine.Misused
		c.rows = append(c.rows, rep.Row(s, misuseText(err)))
		c.lose(c.shard.add(shardScenario{Name: s.Name, Misuse: misuseText(err), Part: s.NewPart()}))
		return outcome{code: t.count(rep.Status)}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	code := t.count(rep.Status)
	text := rep.Says() + timed
	if rep.Status != engine.Violation { // whose block says everything
		fmt.Fprintf(a.out, "%-7s %-24s %s\n", heads[rep.Status], s.Name, text)
	}
	row := rep.Row(s, text)
	if len(x.rows) > 0 {
		row.Failure, row.Others = x.rows[0], x.rows[1:]
	}
	c.rows = append(c.rows, row)
	part := c.ofShard(s, &rep, &x)
	if rep.Cut && (ctx.Err() != nil || c.seeds != "") {
		part.Cut = cmp.Or(rep.Why, "not all of its seeds were run")
	}
	c.lose(c.shard.add(part))
	left := c.shard != nil && part.Cut == "" && (rep.Status == engine.Escaped || rep.Status == engine.Inconclusive)
	if left {
		c.left[rep.Status]++
		code = exitHeld
	}
	if rep.Status == engine.Held || rep.Status == engine.Inconclusive {
		for _, line := range rep.Summary() {
			if c.verbose || strings.HasPrefix(line, engine.NotJudged) {
				fmt.Fprintf(a.out, "      %s\n", reports.Printable(line))
			}
		}
	}
	_, err = block.WriteTo(a.out)
	return outcome{code, cut, left}, err
}

// heads begin the lines of scenarios.
var heads = map[engine.Status]string{engine.Held: "held", engine.Caught: "caught", engine.Escaped: "FAIL",
	engine.Nondeterministic: "FAIL", engine.Inconclusive: "inconclusive"}

// seedsText says how many seeds were judged, and which ones.
func seedsText(o engine.Options, runs int) string {
	text := history.Counted(runs, "seed")
	if o.Shards == 0 && runs > 0 {
		text += fmt.Sprintf(" (%d-%d)", o.Seeds.First, o.Seeds.First+uint64(runs)-1)
	}
	return text
}

// cutShort makes a check inconclusive if it ended before all requested work was done, and reports whether it was
// interrupted. Without -seeds, -for requests as much as the time allows.
func (c *checkFlags) cutShort(ctx context.Context, rep *engine.Report) bool {
	if !rep.Cut || rep.Status == engine.Nondeterministic || rep.Status == engine.Violation {
		return false
	}
	switch {
	case ctx.Err() != nil:
		rep.Status, rep.Why = engine.Inconclusive, interrupted
		return true
	case c.seeds != "":
		rep.Status, rep.Why = engine.Inconclusive, "the time was up before all was done"
	}
	return false
}
