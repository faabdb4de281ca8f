package prove

import (
	"zksim/checkers"
	"zksim/internal/hash"
	"zksim/model/history"
)

// observer is a monitor that is shown the events of a run. What it then remembers depends only on what it remembered
// before and on the events that it sees. This is found out once, for each observer separately: together they remember
// far more different things than each of them.
type observer struct {
	name    string // of the checker
	monitor checkers.Monitor
	sees    [history.Calm + 1]bool
	shown   history.History // the events that it sees
	at      uint64          // hash of what it remembers, see memory.all; 0: not known
	empty   uint64          // memory.past after a Reset; 0: there was none yet
}

func newObserver(name string, m checkers.Monitor, clients int) *observer {
	o := &observer{name: name, monitor: m, shown: history.History{Clients: clients, Txns: true}}
	for k := range o.sees {
		o.sees[k] = checkers.Sees(m, history.Kind(k))
	}
	return o
}

// reset makes the monitor forget everything. It panics if the monitor does not, because one run would then be judged by
// what happened in another.
func (o *observer) reset() {
	o.monitor.Reset()
	left := o.memory().past
	if o.empty == 0 {
		o.empty = left
	}
	if left != o.empty {
		panic(failed("the monitor of checker " + o.name + " remembers something after its Reset"))
	}
	o.shown.Events = o.shown.Events[:0]
	o.at = 0
}

// show shows the monitor an event, if it sees events of that kind.
func (o *observer) show(e *history.Event) checkers.Verdict {
	if !o.sees[e.Kind] {
		return checkers.Verdict{}
	}
	o.at = 0
	o.shown.Events = append(o.shown.Events, *e)
	v := o.monitor.Step(&o.shown, len(o.shown.Events)-1)
	v.Checker = o.name
	return v
}

// memory describes what an observer remembers.
type memory struct {
	past uint64 // a hash of what decides its verdicts from now on
	all  uint64 // a hash of everything; not part of the state
}

// memory returns what the observer remembers now.
func (o *observer) memory() (m memory) {
	m.all = uint64(remember(1, o.monitor))
	m.past = m.all
	if x, ok := o.monitor.(checkers.Digest); ok {
		m.past = x.Hash()
	}
	o.at = m.all
	return m
}

// heard returns a hash of those events that the observer sees; 0 if there are none.
func (o *observer) heard(told []history.Event) uint64 {
	var h hash.Hash
	for i := range told {
		if o.sees[told[i].Kind] {
			h = checkers.Said(h, &told[i])
		}
	}
	return uint64(h)
}

// replayTo shows the observer what has happened up to p, unless it remembers that. Its memories in the states on the
// way have index i.
func (o *observer) replayTo(p *point, i int) {
	x := p.last
	var way [][]history.Event
	for ; o.at == 0 || x.memories[i].all != o.at; x = x.parent.last {
		way = append(way, x.told)
		if x.whole || x.parent == nil {
			o.reset()
			break
		}
	}
	for k := len(way) - 1; k >= 0; k-- {
		for j := range way[k] {
			o.show(&way[k][j])
		}
	}
}

// order is the monitor for checkers that have none: all events matter, in their order.
type order struct{ Line hash.Hash }

// Step implements [checkers.Monitor].
func (x *order) Step(h *history.History, i int) checkers.Verdict {
	x.Line = checkers.Said(x.Line, &h.Events[i])
	return checkers.Verdict{}
}

// Reset implements [checkers.Monitor].
func (x *order) Reset() { x.Line = 0 }
