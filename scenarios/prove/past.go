package prove

import (
	"reflect"
	"slices"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// past is what the checkers of a scenario remember of a run so far: monitors what
// they remember by themselves, for the others a trace. They are shown the events as they would be
// if only those txns had numbers that change a znode, so that what one run has told can be
// told again as a part of another one.
type past struct {
	monitored []checkers.Checker
	monitors  []checkers.Monitor // of these
	trace     *trace
	legible   bool            // of all monitors, see memory
	order     checkers.Order  // of all of them
	shown     history.History // events that count
	events    int             // of the run's history that have been looked at
	objects   []object        // in the order of their first events
	found     checkers.Verdict
	unsure    string // what a monitor could not judge
}

// object is a recipe object of a client.
type object struct{ client, number int32 }

func newPast(all []checkers.Checker, monitored bool) *past {
	p := &past{legible: true, order: checkers.OrderOf(all), shown: history.History{Txns: true}}
	var traced []checkers.Checker
	for _, c := range all {
		if m, ok := c.(checkers.Monitored); ok && monitored {
			p.monitored, p.monitors = append(p.monitored, c), append(p.monitors, m.Monitor())
			p.legible = p.legible && legible(p.monitors[len(p.monitors)-1])
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
	p.shown.Events, p.objects = p.shown.Events[:0], p.objects[:0]
	p.events, p.found, p.unsure = 0, checkers.Verdict{}, ""
}

// take adds the events that are new in the history of a run, and returns those that count.
func (p *past) take(world *sim.World) []history.Event {
	first := len(p.shown.Events)
	for _, e := range world.History.Events[p.events:] {
		if p.counts(e.Kind) {
			e.Zxid, e.Value, e.Step = world.Rank(e.Zxid), world.Rank(e.Value), 0
			if e.Object != 0 {
				e.Object = e.Client<<16 | p.ordinal(&e)
			}
			p.show(e)
		}
	}
	p.events = len(world.History.Events)
	return p.shown.Events[first:]
}

// counts reports whether an event may mean something to a checker: what libraries do means nothing
// to most.
func (p *past) counts(k history.Kind) bool {
	switch k {
	case history.Call, history.Reply, history.Notify, history.Session, history.Fault:
		return p.order.Sees(k)
	}
	return true
}

// ordinal tells the object of an event from the others of its client: the number that it
// has differs between runs that mean the same.
func (p *past) ordinal(e *history.Event) (n int32) {
	x := object{e.Client, e.Object}
	for _, y := range p.objects {
		if y.client == x.client {
			n++
		}
		if y == x {
			return n
		}
	}
	p.objects = append(p.objects, x)
	return n + 1
}

// show shows an event to the checkers, unless one of them has found what it looks for.
func (p *past) show(e history.Event) {
	p.shown.Events = append(p.shown.Events, e)
	if p.violated() {
		return
	}
	i := len(p.shown.Events) - 1
	p.trace.add(&p.shown.Events[i])
	for _, m := range p.monitors {
		switch v := m.Step(&p.shown, i); {
		case v.Level == checkers.Violated && !p.violated():
			p.found = v
		case v.Level == checkers.Unknown:
			p.unsure = v.Message
		}
	}
}

// violated reports whether a monitor finds the history violated: then the run need not go on.
func (p *past) violated() bool { return p.found.Level == checkers.Violated }

// judge returns what the checker whose monitor has found a run violated says of its history.
func (p *past) judge(h *history.History) checkers.Verdict {
	for _, c := range p.monitored {
		if v := c.Check(h); c.Name() == p.found.Checker && v.Level == checkers.Violated {
			return v
		}
	}
	return p.found
}

// replay shows the checkers events of another run.
func (p *past) replay(events []history.Event) {
	for _, e := range events {
		p.show(e)
	}
}

// visible reports whether the order of one of these events and those of other clients can matter.
func (p *past) visible(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return p.order.Crosses(e.Kind) })
}

func (p *past) hash() checkers.Print {
	x := p.trace.hash()
	for _, m := range p.monitors {
		x = x.Word(m.Hash())
	}
	return x
}

// memory returns a hash of all that the checkers remember, which is more than hash says: nothing is left to
// the world. Where it cannot be told, that is all they were shown, of which line is a hash.
func (p *past) memory(line uint64) uint64 {
	if !p.legible {
		return line
	}
	x := remember(0, reflect.ValueOf(p.trace.own))
	x = remember(x, reflect.ValueOf(&p.trace.sums).Elem())
	for _, m := range p.monitors {
		x = remember(x, reflect.Indirect(reflect.ValueOf(m)))
	}
	return uint64(x)
}
