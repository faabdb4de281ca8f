package prove

import (
	"os"
	"slices"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
)

// past is what the checkers of a scenario remember of a run so far: monitors what they
// remember by themselves, for the others a trace.
type past struct {
	monitors []checkers.Monitor
	trace    *trace
	order    checkers.Order // of all of them
	events   int            // that have been taken
}

func newPast(s *scenarios.Scenario) *past {
	p := &past{}
	var traced []checkers.Checker
	for _, c := range s.Checkers {
		if os.Getenv("SKIP") != "" && c.Name() == os.Getenv("SKIP") {
			continue
		}
		if m, ok := c.(checkers.Monitored); ok {
			p.monitors = append(p.monitors, m.Monitor())
		} else {
			traced = append(traced, c)
		}
	}
	if !slices.ContainsFunc(s.Checkers, func(c checkers.Checker) bool { return c == checkers.Checker(checkers.Fenced{}) }) {
		p.monitors = append(p.monitors, checkers.Fenced{}.Monitor()) // the resource is part of the state
	}
	p.trace = newTrace(checkers.OrderOf(traced))
	p.order = checkers.OrderOf(s.Checkers)
	p.order.And(checkers.Fenced{}.Order())
	return p
}

func (p *past) reset(clients int) {
	for _, m := range p.monitors {
		m.Reset()
	}
	p.trace.reset(clients)
	p.events = 0
}

// take adds the events that are new in h. It reports whether the order of one of
// them and those of other clients can matter, and what a monitor found violated.
func (p *past) take(h *history.History) (visible bool, v checkers.Verdict) {
	for ; p.events < len(h.Events); p.events++ {
		e := &h.Events[p.events]
		visible = visible || p.order.Crosses(e.Kind)
		p.trace.add(e)
		for _, m := range p.monitors {
			if x := m.Step(h, p.events); x.Level > v.Level {
				v = x
			}
		}
		if v.Level == checkers.Violated {
			return visible, v
		}
	}
	return visible, v
}

func (p *past) hash() uint64 {
	x := p.trace.hash()
	for _, m := range p.monitors {
		x = stir(x, m.Hash())
	}
	return x
}
