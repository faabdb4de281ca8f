package simrun

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"zksim/faults"
	lookup "zksim/internal/explain"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	run, out, plan string
	nodes, runs    int
}

// explainHistory looks for a simulated run in which clients see what they saw in a recorded run.
func explainHistory(ctx context.Context, a *app, args []string) (int, error) {
	var c explainFlags
	f := a.flags("explain")
	f.StringVar(&c.run, "run", "", "name of the scenario (default: that of report.json beside the history)")
	f.StringVar(&c.out, "o", stdStream, "write the schedule to `file`; - is standard output")
	f.StringVar(&c.plan, "faults", "", "fault `plan` (default: first the faults that struck in the "+
		"history, then the plan of report.json, or of the scenario)")
	f.IntVar(&c.nodes, "nodes", 0, "number of servers, 1 or 3 (default: that of report.json, or 1)")
	f.IntVar(&c.runs, "runs", 20_000, "give up after this many runs")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	if c.runs < 1 {
		return 0, fmt.Errorf("-runs is at least 1, not %d", c.runs)
	}
	nodes := 1 // unless the flag says otherwise
	f.Visit(func(x *flag.Flag) {
		if x.Name == "nodes" {
			nodes = c.nodes
		}
	})
	if err := oneOrThree(nodes); err != nil {
		return 0, err
	}
	for _, read := range []string{fileIn(f.Arg(0), pipeline.HistoryFile), fileBeside(f.Arg(0))} {
		if err := separate(namedFile{"", read}, namedFile{"o", c.out}); err != nil {
			return 0, err
		}
	}
	h, s, p, err := c.read(a, f.Arg(0))
	if err != nil {
		return 0, err
	}
	to, err := a.openOutput("explain", "o", c.out)
	if err != nil {
		return 0, err
	}
	x, err := c.search(ctx, s, &p, h)
	switch {
	case misused(a.err, s, err):
		return exitUsage, nil
	case err != nil:
		return 0, fmt.Errorf("%s: %w", a.fileName(f.Arg(0)), err)
	case x.Found():
		return exitHeld, c.found(ctx, a, s, x, to)
	case ctx.Err() != nil:
		a.interrupted("explain", nil)
		return exitInconclusive, nil
	}
	where := fmt.Sprintf("the best has %d of %d things that clients do and see, and then not: %s", x.Got, x.All,
		reports.Printable(x.Stuck))
	all := "all with " + history.Counted(p.Servers, "server") + " and one order of names and listings were tried"
	switch {
	case x.Whole && within(p.whole, p.Faults):
		fmt.Fprintf(a.out, "none  no simulated run of %s under %s has this history: %s; %s\n", s.Name, p.Faults, all, where)
		return exitViolation, nil
	case x.Whole:
		fmt.Fprintf(a.out, "inconclusive  no simulated run of %s under %s has this history: %s, but under %s there are "+
			"others; %s\n", s.Name, p.Faults, all, p.whole, where)
	default:
		fmt.Fprintf(a.out, "inconclusive  none of %d simulated runs of %s under %s has this history; %s\n", x.Runs, s.Name,
			p.Faults, where)
	}
	return exitInconclusive, nil
}

// circumstances are the circumstances of the runs that may have a history.
type circumstances struct {
	engine.Schedule
	struck, whole faults.Plan // what struck, and everything that could have
}

// search searches runs under the faults that struck, with half of the runs that it may try, and then under the whole
// plan: a fault may have had no effect, or be no event, like sequence. It leaves the plan of the last search in p.
func (c *explainFlags) search(ctx context.Context, s *engine.Scenario, p *circumstances, h *history.History,
) (*lookup.Answer, error) {
	plans := []faults.Plan{p.struck, p.whole}
	switch {
	case c.plan != "":
		plans = []faults.Plan{p.Faults}
	case within(p.whole, p.struck) || c.runs == 1:
		plans = plans[1:]
	}
	var best *lookup.Answer
	tried := 0
	for i, plan := range plans {
		p.Faults = plan
		runs := c.runs - tried
		if i < len(plans)-1 {
			runs /= 2
		}
		x, err := lookup.Search(ctx, s, p.Schedule, h, runs)
		if err != nil {
			return nil, err
		}
		tried += x.Runs
		x.Runs = tried
		if best != nil && best.Got > x.Got {
			x.Got, x.Stuck = best.Got, best.Stuck
		}
		if best = x; x.Found() || ctx.Err() != nil {
			break
		}
	}
	return best, nil
}

// within reports whether each fault of p can strike as often in q.
func within(p, q faults.Plan) bool {
	return !slices.ContainsFunc(p, func(r faults.Rule) bool {
		return !slices.ContainsFunc(q, func(x faults.Rule) bool {
			return x == r || x.Fault == r.Fault && x.Aim == (faults.Aim{}) && x.Budget >= r.Budget
		})
	})
}

// found writes the schedule, with what each transition does.
func (c *explainFlags) found(ctx context.Context, a *app, s *engine.Scenario, x *lookup.Answer, to *output) error {
	r := engine.NewRunner()
	defer r.Close()
	v, err := r.Visit(s, x.Schedule)
	if err != nil {
		return err
	}
	x.Schedule.Notes = reports.Notes(&reports.Failure{History: v.History, Trace: v.Trace, Verdict: v.Verdict})
	fmt.Fprintf(a.err, "found    %s: %s, in run %d; clients do and see the same %d things in it\n", s.Name,
		history.Counted(len(x.Schedule.Names), "step"), x.Runs, x.All)
	if err := to.write(ctx, x.Schedule.Write); err != nil {
		return err
	}
	if c.out != stdStream {
		fmt.Fprintf(a.err, "replay   %s replay %s\n", a.command, pipeline.QuoteFile(c.out))
	}
	return nil
}

// read reads a history and what is known about its origin.
func (c *explainFlags) read(a *app, file string) (*history.History, *engine.Scenario, circumstances, error) {
	var p circumstances
	h, err := a.readHistory(file)
	if err != nil {
		return nil, nil, p, err
	}
	rep, err := reportBeside(file)
	if err != nil {
		return nil, nil, p, err
	}
	if c.run == "" {
		c.run = rep.Scenario
	}
	if c.run == "" {
		return nil, nil, p, fmt.Errorf("%s: no report.json is beside it, expected -run with the name of a scenario",
			a.fileName(file))
	}
	s, err := a.find(c.run)
	if err != nil {
		return nil, nil, p, err
	}
	clients := rep.Clients
	if h.Clients > max(clients, s.Clients) {
		clients = h.Clients
	}
	sized, err := s.Sized(clients, rep.Rounds)
	if err != nil {
		return nil, nil, p, err
	}
	p.Schedule = sized.NewSchedule(0)
	p.Servers = max(1, rep.Servers)
	if c.nodes > 0 {
		p.Servers = c.nodes
	}
	if c.plan != "" {
		if p.Faults, err = faults.Parse(c.plan); err != nil {
			return nil, nil, p, fmt.Errorf("-faults: %w", err)
		}
	}
	p.struck = struck(h)
	p.whole, err = wholePlan(&sized, &rep, p.struck)
	return h, s, p, err
}

// struck returns a plan of the faults that struck, with the same counts; for a real ensemble, the closest plan.
func struck(h *history.History) (p faults.Plan) {
	var q faults.Plan
	for _, name := range reports.Struck(h) {
		word, whom, _ := strings.Cut(name, " ")
		r := faults.Rule{Fault: word, Budget: 1}
		if strings.HasPrefix(whom, "s") {
			r.Aim.Server = whom
		}
		q = append(q, r)
	}
	if lookup.OnWire(h) {
		q = q.InSim(slices.Repeat([]int{1}, len(q)))
	}
	for i := range faults.Table {
		n := 0
		for _, r := range q {
			if r.Fault == faults.Table[i].Name {
				n++
			}
		}
		if n > 0 {
			p = append(p, faults.Rule{Fault: faults.Table[i].Name, Budget: n})
		}
	}
	return p
}

// wholePlan returns everything that could have struck: the plan of a report about a simulated run, or else the
// scenario's, and what struck more often.
func wholePlan(s *engine.Scenario, rep *reports.Report, struck faults.Plan) (p faults.Plan, err error) {
	p = slices.Clone(s.Faults)
	if rep.Backend == "sim" && rep.Faults != "" {
		if p, err = faults.Parse(rep.Faults); err != nil {
			return nil, fmt.Errorf("report.json: %w", err)
		}
	}
	for _, r := range struck {
		at := slices.IndexFunc(p, func(x faults.Rule) bool { return x.Fault == r.Fault && x.Aim == (faults.Aim{}) })
		switch {
		case at < 0:
			p = append(p, r)
		case p[at].Budget < r.Budget:
			p[at].Budget = r.Budget
		}
	}
	return p, nil
}

// fileBeside returns the report.json beside a history, or in the folder that has both; "" for the standard input.
func fileBeside(file string) string {
	if file == stdStream {
		return ""
	}
	return filepath.Join(filepath.Dir(fileIn(file, pipeline.HistoryFile)), "report.json")
}

// reportBeside reads it, and returns an empty report if there is none.
func reportBeside(file string) (rep reports.Report, err error) {
	name := fileBeside(file)
	if name == "" {
		return rep, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return rep, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &rep)
	}
	if err != nil {
		return rep, fmt.Errorf("%s: %w", name, err)
	}
	return rep, nil
}
