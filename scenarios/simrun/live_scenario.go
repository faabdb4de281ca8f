package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/ensemble"
	"zksim/internal/nemesis"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// liveResult is the result of a scenario's runs so far.
type liveResult struct {
	runs    int
	judged  bool          // in one of them all checkers had something to judge, and it held
	aborted []string      // why
	struck  []liveStrikes // per rule of the plan
	whole   int           // runs in which the ensemble did not fail
	waived  []string      // what checkers need that none of these had
	blind   string        // checkers that judged nothing, and why; empty: none
	seed    uint64        // of the run to report
	run     *ensemble.LiveRun
	store   bool      // in one of them the ensemble failed; the first is reported
	left    *evidence // of that one, or else of the latest that was aborted; nil: none
	status  engine.Status
	says    string      // unknown: why
	not     []string    // faults of the scenario that no real ensemble has
	without faults.Plan // rules of the scenario that these servers cannot have
}

// liveRetries is how many more seeds a scenario gets if a checker had nothing to judge: what happens on a real ensemble
// also depends on time.
const liveRetries = 3

// silent reports whether a checker had nothing to judge in all runs of a scenario, and nothing else was wrong.
func (r *liveResult) silent(s *engine.Scenario) bool {
	return r.status == engine.Inconclusive && len(r.aborted) == 0 && !s.Broken()
}

// liveStrikes is what became of a rule.
type liveStrikes struct{ on, hit, times int }

// scenario runs a scenario once for each seed, until it fails in one. It does not stop for runs in which the ensemble
// fails.
func (x *liveCheck) scenario(ctx context.Context, a *app, s *engine.Scenario) (outcome, error) {
	var not []string
	var left faults.Plan
	if x.own {
		x.plan, not = s.Faults.OnReal()
		x.plan, left = x.plan.Among(x.size, x.mine)
	}
	x.usual = nil
	if len(x.plan) > 0 {
		x.usual = usual(s, x.clients)
	}
	r := &liveResult{not: not, without: left, status: engine.Held, struck: make([]liveStrikes, len(x.plan))}
	if s.Broken() {
		r.status = engine.Inconclusive
		r.says = "no run was caught; what strikes when is not all that decides on a real ensemble"
	}
	bar := a.progress("check", s.Name, int64(x.seeds.Last-x.seeds.First)+1)
	defer bar.clear()
	for seed := x.seeds.First; seed <= x.seeds.Last || r.silent(s) && seed <= x.seeds.Last+liveRetries; seed++ {
		run, err := x.once(ctx, s, seed)
		if errors.Is(ctx.Err(), context.Canceled) { // programs may have given up because of that
			bar.clear()
			r.interrupt(seed - x.seeds.First)
			out := x.tell(ctx, a, s, r)
			out.cut = true
			return out, nil
		}
		bar.add()
		over, err := x.judge(ctx, s, r, seed, run, err)
		if err != nil {
			return outcome{}, err
		}
		if over {
			break
		}
	}
	bar.clear()
	return x.tell(ctx, a, s, r), nil
}

// once runs a scenario with one seed.
func (x *liveCheck) once(ctx context.Context, s *engine.Scenario, seed uint64) (*ensemble.LiveRun, error) {
	ctx, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	x.since = time.Now()
	return ensemble.RunLive(ctx, s, ensemble.LiveOptions{Servers: x.addrs, Clients: x.clients, Session: x.session,
		Ours: x.ours, Faults: x.plan, Seed: seed, Usual: x.usual})
}

// usual returns a simulated run without faults, with that many clients or, if that is 0, as many as the scenario has;
// nil if there is none.
func usual(s *engine.Scenario, clients int) *history.History {
	calm, err := s.Sized(clients, 0)
	if err != nil {
		return nil
	}
	calm.Faults = nil
	r := engine.NewRunner()
	defer r.Close()
	return &history.History{Events: slices.Clone(r.Seed(&calm, 1).History.Events)}
}

// judge notes the result of a run, and reports whether no further run is needed.
func (x *liveCheck) judge(
	ctx context.Context, s *engine.Scenario, r *liveResult, seed uint64, run *ensemble.LiveRun, err error,
) (over bool, _ error) {
	if ab, aborted := errors.AsType[*ensemble.Aborted](err); aborted && (x.ours != nil || len(x.plan) > 0) {
		why := fmt.Sprintf("seed %d was %s", seed, oneLine(err.Error()))
		if !r.store {
			r.left, r.status, r.says = x.aborted(s, ab), engine.Inconclusive, why
		}
		r.aborted = append(r.aborted, why)
		return false, x.renew(ctx)
	}
	if err != nil {
		return false, err
	}
	if r.runs++; run.Store == "" {
		r.lacks(run.Waived)
		r.blind = run.Blind
	}
	for i, n := range run.Struck {
		if run.Plan[i].Budget > 0 {
			r.struck[i].on++
		}
		if n > 0 {
			r.struck[i].hit++
			r.struck[i].times += n
		}
	}
	switch {
	case run.Store != "":
		why := fmt.Sprintf("seed %d: the store, not your recipe: %s", seed, run.Store)
		if !r.store {
			r.store, r.left, r.status, r.says = true, x.stored(s, run), engine.Inconclusive, why
		}
		r.aborted = append(r.aborted, why)
		return false, x.renew(ctx)
	case run.Verdict.Level == checkers.Violated:
		r.seed, r.run, r.status = seed, run, engine.Violation
		if s.Broken() {
			r.status = engine.Caught
		}
		return true, nil
	case run.Verdict.Level == checkers.OK:
		r.judged = true
	case !s.Broken() && len(r.aborted) == 0:
		r.status, r.says = engine.Inconclusive, run.Verdict.Checker+": "+reports.Printable(run.Verdict.Message)
	}
	if r.judged && len(r.aborted) == 0 && !s.Broken() { // it is enough if one run has something to judge
		r.status = engine.Held
	}
	return false, nil
}

// lacks notes what checkers needed but did not see in one more run.
func (r *liveResult) lacks(waived []string) {
	if r.whole++; r.whole == 1 {
		r.waived = waived
	}
	r.waived = slices.DeleteFunc(slices.Clone(r.waived), func(w string) bool { return !slices.Contains(waived, w) })
}

// interrupt notes that the runs have ended after that many seeds, and keeps their results.
func (r *liveResult) interrupt(seeds uint64) {
	why := interrupted
	if seeds > 0 {
		why += " after " + history.Counted(int(seeds), "seed")
		if r.status == engine.Inconclusive {
			why += "; " + r.says
		}
	}
	r.status, r.says = engine.Inconclusive, why
}

// circumstances say in a few words where a scenario was run.
func (x *liveCheck) circumstances(s *engine.Scenario, r *liveResult) string {
	text := history.Counted(cmp.Or(x.clients, s.Clients), "client")
	if !x.seeded() {
		return text + " on ZooKeeper"
	}
	return fmt.Sprintf("%s %s, %s", text, x.onRelease(), history.Counted(r.runs, "seed"))
}

// onRelease names the release, if it is known. That of servers not started here is not.
func (x *liveCheck) onRelease() string { return strings.TrimSpace("on ZooKeeper " + x.version) }

// tell prints the result of the runs, and writes the folder of a failure.
func (x *liveCheck) tell(ctx context.Context, a *app, s *engine.Scenario, r *liveResult) outcome {
	var told *reports.RowFailure
	if r.status == engine.Held && len(x.plan) > 0 && !r.anyStruck() {
		r.status, r.says = engine.Inconclusive, fmt.Sprintf("nothing of the plan has struck in %s: %s",
			history.Counted(r.runs, "run"), x.missed(r))
	}
	text := x.circumstances(s, r)
	switch r.status {
	case engine.Held:
		fmt.Fprintf(a.out, "held    %-24s %s\n", s.Name, text)
	case engine.Violation, engine.Caught:
		v := r.run.Verdict
		head := "FAIL   "
		if s.Broken() {
			head = "caught "
		}
		where := "on ZooKeeper"
		if x.seeded() {
			where = fmt.Sprintf("%s at seed %d", x.onRelease(), r.seed)
		}
		fmt.Fprintf(a.out, "%s %-24s %s  %s: %s\n", head, s.Name, where, v.Checker, reports.Printable(v.Message))
		told = x.report(ctx, a, s, r, where)
		text += ": " + v.Checker + ": " + v.Message
	default:
		fmt.Fprintf(a.out, "inconclusive %-24s on ZooKeeper  %s\n", s.Name, reports.Printable(r.says))
		text += ": " + r.says
		if r.left != nil {
			x.tellEvidence(a, r.left)
		}
	}
	if r.blind != "" {
		fmt.Fprintf(a.out, "      not judged: %s\n", r.blind)
	}
	if len(r.without) > 0 {
		fmt.Fprintf(a.out, "      left out: %s: these servers cannot have them, those of -nodes 3 can\n", r.without)
	}
	if x.verbose {
		x.tellStrikes(a, r)
	} else if r.anyStruck() {
		x.tellMisses(a, r)
	}
	row := pipeline.RowOf(s, r.status, text)
	row.Failure = told
	x.rows = append(x.rows, row)
	return outcome{code: x.t.count(r.status)}
}

// anyStruck reports whether any fault has struck.
func (r *liveResult) anyStruck() bool {
	return slices.ContainsFunc(r.struck, func(x liveStrikes) bool { return x.times > 0 })
}

// tellStrikes prints what became of each rule.
func (x *liveCheck) tellStrikes(a *app, r *liveResult) {
	for i, rule := range x.plan {
		fmt.Fprintf(a.out, "      %-24s struck %s, in %d of %s\n", rule, history.Counted(r.struck[i].times, "time"),
			r.struck[i].hit,
			history.Counted(r.struck[i].on, "run"))
	}
	if len(r.not) > 0 {
		fmt.Fprintf(a.out, "      not on real ensembles: %s\n", strings.Join(r.not, ", "))
	}
	for _, what := range r.waived {
		fmt.Fprintf(a.out, "      in none of %s      %s\n", history.Counted(r.whole, "run"), what)
	}
	for _, why := range r.aborted {
		fmt.Fprintf(a.out, "      %s\n", reports.Printable(why))
	}
}

// tellMisses names the rules that were drawn and struck nothing.
func (x *liveCheck) tellMisses(a *app, r *liveResult) {
	for i, rule := range x.plan {
		if n := r.struck[i]; n.on > 0 && n.times == 0 {
			fmt.Fprintf(a.out, "      %s has struck nothing in %s: %s\n", rule, history.Counted(n.on, "run"), missing(rule))
		}
	}
}

// missed says why no rule of the plan has struck.
func (x *liveCheck) missed(r *liveResult) string {
	var why []string
	for i, rule := range x.plan {
		if text := missing(rule); r.struck[i].on > 0 && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	return strings.Join(why, "; ")
}

// missing says what was missing for a rule that struck nothing.
func missing(r faults.Rule) string {
	switch r.Fault {
	case "cancel":
		return "no client had a context of Process.Interruptible at the requests at which it would"
	case "watch-delay":
		return "no client was told of a watch after the requests at which it would"
	}
	if slices.Contains(nemesis.Connections, r.Fault) && r.Aim.Server == "" {
		return "no client made the requests at which it would, or it had no connection any more"
	}
	return "no client made the requests at which it would"
}

// again returns the command line that does it once more.
func (x *liveCheck) again(command string, s *engine.Scenario, seed uint64) string {
	words := []string{command, "check -backend zookeeper"}
	if x.servers != "" {
		words = append(words, "-servers "+pipeline.Quote(x.servers))
	} else {
		words = append(words, fmt.Sprintf("-nodes %d", x.nodes))
	}
	if x.checkFlags.clients > 0 {
		words = append(words, fmt.Sprintf("-clients %d", x.checkFlags.clients))
	}
	if x.rounds > 0 {
		words = append(words, fmt.Sprintf("-rounds %d", x.rounds))
	}
	words = append(words, fmt.Sprintf("-session-timeout %v -faults %s -seeds %d %s", x.session,
		pipeline.Quote(x.plan.String()), seed, pipeline.Quote(s.Name)))
	return strings.Join(words, " ")
}
