package checkers

import "zksim/model/history"

// Conflict says that an update of a configuration is refused, which is a legal
// error of "update", only if another was made at the same time. One that has not
// ended, or with an error that leaves its outcome open, may be made at any later
// time.
type Conflict struct{}

// Name implements [Checker].
func (Conflict) Name() string { return "conflict" }

// Doc implements [Checker].
func (Conflict) Doc() string { return "an update is refused only while another is made" }

// Check implements [Checker].
func (c Conflict) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Conflict) Monitor() Monitor { return &updates{} }

// updates is the monitor of Conflict.
type updates struct {
	Conflict
	open []updating
	ever bool // one may be made at any later time: nothing else matters any more
}

// updating is an update that is being made.
type updating struct {
	object
	excused bool // others are, or were
}

// Reset implements [Monitor].
func (m *updates) Reset() { m.open, m.ever = m.open[:0], false }

// Hash implements [Monitor].
func (m *updates) Hash() uint64 {
	sum := Print(0) // in any order
	for _, u := range m.open {
		sum += printOf(m.open, u.object).Flag(u.excused)
	}
	return uint64(sum.Flag(m.ever))
}

// Step implements [Monitor].
func (m *updates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if e.Op != "update" || m.ever {
		return Verdict{}
	}
	k := find(m.open, objectOf(e))
	switch {
	case e.Kind == history.Invoke && k < 0:
		m.open = append(m.open, updating{object: objectOf(e)})
		for k := range m.open {
			m.open[k].excused = len(m.open) > 1
		}
	case e.Kind == history.Return && k >= 0 && (e.Err == nil || e.OK):
		u := m.open[k]
		if e.Err != nil && !u.excused {
			return violated(m, i, "the update of c%d was refused although no other was being made", e.Client)
		}
		m.open = forget(m.open, u.object)
	case e.Kind == history.Invoke, e.Kind == history.Return && k >= 0: // it has not ended, or nobody knows how
		m.open, m.ever = m.open[:0], true
	}
	return Verdict{}
}
