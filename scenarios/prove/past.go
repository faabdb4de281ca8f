package prove

import (
	"fmt"
	"slices"

	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// past is what the checkers of a scenario remember of a run so far: monitors what
// they remember by themselves; for a checker without a monitor, all events in their
// order. They are shown events that do not tell in which run they happened, so that what
// one run has told can be told again as a part of another one.
type past struct {
	monitored []checkers.Checker
	monitors  []checkers.Monitor // of these
	sees      [history.Calm + 1]bool
	whole     bool            // the order of all events matters
	line      hash.Hash       // of the events that were shown, if whole
	shown     history.History // events that count
	events    int             // of the run's history that have been looked at
	found     checkers.Verdict
	unsure    string // what a monitor could not judge
	sentences *sentences
	lenient   bool // what a program says must hold always is nobody's business
}

func newPast(all []checkers.Checker, monitored bool) *past {
	p := &past{shown: history.History{Txns: true}}
	for _, c := range all {
		m, ok := c.(checkers.Monitored)
		if !ok || !monitored {
			p.whole = true
			continue
		}
		p.monitored, p.monitors = append(p.monitored, c), append(p.monitors, m.Monitor())
	}
	for k := range p.sees {
		sees := func(m checkers.Monitor) bool { return checkers.Sees(m, history.Kind(k)) }
		p.sees[k] = p.whole || slices.ContainsFunc(p.monitors, sees)
	}
	return p
}

// check reports a monitor that holds what cannot be read.
func (p *past) check() error {
	for i, m := range p.monitors {
		if field := illegible(m); field != "" {
			return fmt.Errorf("the monitor of checker %s cannot be read: %s; what a monitor remembers must be in numbers, "+
				"strings, "+
				"and slices, arrays, maps and structs of these", p.monitored[i].Name(), field)
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
	for _, m := range p.monitors {
		m.Reset()
	}
	p.line = 0
	p.shown.Events = p.shown.Events[:0]
	p.events, p.found, p.unsure = 0, checkers.Verdict{}, ""
}

// take adds the events that are new in the history of a run, and returns those that count. The number of an object,
// which differs between runs that mean the same, becomes one of its client.
func (p *past) take(r *engine.Runner) []history.Event {
	first, events := len(p.shown.Events), r.World().History.Events
	for _, e := range events[p.events:] {
		p.assertion(&e)
		if p.sees[e.Kind] {
			e.Step = 0
			if e.Object != 0 {
				e.Object = e.Client<<16 | r.Ordinal(e.Object) + 1
			}
			p.show(e)
		}
	}
	p.events = len(events)
	return p.shown.Events[first:]
}

// show shows an event to the checkers, unless one of them has found what it looks for.
func (p *past) show(e history.Event) {
	p.shown.Events = append(p.shown.Events, e)
	if p.violated() {
		return
	}
	i := len(p.shown.Events) - 1
	if p.whole {
		p.line = said(p.line, &p.shown.Events[i])
	}
	for _, m := range p.monitors {
		if !checkers.Sees(m, e.Kind) {
			continue
		}
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

// hash returns a hash of what matters of all that the checkers remember: what decides what they
// will find.
func (p *past) hash() uint64 {
	h := p.line
	for _, m := range p.monitors {
		if x, ok := m.(checkers.Digest); ok {
			h = h.Uint64(x.Hash())
		} else {
			h = remember(h, m)
		}
	}
	return uint64(h)
}

// memory returns a hash of all that the checkers remember.
func (p *past) memory() uint64 {
	h := p.line
	for _, m := range p.monitors {
		h = remember(h, m)
	}
	return uint64(h)
}

// said appends what an event says.
func said(h hash.Hash, e *history.Event) hash.Hash {
	h = h.Int(int64(e.Kind)).Bool(e.OK).Int(int64(e.Client)).Int(int64(e.Object)).Int(int64(e.Version)).Int(e.Zxid).
		Int(e.Value).Int(e.Session).String(e.Op).String(e.Path).String(e.Data).Bool(e.Err == nil)
	if e.Err != nil {
		h = h.String(e.Err.Error())
	}
	return h
}

// saidIn is what events say; 0 if there are none.
func saidIn(told []history.Event) uint64 {
	var h hash.Hash
	for i := range told {
		h = said(h, &told[i])
	}
	return uint64(h)
}

// after returns the key of what the checkers remember, as in memory, and are told then.
func after(all, said uint64) uint64 { return uint64(hash.Hash(all).Uint64(said)) }
