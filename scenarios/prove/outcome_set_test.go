package prove_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// collector is a checker that collects what complete runs come to. It is content with all of them but the one that it
// hunts for, if any.
type collector struct {
	told bool
	set  map[string]bool
	hunt string
}

func (*collector) Name() string { return "collector" }
func (*collector) Doc() string  { return "no run has the outcome that is looked for" }

// Check implements [checkers.Checker].
func (c *collector) Check(h *history.History) checkers.Verdict {
	if h.Outcome != history.Quiet {
		return checkers.Verdict{}
	}
	text := outcomeOf(h, c.told)
	if c.set[text] = true; text == c.hunt {
		return checkers.Verdict{Level: checkers.Violated, Checker: c.Name(),
			Message: "this is the outcome that is looked for", Event: -1}
	}
	return checkers.Verdict{}
}

// Monitor implements [checkers.Monitored]: the order of what different clients say is not part of an outcome.
func (c *collector) Monitor() checkers.Monitor { return &says{told: c.told} }

// says is what each client has said.
type says struct {
	told bool
	by   [8]string
}

func (m *says) Step(h *history.History, i int) checkers.Verdict {
	e := &h.Events[i]
	m.by[e.Client] += e.Op + "\n"
	return checkers.Verdict{}
}

func (m *says) Sees(k history.Kind) bool { return m.told && k == history.Told }
func (m *says) Reset()                   { m.by = [8]string{} }

// outcomeOf is what a complete run came to: how everything stands and what each client says. Zxids are told by
// their order, also where they have been written into data.
func outcomeOf(h *history.History, told bool) string {
	var b strings.Builder
	for _, n := range h.Tree {
		if !strings.HasPrefix(n.Path, "/zookeeper") {
			fmt.Fprintf(&b, "%s=%q owner %x v%d z%019d z%019d z%019d\n", n.Path, n.Data, n.Owner, n.Version, n.Czxid, n.Mzxid,
				n.Pzxid)
		}
	}
	fmt.Fprintf(&b, "known %v\n", slices.Sorted(maps.Keys(h.Known)))
	for _, x := range h.Waiting {
		fmt.Fprintf(&b, "c%d/%s waits for %v\n", x.Client, x.Where, x.Paths)
	}
	for id := int32(1); int(id) <= h.Clients; id++ {
		fmt.Fprintf(&b, "c%d:%s\n", id, h.Failed[id])
		for i := range h.Events {
			if e := &h.Events[i]; told && e.Kind == history.Told && e.Client == id {
				fmt.Fprintf(&b, "  %s\n", e.Op)
			}
		}
	}
	return byOrder(b.String())
}

var zxidText = regexp.MustCompile(`z\d{19}`)

// byOrder replaces each zxid in a text by its place among all of them.
func byOrder(text string) string {
	all := zxidText.FindAllString(text, -1)
	slices.Sort(all)
	all = slices.Compact(all)
	return zxidText.ReplaceAllStringFunc(text, func(z string) string { return fmt.Sprint("z", slices.Index(all, z)) })
}

// scopeOf is the scope of a program, with some checkers.
func scopeOf(p *program, all ...checkers.Checker) prove.Scope {
	s := p.scenario()
	s.Checkers = all
	switch {
	case p.flags.keeper:
		s.Like = model.Keeper
	case p.flags.newer:
		s.Like = model.ZooKeeper39
	case p.flags.older:
		s.Like = model.ZooKeeper36
	}
	return prove.Scope{Scenario: s, Servers: p.servers, Order: cmp.Or(p.order, 1), Faults: p.faults, Most: p.most,
		Interleave: p.flags.interleave, SlowWakes: p.flags.slowWakes, Offline: p.flags.offline, Ticks: p.ticks}
}

// found is what a search has found.
type found struct {
	set     map[string]bool
	closed  bool
	refuted *engine.Result
	last    prove.Level
	err     error
}

// search collects the outcomes of all schedules of a program. With hunt it stops at that one.
func search(p *program, o prove.Options, hunt string) found {
	c := &collector{told: p.flags.told, set: map[string]bool{}, hunt: hunt}
	if p.flags.fenced && hunt == "" {
		return find(scopeOf(p, c, checkers.Fenced{}), o, c.set)
	}
	return find(scopeOf(p, c), o, c.set)
}

func find(sc prove.Scope, o prove.Options, set map[string]bool) found {
	o.Workers = 1
	r, err := prove.Prove(context.Background(), sc, o)
	return found{set, r.Outcome != prove.Inconclusive, r.Counterexample, r.Last, err}
}

// seen is an outcome that a random run has come to, and how.
type seen struct {
	outcome string
	names   []string
	verdict checkers.Verdict
}

// wander makes random runs of a scope until f, if it is not nil, returns false.
func wander(sc prove.Scope, told bool, runs int, seed uint64, f func(seen) bool) {
	r := engine.NewRunner()
	defer r.Close()
	s := *sc.Scenario
	s.SafetySteps, s.MaxSteps = 1<<30, 5000
	schedule := s.NewSchedule(0)
	schedule.Servers, schedule.Order, schedule.Faults = sc.Servers, sc.Order, sc.Faults
	x := prove.NewWanderer(&sc, seed)
	for i := range runs {
		x.Begin(i)
		res, err := r.Explore(&s, schedule, x)
		if err != nil {
			panic(err)
		}
		if res.History.Outcome == history.StepLimit {
			continue
		}
		if !f(seen{outcomeOf(res.History, told), r.World().Schedule(), res.Verdict}) {
			return
		}
	}
}
