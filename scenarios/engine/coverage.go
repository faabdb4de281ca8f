package engine

import (
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
)

// Coverage is what happened in the runs of a scenario. It shows whether the scenario held only because nothing was
// tried.
type Coverage struct {
	Rules   []RuleCount // of the fault plan; rules with the same fault and aim are one
	Holders int         // the most objects that held the lock at once, from Acquired to Released, Lost or Crashed
	Reached []int       // in how many runs each goal was reached
	// Sometimes are the sentences of Process.Sometimes, in the order in which runs reached them.
	Sometimes []SentenceCount
	// Clocks is in how many runs code looked at a clock that cannot differ from the others: no rule of the plan is skew.
	Clocks int
	// Gaps say why the scenario is inconclusive although nothing is violated and all goals are reached: checkers had
	// nothing to judge, or rules never struck.
	Gaps []string
	// Barred are the faults of those rules that have no aim. If code never does what they need, its plan can leave them
	// out by [faults.Plan.Except].
	Barred []string
	// Quiet are the rules that never struck and are no gap: they could have struck, need not strike, or were part of too
	// few plans to tell; see [faults.Rule.Enough].
	Quiet []string
	// Unjudged are the checkers that had nothing to judge, and what they need, where that is no gap: see [Enough].
	Unjudged []string
}

// Enough is the number of runs from which it is a gap that none of them reached a goal, or had what a checker needs.
// Some goals and needs of zksim's own scenarios appear in one run of 200.
const Enough = 500

// SentenceCount says in how many runs a sentence of Process.Sometimes held.
type SentenceCount struct {
	Sentence string `json:"sentence"`
	Held     int    `json:"held"`
}

// RuleCount says how often a rule of a fault plan has struck.
type RuleCount struct {
	faults.Rule
	On       int // runs in which it was part of the plan: each seed draws a part
	Possible int // those of them in which the state permitted it at some moment
	Hit      int // those of them in which it struck
	Strikes  int
}

// coverer collects the coverage of a scenario. Many workers look at the runs; what they saw is added in the order of
// the seeds.
type coverer struct {
	*Scenario
	plan   faults.Plan // the rules that are counted; look reads these and never the counts
	rules  []RuleCount
	goals  []int
	judged *Judged
	wishes []SentenceCount
	runs   int
	most   int
	clocks int
}

// sight is what one run adds.
type sight struct {
	Strikes []faults.Strike // of each rule
	On      []bool          // which of them were part of the plan
	Goals   []bool
	Had     []uint64 // of each need, by bit; nil: all were met before
	Wishes  []SentenceCount
	Holders int
	Clock   bool // code looked at its clock
}

func newCoverer(s *Scenario) *coverer {
	c := &coverer{Scenario: s, goals: make([]int, len(s.Goals)), judged: NewJudged(s.Judges())}
	for _, r := range s.Faults {
		if r.Budget > 0 && c.rule(r) < 0 {
			c.plan = append(c.plan, r)
			c.rules = append(c.rules, RuleCount{Rule: r})
		}
	}
	return c
}

// rule returns the index of the rule that r is counted as, -1 if there is none.
func (c *coverer) rule(r faults.Rule) int {
	return slices.IndexFunc(c.plan, func(x faults.Rule) bool { return x.Fault == r.Fault && x.Aim == r.Aim })
}

// look returns what the run that r has just made adds.
func (c *coverer) look(r *Runner, res *Result) sight {
	if r.reply != nil {
		return r.reply.Sight
	}
	x := sight{Strikes: make([]faults.Strike, len(c.plan)), On: make([]bool, len(c.plan)),
		Goals: make([]bool, len(c.Goals)), Holders: holders(res.History), Clock: r.world.ToldTime()}
	for i, s := range r.injector.Struck(nil, res.Schedule.Faults, res.History) {
		k := c.rule(res.Schedule.Faults[i])
		if k < 0 { // the schedule was written for another plan
			continue
		}
		x.On[k] = true
		x.Strikes[k].Times += s.Times
		x.Strikes[k].Possible = x.Strikes[k].Possible || s.Possible
	}
	x.Wishes = wishes(res.History)
	x.Had = c.judged.Look(res.History)
	for i, g := range c.Goals { // last: one that changes the history hides nothing from the others
		x.Goals[i] = g.Reached(res.History)
	}
	return x
}

// add counts a run.
func (c *coverer) add(x *sight) {
	c.runs++
	c.most = max(c.most, x.Holders)
	if x.Clock {
		c.clocks++
	}
	for i, s := range x.Strikes {
		if r := &c.rules[i]; x.On[i] {
			r.On++
			r.Strikes += s.Times
			r.Hit += min(s.Times, 1)
			if s.Possible {
				r.Possible++
			}
		}
	}
	for i, reached := range x.Goals {
		if reached {
			c.goals[i]++
		}
	}
	for _, y := range x.Wishes {
		c.wishes = wish(c.wishes, y.Sentence, y.Held)
	}
	c.judged.Add(x.Had)
}

// report sums up.
func (c *coverer) report() Coverage {
	cov := Coverage{Rules: c.rules, Holders: c.most, Reached: c.goals, Sometimes: c.wishes}
	if !slices.ContainsFunc(c.plan, func(r faults.Rule) bool { return r.Fault == "skew" }) {
		cov.Clocks = c.clocks
	}
	for _, x := range c.judged.Idle() {
		if !c.demands(c.runs) {
			cov.Unjudged = append(cov.Unjudged, x.String())
			continue
		}
		cov.Gaps = append(cov.Gaps, fmt.Sprintf("%s judged nothing in %s: %s", x.Checker, history.Counted(c.runs, "run"),
			x.Lacks))
	}
	for _, r := range c.rules {
		switch {
		case r.Strikes > 0 || c.runs == 0:
		case r.Possible > 0 || r.On < r.Enough() && !(r.OfSeveral() && c.alone()):
			cov.Quiet = append(cov.Quiet, fmt.Sprintf("%s (%s)", r.Rule, r.chances()))
		case c.loose:
			cov.Quiet = append(cov.Quiet, fmt.Sprintf("%s (%s)", r.Rule, r.Lacks(c.Faults, c.Clients)))
		default:
			cov.Gaps = append(cov.Gaps, fmt.Sprintf("%s never struck in %s, of which %d had it in their plans: %s",
				r.Rule, history.Counted(c.runs, "run"), r.On, r.Lacks(c.Faults, c.Clients)))
			if r.Aim == (faults.Aim{}) {
				cov.Barred = append(cov.Barred, r.Fault)
			}
		}
	}
	return cov
}

// chances says in how many runs a rule could have struck.
func (r *RuleCount) chances() string {
	if r.On == 0 {
		return "in the plan of no run"
	}
	return fmt.Sprintf("possible in %d of %s", r.Possible, history.Counted(r.On, "run"))
}

// demands reports whether so many runs must reach every goal and give every checker something to judge.
func (s *Scenario) demands(runs int) bool { return runs >= Enough && !s.other }

// alone reports whether all runs have a single server.
func (c *coverer) alone() bool {
	return !slices.ContainsFunc(c.Servers, func(n int) bool { return n > 1 })
}

// holders returns the most objects that held the lock at once.
func holders(h *history.History) (most int) {
	var held []caller
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			if x := (caller{e.Client, e.Object}); !slices.Contains(held, x) {
				held = append(held, x)
			}
			most = max(most, len(held))
		case history.Released, history.Lost:
			held = slices.DeleteFunc(held, func(x caller) bool { return x.object == e.Object })
		case history.Crashed:
			held = slices.DeleteFunc(held, func(x caller) bool { return x.client == e.Client })
		}
	}
	return most
}

// wishes returns the sentences of Process.Sometimes in a history, each once, with 1 if it held.
func wishes(h *history.History) (list []SentenceCount) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Told || e.Op != checkers.ToldSometimes {
			continue
		}
		held := 0
		if e.OK && !slices.Contains(list, SentenceCount{e.Path, 1}) {
			held = 1
		}
		list = wish(list, e.Path, held)
	}
	return list
}

// wish adds to the count of a sentence.
func wish(list []SentenceCount, sentence string, held int) []SentenceCount {
	i := slices.IndexFunc(list, func(x SentenceCount) bool { return x.Sentence == sentence })
	if i < 0 {
		return append(list, SentenceCount{sentence, held})
	}
	list[i].Held += held
	return list
}

// caller is an object of a client.
type caller struct{ client, object int32 }

// NotJudged begins the line of a summary about checkers that had nothing to judge.
const NotJudged = "not judged"

// Summary returns the coverage in a few lines: how often each rule of the fault plan struck, how many held the lock at
// once, and in how many runs each goal was reached. If the scenario has held, it begins with its checkers.
func (r *Report) Summary() []string {
	var lines []string
	var struck []string
	for _, x := range r.Rules {
		if x.Strikes > 0 {
			struck = append(struck, fmt.Sprintf("%s %d (%d of %d)", x.Fault+aimText(x.Rule), x.Strikes, x.Hit, x.On))
		}
	}
	add := func(label string, parts []string) {
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%-10s %s", label, strings.Join(parts, ", ")))
		}
	}
	if r.Status == Held {
		add("checkers", checkers.NamesOf(r.Scenario.Judges()))
	}
	if len(struck) > 0 {
		struck[0] = "times (in runs, of those with it): " + struck[0]
	}
	add("struck", struck)
	add("not struck", r.Quiet)
	if r.Runs > 0 {
		add(NotJudged, r.Unjudged)
	}
	if r.Holders > 0 {
		add("holders", []string{fmt.Sprintf("%d at once, at most, by what their code knew", r.Holders)})
	}
	if r.Clocks > 0 {
		add("clocks", []string{"the same for all clients (no rule skew); code looked at its clock in " +
			history.Counted(r.Clocks, "run")})
	}
	var goals []string
	for i, g := range r.Scenario.Goals {
		goals = append(goals, fmt.Sprintf("%s in %s", g.Name, history.Counted(r.Reached[i], "run")))
	}
	for _, x := range r.Sometimes {
		goals = append(goals, fmt.Sprintf("%s in %s", x.Sentence, history.Counted(x.Held, "run")))
	}
	add("goals", goals)
	return lines
}

// aimText returns the aim of a rule as plans write it.
func aimText(r faults.Rule) string {
	if _, aim, ok := strings.Cut(r.String(), "@"); ok {
		return "@" + aim
	}
	return ""
}
