package checkers

import "zksim/model/history"

// Monitor implements [Monitored]. It says what is certain: who has not got the lock at the
// end was notified in vain, too. Where txns are not recorded, it leaves everything to
// Check.
func (c Herd) Monitor() Monitor { return &herds{Herd: c} }

// herds is the monitor of Herd.
type herds struct {
	Herd
	list []herd
	open []notified // InVain: who may still get the lock
}

// herd is a change and those whom it notified.
type herd struct {
	change
	author int32
	later  int // changes after it that notify the same watches
	n      int // notified, as far as they count for certain
}

// notified is a client that was notified of a change.
type notified struct {
	client int32
	change
}

// Reset implements [Monitor].
func (m *herds) Reset() { m.list, m.open = m.list[:0], m.open[:0] }

// Hash implements [Monitor].
func (m *herds) Hash() uint64 {
	sum := Print(0) // in any order
	for _, x := range m.list {
		p := Print(x.author).Word(uint64(x.later)).Word(uint64(x.n)).Text(x.path)
		for _, y := range m.open {
			if y.change == x.change {
				p += Print(y.client).Word(1)
			}
		}
		sum += p.Word(2)
	}
	return uint64(sum)
}

// Step implements [Monitor].
func (m *herds) Step(h *history.History, i int) Verdict {
	if !h.Txns {
		return Verdict{}
	}
	e := &h.Events[i]
	tooMany := false
	switch e.Kind {
	case history.Created, history.Deleted, history.Changed:
		for k := range m.list {
			if m.list[k].precedes(e) {
				m.list[k].later++
			}
		}
		if e.Kind != history.Changed {
			m.list = append(m.list, herd{change: change{e.Path, e.Zxid}, author: e.Client})
		}
	case history.Acquired:
		m.open = drop(m.open, func(x notified) bool { return x.client == e.Client })
	case history.Notify:
		tooMany = m.inVain(e.Client)
		if k, counted := changeOf(h, i); counted && m.InVain {
			m.find(h, i)
			m.open = append(m.open, notified{e.Client, k})
		} else if counted {
			tooMany = m.count(m.find(h, i))
		}
	case history.Return:
		tooMany = e.Err != nil && m.inVain(e.Client)
	}
	if tooMany {
		return m.Check(h)
	}
	return Verdict{}
}

// precedes reports whether event e changes what x has changed, or a child of it.
func (x *herd) precedes(e *history.Event) bool {
	return e.Zxid > x.zxid && (e.Path == x.path || e.Kind != history.Changed && parent(e.Path) == x.path)
}

// find returns the place of the change behind notification i.
func (m *herds) find(h *history.History, i int) int {
	e := &h.Events[i]
	for k := range m.list {
		if m.list[k].change == (change{e.Path, e.Zxid}) {
			return k
		}
	}
	x := herd{change: change{e.Path, e.Zxid}}
	for k := range i {
		if y := &h.Events[k]; (y.Kind == history.Created || y.Kind == history.Deleted || y.Kind == history.Changed) && x.precedes(y) {
			x.later++
		}
	}
	m.list = append(m.list, x)
	return len(m.list) - 1
}

// count adds one to those whom a change has notified, and reports whether these are too many.
func (m *herds) count(k int) bool {
	m.list[k].n++
	return m.list[k].n > m.PerEvent
}

// inVain notes that a client did not get the lock that it was last notified of.
func (m *herds) inVain(client int32) (tooMany bool) {
	for _, x := range m.open {
		if x.client != client {
			continue
		}
		for k := range m.list {
			if m.list[k].change == x.change {
				tooMany = m.count(k) || tooMany
			}
		}
	}
	m.open = drop(m.open, func(x notified) bool { return x.client == client })
	return tooMany
}
