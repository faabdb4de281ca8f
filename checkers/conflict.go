package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

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
	recipeEvents
	Conflict
	open  []caller // that are making one
	alone bool     // there is one, and there were no others since it began
	ever  bool     // one may be made at any later time: nothing else matters any more
}

// Reset implements [Monitor].
func (m *updates) Reset() { m.open, m.alone, m.ever = m.open[:0], false, false }

// Hash implements [Monitor]. The updates that are being made are operations in progress.
func (m *updates) Hash() uint64 { return uint64(hash.Hash(0).Bool(m.alone).Bool(m.ever)) }

// Step implements [Monitor].
func (m *updates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if e.Op != "update" || m.ever {
		return Verdict{}
	}
	o := callerOf(e)
	switch begun := find(m.open, o) >= 0; {
	case e.Kind == history.Invoke && !begun:
		m.alone = len(m.open) == 0
		m.open = append(m.open, o)
	case e.Kind == history.Return && begun && (e.Err == nil || e.OK):
		if e.Err != nil && m.alone {
			return violated(m, i, "the update of c%d was refused although no other was being made", e.Client)
		}
		m.open, m.alone = forget(m.open, o), false
	case begun: // it has not ended, or nobody knows how
		m.open, m.alone, m.ever = m.open[:0], false, true
	}
	return Verdict{}
}
