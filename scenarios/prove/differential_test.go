package prove_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/prove"
)

// limits bound the work for one program, in counts.
type limits struct {
	states   int  // of each number of faults, for the plain search; a larger one is not compared
	walks    int  // random runs
	exchange bool // whether it is also searched with clients that are alike
	memo     bool // whether states are counted with a memo and without, which takes three searches more
}

var usualLimits = limits{states: 2000, walks: 60, memo: true}

// plainly is the search that takes nothing for the same and remembers nothing but states, of the past what the monitors
// of this test do. It does not begin with strict runs, which are not bound to the scope: their outcomes would count.
func plainly(l limits) prove.Options {
	return prove.Options{Reductions: prove.Reductions{Monitors: true}, Rerun: true, States: l.states, Samples: -1,
		Trusted: true}
}

// reduced is the search that is tested. Of some programs it finds out again most of what it knows, so that
// it says where two steps differ, of others hardly anything, so that what it loses is lost.
func reduced(l limits, doubt int) prove.Options {
	return prove.Options{Reductions: prove.Every, Doubt: doubt, States: 4 * l.states, Samples: -1, Trusted: true}
}

// never is a number of steps after which to find out again what is known.
const never = 1 << 30

// finding is a disagreement about a program.
type finding struct {
	kind string // the same for what is the same flaw, as a rule
	text string // all that helps
}

// examined is what the examination of a program has come to.
type examined struct {
	finding *finding
	closed  bool // the plain search was
	set     int  // how many outcomes it has found
}

// examine compares what searches and random runs of a program come to.
func examine(p *program, l limits) (x examined) {
	got, want := search(p, reduced(l, never), ""), search(p, plainly(l), "")
	x.closed, x.set = want.closed && want.err == nil, len(want.set)
	steps := []func() *finding{
		func() *finding { return compare(p, l, got, want) },
		func() *finding { return overlooked(p, l, got, want) },
		func() *finding { return judge(p, l) },
		func() *finding { return remembered(p, l) },
		func() *finding {
			if l.exchange {
				return exchanged(p, l)
			}
			return nil
		},
		func() *finding { return failed("", search(p, reduced(l, 2), "")) },
	}
	for _, step := range steps {
		if x.finding = step(); x.finding != nil {
			break
		}
	}
	return x
}

// remembered compares how many states there are with what is remembered of steps, in one order and in the other, and
// without: this need not show in what programs come to.
func remembered(p *program, l limits) *finding {
	if !l.memo {
		return nil
	}
	sc := scopeOf(p, &collector{told: p.flags.told, set: map[string]bool{}})
	o := reduced(l, never)
	o.Rerun = true
	want := find(sc, o, nil)
	if f := failed(" without a memo", want); f != nil {
		return f
	}
	for _, reverse := range []bool{false, true} {
		o := reduced(l, never)
		o.Reverse = reverse
		got := find(sc, o, nil)
		if f := failed("", got); f != nil {
			return f
		}
		if got.last != want.last && (want.closed || !reverse) {
			return &finding{"other states", fmt.Sprintf("%+v with a memo, and %+v", got.last, want.last)}
		}
	}
	return nil
}

// failed is the error of a search, if it has one.
func failed(of string, x found) *finding {
	if x.err == nil {
		return nil
	}
	kind := "error" + of
	if errors.As(x.err, new(prove.AuditError)) {
		return &finding{kind + " of an audit", x.err.Error()}
	}
	text := x.err.Error()
	if i := strings.LastIndex(text, "("); i >= 0 { // what of a state differs
		part, _, _ := strings.Cut(text[i+1:], ",")
		kind += ", " + part
	}
	return &finding{kind, text}
}

// compare compares two searches.
func compare(p *program, l limits, got, want found) *finding {
	if f := cmp.Or(failed("", got), failed(" of the plain search", want)); f != nil {
		return f
	}
	switch {
	case want.closed && !got.closed:
		return &finding{"larger", "the search with reductions is larger than the plain one"}
	case !want.closed:
		return nil
	case (got.refuted == nil) != (want.refuted == nil):
		return &finding{"verdict", verdictsOf(got, want)}
	case got.refuted != nil:
		return nil
	}
	return difference(p, l, got.set, want.set)
}

// overlooked makes random runs, and says which outcome a search that was closed does not know.
func overlooked(p *program, l limits, got, want found) (f *finding) {
	wander(scopeOf(p), p.flags.told, l.walks, 1, func(s seen) bool {
		for _, y := range []struct {
			name string
			found
		}{{"the plain search", want}, {"the search with reductions", got}} {
			if y.closed && y.refuted == nil && !y.set[s.outcome] {
				f = &finding{"overlooked by " + y.name, fmt.Sprintf("%s overlooks one of %d outcomes or more:\n%s\nschedule: %s",
					y.name, len(y.set)+1, s.outcome, strings.Join(s.names, ", "))}
			}
		}
		return f == nil
	})
	return f
}

// difference says what one of two sets of outcomes has that the other has not: what is lost by the reductions,
// or by what is remembered of steps, or what there is although no plain search comes to it.
func difference(p *program, l limits, got, want map[string]bool) *finding {
	if lost := missing(want, got); lost != "" {
		by := "reductions"
		o := reduced(l, never)
		o.Rerun, o.States = true, 0
		if search(p, o, "").set[lost] {
			by = "the memo"
		}
		return &finding{"lost by " + by, fmt.Sprintf("%d and %d outcomes; lost by %s:\n%s\n%s", len(want), len(got), by, lost,
			scheduleOf(p, plainly(limits{}), lost))}
	}
	extra := missing(got, want)
	if extra == "" {
		return nil
	}
	how := scheduleOf(p, reduced(limits{}, 0), extra)
	if how == "" { // of a search that was begun anew
		return nil
	}
	return &finding{"new", fmt.Sprintf("%d and %d outcomes; the plain search does not come to:\n%s\n%s",
		len(want), len(got), extra, how)}
}

// missing returns an outcome of a that b has not; "" if there is none.
func missing(a, b map[string]bool) (first string) {
	for text := range a {
		if !b[text] && (first == "" || text < first) {
			first = text
		}
	}
	return first
}

// scheduleOf returns a schedule that leads to an outcome, as a search finds it.
func scheduleOf(p *program, o prove.Options, outcome string) string {
	if r := search(p, o, outcome).refuted; r != nil {
		return "schedule: " + strings.Join(r.Schedule.Names, ", ")
	}
	return ""
}

// distinct is a checker with a monitor: no two values that are told are the same.
type distinct struct{}

func (distinct) Name() string              { return "distinct" }
func (distinct) Doc() string               { return "no two values that are told are the same" }
func (distinct) Monitor() checkers.Monitor { return &telling{} }
func (d distinct) Check(h *history.History) checkers.Verdict {
	m := &telling{}
	for i := range h.Events {
		if v := m.Step(h, i); v.Level != checkers.OK {
			return v
		}
	}
	return checkers.Verdict{}
}

// telling is the monitor of distinct.
type telling struct{ values []int64 }

func (m *telling) Reset() { m.values = m.values[:0] }

// Step implements [checkers.Monitor].
func (m *telling) Step(h *history.History, i int) checkers.Verdict {
	e := &h.Events[i]
	if e.Kind != history.Told || e.Op != "value" {
		return checkers.Verdict{}
	}
	if slices.Contains(m.values, e.Value) {
		return checkers.Verdict{Level: checkers.Violated, Checker: "distinct",
			Message: fmt.Sprintf("c%d tells what was told before", e.Client), Event: i}
	}
	m.values = append(m.values, e.Value)
	slices.Sort(m.values)
	return checkers.Verdict{}
}

// judge compares the verdicts of checkers that have monitors: those of the searches, and those on random runs.
func judge(p *program, l limits) *finding {
	for op, c := range map[string]checkers.Checker{"tell": distinct{}} {
		if !slices.ContainsFunc(p.clients, func(list []stmt) bool {
			return anyOf(list, func(s *stmt) bool { return s.op() == op })
		}) {
			continue
		}
		sc := scopeOf(p, c)
		got, want := find(sc, reduced(l, never), nil), find(sc, plainly(l), nil)
		if f := cmp.Or(failed(" of "+c.Name(), got), failed(" of the plain search of "+c.Name(), want)); f != nil {
			return f
		}
		switch {
		case !want.closed || !got.closed:
			continue
		case (got.refuted == nil) != (want.refuted == nil):
			return &finding{"verdict of " + c.Name(), verdictsOf(got, want)}
		case got.refuted != nil:
			continue
		}
		var f *finding
		wander(sc, false, l.walks, 2, func(s seen) bool {
			if s.verdict.Level == checkers.Violated {
				f = &finding{"verdict overlooked of " + c.Name(), s.verdict.Message + "\nschedule: " + strings.Join(s.names, ", ")}
			}
			return f == nil
		})
		if f != nil {
			return f
		}
	}
	return nil
}

// verdictsOf says which of two searches finds a violation, and what it is.
func verdictsOf(got, want found) string {
	text := fmt.Sprintf("violated by the search: %v, by the plain one: %v", got.refuted != nil, want.refuted != nil)
	for _, x := range []found{got, want} {
		if x.refuted != nil {
			text += "\n" + x.refuted.Verdict.Message + "\nschedule: " + strings.Join(x.refuted.Schedule.Names, ", ")
		}
	}
	return text
}

// shrink leaves out of a program what it can while the finding is of the same kind.
func shrink(p *program, f *finding, l limits) (*program, *finding) {
	for {
		smaller := func() bool {
			for _, q := range p.smaller() {
				if x := examine(q, l); x.finding != nil && x.finding.kind == f.kind {
					p, f = q, x.finding
					return true
				}
			}
			return false
		}
		if !smaller() {
			return p, f
		}
	}
}
