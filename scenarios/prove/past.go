package prove

import (
	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// past is what the checkers of a scenario remember of a run so far: monitors what
// they remember by themselves, for the others a trace.
type past struct {
	monitors []checkers.Monitor
	trace    *trace
	order    checkers.Order // of all of them
	events   int            // that have been taken
	found    checkers.Verdict
	unsure   string // what a monitor could not judge
}

func newPast(all []checkers.Checker, monitored bool) *past {
	p := &past{order: checkers.OrderOf(all)}
	var traced []checkers.Checker
	for _, c := range all {
		if m, ok := c.(checkers.Monitored); ok && monitored {
			p.monitors = append(p.monitors, m.Monitor())
		} else {
			traced = append(traced, c)
		}
	}
	p.trace = &trace{order: checkers.OrderOf(traced)}
	return p
}

// OfState reports whether the verdicts of a checker depend on no order of events: it
// judges how a run ends, or has a monitor. A proof for such checkers has fewer states.
func OfState(c checkers.Checker) bool {
	if _, ok := c.(checkers.Monitored); ok {
		return true
	}
	order := checkers.OrderOf([]checkers.Checker{c})
	for k := range order {
		if order.Crosses(history.Kind(k)) {
			return false
		}
	}
	return true
}

func names(all []checkers.Checker) []string {
	list := make([]string, len(all))
	for i, c := range all {
		list[i] = c.Name()
	}
	return list
}

func (p *past) reset(clients int) {
	for _, m := range p.monitors {
		m.Reset()
	}
	p.trace.reset(clients)
	p.events, p.found, p.unsure = 0, checkers.Verdict{}, ""
}

// take adds the events that are new in the history. It reports whether the order of one of
// them and those of other clients can matter, and whether a monitor finds the
// history violated: then the run need not go on.
func (p *past) take(world *sim.World) (visible, violated bool) {
	h := world.History
	for ; p.events < len(h.Events) && !violated; p.events++ {
		e := &h.Events[p.events]
		visible = visible || p.order.Crosses(e.Kind)
		p.trace.add(e, world.Rank)
		for _, m := range p.monitors {
			switch v := m.Step(h, p.events); {
			case v.Level == checkers.Violated && !violated:
				violated, p.found = true, v
			case v.Level == checkers.Unknown:
				p.unsure = v.Message
			}
		}
	}
	return visible, violated
}

func (p *past) hash() checkers.Print {
	x := p.trace.hash()
	for _, m := range p.monitors {
		x = x.Word(m.Hash())
	}
	return x
}
