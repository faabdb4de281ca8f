package prove

import (
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// past is what the checkers of a scenario remember of a run so far: monitors what they remember by themselves; for
// checkers without a monitor, all events in their order. They are shown events that do not tell in which run they
// happened, so that what one run has told can be told again as a part of another one.
type past struct {
	monitored []checkers.Checker
	observers []*observer // of these, and at most one for all others
	sees      [history.Calm + 1]bool
	shown     []history.Event // that count
	events    int             // of the run's history that have been looked at
	found     checkers.Verdict
	unsure    string // what a monitor could not judge
	sentences *sentences
	lenient   bool // what a program says must hold always is nobody's business
}

func newPast(s *engine.Scenario, monitored bool) *past {
	p := &past{}
	whole := false
	for _, c := range s.Checkers {
		m, ok := c.(checkers.Monitored)
		if !ok || !monitored {
			whole = true
			continue
		}
		p.monitored = append(p.monitored, c)
		p.observers = append(p.observers, newObserver(c.Name(), m.Monitor(), s.Clients))
	}
	if whole {
		p.observers = append(p.observers, newObserver("", &order{}, s.Clients))
	}
	for k := range p.sees {
		p.sees[k] = slices.ContainsFunc(p.observers, func(o *observer) bool { return o.sees[k] })
	}
	return p
}

// check reports a monitor that is none, or that holds what cannot be read or shares it with another one.
func (p *past) check() error {
	for i, o := range p.observers {
		if o.monitor == nil {
			return fmt.Errorf("the monitor of checker %s is nil; a checker without one has no method Monitor", o.name)
		}
		if field := illegible(o.monitor); field != "" {
			return fmt.Errorf("the monitor of checker %s cannot be read: %s; what a monitor remembers must be in numbers, "+
				"strings, and slices, arrays, maps and structs of these", o.name, field)
		}
		if i < len(p.monitored) && shared(o.monitor, p.monitored[i].(checkers.Monitored).Monitor()) {
			return fmt.Errorf("the method Monitor of checker %s returns the same monitor again, expected a new one each time",
				o.name)
		}
	}
	return nil
}

// OfState reports whether the verdicts of a checker depend on no order of events beyond
// what its monitor remembers. A proof for such checkers has fewer states.
func OfState(c checkers.Checker) bool {
	_, ok := c.(checkers.Monitored)
	return ok
}

func names(all []checkers.Checker) []string {
	list := make([]string, len(all))
	for i, c := range all {
		list[i] = c.Name()
	}
	return list
}

func (p *past) reset() {
	for _, o := range p.observers {
		o.reset()
	}
	p.shown = p.shown[:0]
	p.events, p.found, p.unsure = 0, checkers.Verdict{}, ""
}

// take adds the events that are new in the history of a run, and returns those that count. The number of an object,
// which differs between runs that mean the same, becomes one of its client.
func (p *past) take(r *engine.Runner) []history.Event {
	first, events := len(p.shown), r.World().History.Events
	for _, e := range events[p.events:] {
		p.assertion(&e)
		if p.sees[e.Kind] {
			e.Step = 0
			if e.Object != 0 {
				e.Object = e.Client<<16 | r.Ordinal(e.Object) + 1
			}
			p.show(&e)
		}
	}
	p.events = len(events)
	return p.shown[first:]
}

// show shows an event to the checkers, unless one of them has found what it looks for.
func (p *past) show(e *history.Event) {
	p.shown = append(p.shown, *e)
	for _, o := range p.observers {
		if p.violated() {
			return
		}
		p.note(o.show(e))
	}
}

// note takes note of what a monitor says.
func (p *past) note(v checkers.Verdict) {
	switch v.Level {
	case checkers.Violated:
		p.found = v
	case checkers.Unknown:
		p.unsure = v.Message
	}
}

// violated reports whether a monitor finds the history violated: then the run need not go on.
func (p *past) violated() bool { return p.found.Level == checkers.Violated }

// judge returns what the checker whose monitor has found a run violated says of its history.
func (p *past) judge(h *history.History) checkers.Verdict {
	for _, c := range p.monitored {
		if v := checkers.VerdictOf(c, h); v.Checker == p.found.Checker && v.Level == checkers.Violated {
			return v
		}
	}
	return p.found
}

// memories returns what each of the checkers remembers.
func (p *past) memories() []memory {
	list := make([]memory, len(p.observers))
	for i, o := range p.observers {
		list[i] = o.memory()
	}
	return list
}

// pastOf returns a hash of what decides what those will find that remember this.
func pastOf(list []memory) uint64 {
	var h hash.Hash
	for i := range list {
		h = h.Uint64(list[i].past)
	}
	return uint64(h)
}

// heard returns a hash of what each of the checkers sees of some events; nil if there are none.
func (p *past) heard(told []history.Event) []uint64 {
	if len(told) == 0 {
		return nil
	}
	list := make([]uint64, len(p.observers))
	for i, o := range p.observers {
		list[i] = o.heard(told)
	}
	return list
}

// followed returns an error if the monitors of a scenario cannot follow a search, or if what makes them panics.
func followed(s *engine.Scenario, r Reductions) (err error) {
	if m := engine.Judging(func() { err = newPast(s, r.Monitors).check() }); m != nil {
		err = m
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return err
}
