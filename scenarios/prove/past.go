package prove

import (
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// past is what the checkers of a scenario remember of a run so far. Monitors say themselves what they remember; for
// checkers without a monitor it is all events in their order. Checkers are shown events without a trace of the run they
// happened in, so that events of one run can be shown again as part of another.
type past struct {
	monitored []checkers.Checker
	observers []*observer // of these, and one for all others, if any
	sees      [history.Calm + 1]bool
	shown     []history.Event // events that some observer sees
	events    int             // number of events of the run's history seen so far
	found     checkers.Verdict
	unsure    string // what a monitor could not judge
	sentences *sentences
	lenient   bool // ignore a program's own assertions
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

// check reports a monitor that is nil, that holds something unreadable, or that is shared.
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

// OfState reports whether the verdicts of a checker do not depend on the order of events beyond what its monitor
// remembers. A proof for such checkers has fewer states.
func OfState(c checkers.Checker) bool {
	_, ok := c.(checkers.Monitored)
	return ok
}

func (p *past) reset() {
	for _, o := range p.observers {
		o.reset()
	}
	p.shown = p.shown[:0]
	p.events, p.found, p.unsure = 0, checkers.Verdict{}, ""
}

// take adds the new events in the history of a run, and returns those that count. The number of an object, which
// differs between equivalent runs, is replaced by one that counts the objects of its client.
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

// show shows an event to the checkers until one of them finds a violation.
func (p *past) show(e *history.Event) {
	p.shown = append(p.shown, *e)
	for _, o := range p.observers {
		if p.violated() {
			return
		}
		p.note(o.show(e))
	}
}

// note records the verdict of a monitor.
func (p *past) note(v checkers.Verdict) {
	switch v.Level {
	case checkers.Violated:
		p.found = v
	case checkers.Unknown:
		p.unsure = v.Message
	}
}

// violated reports whether a monitor has found a violation. Then the run need not go on.
func (p *past) violated() bool { return p.found.Level == checkers.Violated }

// judge returns the verdict on a history of the checker whose monitor has found the violation, or the monitor's if the
// Check of that checker finds none: then they disagree.
func (p *past) judge(h *history.History) (v checkers.Verdict, agree bool) {
	for _, c := range p.monitored {
		if c.Name() == p.found.Checker {
			if v := checkers.VerdictOf(c, h); v.Level == checkers.Violated {
				return v, true
			}
			return p.found, false
		}
	}
	return p.found, true
}

// memories returns what each observer remembers.
func (p *past) memories() []memory {
	list := make([]memory, len(p.observers))
	for i, o := range p.observers {
		list[i] = o.memory()
	}
	return list
}

// pastOf returns a hash of what decides the verdicts of observers with these memories.
func pastOf(list []memory) uint64 {
	var h hash.Hash
	for i := range list {
		h = h.Uint64(list[i].past)
	}
	return uint64(h)
}

// heard returns for each observer a hash of the events that it sees; nil if there are no events.
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

// followed returns an error if the monitors of a scenario cannot follow a search, or if making them panics.
func followed(s *engine.Scenario, r Reductions) (err error) {
	if m := engine.Judging(func() { err = newPast(s, r.Monitors).check() }); m != nil {
		err = m
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return err
}
