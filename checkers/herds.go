package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// Monitor implements [Monitored]. The monitor reports only what is certain so far: a client that has not got the lock
// at the end was notified in vain, too.
func (c Herd) Monitor() Monitor { return &herds{Herd: c} }

// herds is the monitor of Herd.
type herds struct {
	recipeEvents
	Herd
	list []herd     // by every change
	open []notified // InVain: who may still get the lock
}

// herd is a change and the clients that it notified.
type herd struct {
	change
	data   bool  // of a znode's data
	author int32 // 0 if it is of data
	later  int   // changes after it that notify the same watches
	told   bool  // somebody was notified
	list   bool  // it is of a list of children; what has changed that is another entry
	n      int   // notified clients that certainly count
}

// notified is a client that was notified of a change.
type notified struct {
	client int32
	change
}

func (m *herds) Reset() { m.list, m.open = m.list[:0], m.open[:0] }

func (m *herds) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, x := range m.list {
		if x.data && !x.told {
			continue
		}
		p := hash.Hash(x.author).Uint64(uint64(x.later)).Uint64(uint64(x.n)).String(x.path)
		for _, y := range m.open {
			if y.change == x.change {
				p += hash.Hash(y.client).Uint64(1)
			}
		}
		sum += p.Uint64(2)
	}
	return uint64(sum)
}

func (m *herds) Sees(k history.Kind) bool { return k == history.Notify || m.recipeEvents.Sees(k) }

func (m *herds) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	tooMany := false
	switch e.Kind {
	case history.Created, history.Deleted, history.Changed:
		x := herd{change: change{e.Path, e.Zxid}, data: e.Kind == history.Changed}
		if !x.data {
			x.author = e.Client
		}
		for k := range m.list {
			if m.list[k].precedes(&x) {
				m.list[k].later++
			}
		}
		m.list = append(m.list, x)
	case history.Acquired:
		m.open = drop(m.open, func(x notified) bool { return x.client == e.Client })
	case history.Notify:
		tooMany = m.inVain(e.Client)
		if e.Zxid == 0 {
			break
		}
		switch k := m.find(e); {
		case e.Client == m.list[k].author:
		case m.InVain:
			m.open = append(m.open, notified{e.Client, m.list[k].change})
		default:
			tooMany = m.count(k)
		}
	case history.Return:
		tooMany = e.Err != nil && m.inVain(e.Client)
	}
	if tooMany {
		return violated(m, i, "one change has notified more clients than it may")
	}
	return Verdict{}
}

// precedes reports whether y changes what x has changed, or a child of it.
func (x *herd) precedes(y *herd) bool {
	return y.zxid > x.zxid && (y.path == x.path || !y.data && parent(y.path) == x.path)
}

// find returns the place of the change behind a notification.
func (m *herds) find(e *history.Event) int {
	for k := range m.list {
		if m.list[k].change == (change{e.Path, e.Zxid}) {
			m.list[k].told = true
			return k
		}
	}
	x := herd{change: change{e.Path, e.Zxid}, list: true}
	for k := range m.list {
		if y := &m.list[k]; !y.list && x.precedes(y) {
			x.later++
		}
	}
	m.list = append(m.list, x)
	return len(m.list) - 1
}

// count adds one to the clients that a change has notified, and reports whether these are too many.
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
