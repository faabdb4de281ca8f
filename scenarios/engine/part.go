package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Part is the outcome of some of the seeds of a scenario, in numbers that can be kept in a file and added to those of
// other seeds. [Scenario.Sum] judges the sum for what needs all runs, such as whether a goal was reached.
type Part struct {
	Runs      int             `json:"runs"`
	Steps     int             `json:"steps"`
	Failed    []PartFailed    `json:"failed,omitempty"`  // by checker; only if no failure ends the work
	Holders   int             `json:"holders,omitempty"` // the most objects that held the lock at once
	Clocks    int             `json:"clocks,omitempty"`  // in how many runs code looked at its clock
	Rules     []PartRule      `json:"rules,omitempty"`
	Goals     []PartGoal      `json:"goals,omitempty"`
	Sometimes []SentenceCount `json:"sometimes,omitempty"`
	Needs     []PartNeed      `json:"needs,omitempty"`
	Doubt     *PartNote       `json:"doubt,omitempty"`   // the first verdict that was "unknown"
	Differs   *PartNote       `json:"differs,omitempty"` // the first seed with two different runs
	Other     *PartNote       `json:"other,omitempty"`   // the first violation in a mutant by a checker not in Caught
}

// PartFailed is in how many runs a checker was the one to report a violation.
type PartFailed struct {
	Checker string `json:"checker"`
	Runs    int    `json:"runs"`
}

// PartRule is how often a rule of the fault plan has struck, as in [RuleCount].
type PartRule struct {
	Rule     string `json:"rule"`
	On       int    `json:"on"`
	Possible int    `json:"possible"`
	Hit      int    `json:"hit"`
	Strikes  int    `json:"strikes"`
}

// PartGoal is in how many runs a goal was reached.
type PartGoal struct {
	Name string `json:"name"`
	Runs int    `json:"runs"`
}

// PartNeed is which parts of its needs a checker has seen.
type PartNeed struct {
	Checker string `json:"checker"`
	Had     uint64 `json:"had"` // by bit, in any run
	Met     bool   `json:"met"` // all of it in one run
}

// PartNote is something about a seed.
type PartNote struct {
	Seed uint64 `json:"seed"`
	Text string `json:"text"`
}

// first returns the note about the lower seed; nil is no note.
func first(a, b *PartNote) *PartNote {
	if a == nil || b != nil && b.Seed < a.Seed {
		return b
	}
	return a
}

// fail adds runs in which a checker has found a violation.
func fail(list []PartFailed, checker string, runs int) []PartFailed {
	i, there := slices.BinarySearchFunc(list, checker, func(x PartFailed, name string) int {
		return strings.Compare(x.Checker, name)
	})
	if !there {
		list = slices.Insert(list, i, PartFailed{Checker: checker})
	}
	list[i].Runs += runs
	return list
}

// failedBy returns how many runs a checker has found a violation in.
func failedBy(list []PartFailed, checker string) int {
	for _, x := range list {
		if x.Checker == checker {
			return x.Runs
		}
	}
	return 0
}

// NewPart returns the part of no seeds.
func (s *Scenario) NewPart() Part {
	p := Part{}
	p.fill(newCoverer(s))
	return p
}

// fill copies what was collected.
func (p *Part) fill(c *coverer) {
	p.Holders, p.Clocks, p.Sometimes = c.most, c.clocks, c.wishes
	for _, r := range c.rules {
		p.Rules = append(p.Rules, PartRule{r.Rule.String(), r.On, r.Possible, r.Hit, r.Strikes})
	}
	for i, g := range c.Goals {
		p.Goals = append(p.Goals, PartGoal{g.Name, c.goals[i]})
	}
	for i := range c.judged.needs {
		p.Needs = append(p.Needs, PartNeed{c.judged.needs[i].checker, c.judged.needs[i].had, c.judged.met[i].Load()})
	}
}

// Add adds the part of other seeds. It fails if that is about another plan, other goals or other checkers.
func (p *Part) Add(q *Part) error {
	if len(p.Rules) != len(q.Rules) || len(p.Goals) != len(q.Goals) || len(p.Needs) != len(q.Needs) {
		return fmt.Errorf("%d rules, %d goals and %d checkers cannot be added to %d, %d and %d", len(q.Rules),
			len(q.Goals), len(q.Needs), len(p.Rules), len(p.Goals), len(p.Needs))
	}
	for i := range q.Rules {
		a, b := &p.Rules[i], &q.Rules[i]
		if a.Rule != b.Rule {
			return fmt.Errorf("the rule %.60q cannot be added to %.60q", b.Rule, a.Rule)
		}
		a.On, a.Possible, a.Hit, a.Strikes = a.On+b.On, a.Possible+b.Possible, a.Hit+b.Hit, a.Strikes+b.Strikes
	}
	for i := range q.Goals {
		if p.Goals[i].Name != q.Goals[i].Name {
			return fmt.Errorf("the goal %.60q cannot be added to %.60q", q.Goals[i].Name, p.Goals[i].Name)
		}
		p.Goals[i].Runs += q.Goals[i].Runs
	}
	for i := range q.Needs {
		if p.Needs[i].Checker != q.Needs[i].Checker {
			return fmt.Errorf("what %.60q has seen cannot be added to what %.60q has", q.Needs[i].Checker,
				p.Needs[i].Checker)
		}
		p.Needs[i].Had |= q.Needs[i].Had
		p.Needs[i].Met = p.Needs[i].Met || q.Needs[i].Met
	}
	for _, x := range q.Failed {
		p.Failed = fail(p.Failed, x.Checker, x.Runs)
	}
	for _, x := range q.Sometimes {
		p.Sometimes = wish(p.Sometimes, x.Sentence, x.Held)
	}
	p.Runs, p.Steps, p.Clocks = p.Runs+q.Runs, p.Steps+q.Steps, p.Clocks+q.Clocks
	p.Holders = max(p.Holders, q.Holders)
	p.Doubt, p.Differs, p.Other = first(p.Doubt, q.Doubt), first(p.Differs, q.Differs), first(p.Other, q.Other)
	return nil
}

// Sum returns the report on the runs of a part. failures are the runs that failed, in the order of their seeds. Sum
// fails if the part is of another plan, other goals or other checkers. cut is whether seeds are missing.
func (s *Scenario) Sum(p *Part, failures []Result, cut bool) (Report, error) {
	sum := s.NewPart()
	if err := sum.Add(p); err != nil {
		return Report{Scenario: s}, fmt.Errorf("%s: %w", s.Name, err)
	}
	slices.SortFunc(sum.Sometimes, func(a, b SentenceCount) int { return strings.Compare(a.Sentence, b.Sentence) })
	c := newCoverer(s)
	c.runs, c.most, c.clocks, c.wishes = sum.Runs, sum.Holders, sum.Clocks, sum.Sometimes
	for i, r := range sum.Rules {
		c.rules[i] = RuleCount{c.rules[i].Rule, r.On, r.Possible, r.Hit, r.Strikes}
	}
	for i, g := range sum.Goals {
		c.goals[i] = g.Runs
	}
	for i, n := range sum.Needs {
		c.judged.needs[i].had = n.Had
		c.judged.met[i].Store(n.Met)
	}
	rep := Report{Scenario: s, Runs: sum.Runs, Steps: sum.Steps, Coverage: c.report(), Cut: cut, Failures: failures,
		Part: sum}
	rep.decide()
	return rep, nil
}

// decide sets the status, and why, from the numbers and the failures.
func (rep *Report) decide() {
	s := rep.Scenario
	for i, g := range s.Goals {
		if rep.Reached[i] == 0 {
			rep.Missed = append(rep.Missed, g.Name)
		}
	}
	for _, x := range rep.Sometimes {
		if x.Held == 0 {
			rep.Missed = append(rep.Missed, x.Sentence)
		}
	}
	failed := len(rep.Failures) > 0
	if failed {
		rep.Failure = rep.Failures[0]
	}
	switch {
	case rep.Part.Differs != nil:
		rep.Status, rep.Why = Nondeterministic, rep.Part.Differs.Text
	case failed && s.Broken():
		rep.Status = Caught
	case failed:
		rep.Status = Violation
	case rep.Runs == 0 && rep.Part.Doubt != nil: // none could be made
		rep.Status, rep.Why = Inconclusive, rep.Part.Doubt.Text
	case rep.Runs == 0:
		rep.Status, rep.Why = Inconclusive, "no seed was run"
	case s.Broken() && !rep.Cut:
		rep.Status = Escaped
		if rep.Part.Other != nil {
			rep.Why = rep.Part.Other.Text
		}
	case rep.Part.Doubt != nil:
		rep.Status, rep.Why = Inconclusive, rep.Part.Doubt.Text
	case s.Broken():
		rep.Status, rep.Why = Inconclusive, "not caught before the time was up"
	case len(rep.Missed) > 0 && s.demands(rep.Runs):
		missed := "no run had " + rep.Missed[0]
		rep.Status, rep.Why = Inconclusive, strings.Join(append([]string{missed}, rep.Gaps...), "; and ")
	case len(rep.Gaps) > 0:
		rep.Status, rep.Why = Inconclusive, strings.Join(rep.Gaps, "; and ")
	}
}
