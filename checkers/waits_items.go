package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// consumers is the monitor of Waits for items: at rest, nobody waits for an item while more were put for certain than
// can have been removed. What nobody can tell counts as removed: an answer that leaves it open, a crash in the middle,
// an item that was claimed and is not given back.
type consumers struct {
	recipeEvents
	Waits
	waiting []wait
	free    int // items that are there at least; less than 0: what nobody can tell may have been put
}

func (m *consumers) Reset() { m.waiting, m.free = m.waiting[:0], 0 }

func (m *consumers) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, w := range m.waiting {
		sum += printOf(m.waiting, w.caller).String(w.op)
	}
	return uint64(sum.Int(int64(m.free)))
}

// gets reports whether an operation may remove an item.
func gets(op string) bool {
	return op == "take" || op == "claim" || op == "trytake" || op == "tryclaim"
}

func (m *consumers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Invoke && gets(e.Op):
		m.waiting = append(forget(m.waiting, callerOf(e)), wait{callerOf(e), e.Op})
	case e.Kind == history.Return && gets(e.Op):
		m.waiting = forget(m.waiting, callerOf(e))
		if e.Err == nil || !e.OK {
			m.free--
		}
	case e.Kind == history.Return && (e.Op == "put" || e.Op == "return") && e.Err == nil:
		m.free++
	case e.Kind == history.Crashed:
		for _, w := range m.waiting {
			if w.client == e.Client {
				m.free--
			}
		}
		m.waiting = drop(m.waiting, func(w wait) bool { return w.client == e.Client })
	case e.Kind == history.Told && e.Op == ToldRest && m.free > 0 && len(m.waiting) > 0:
		return violated(m, i, "c%d waits in its %s when nothing but time can pass, although at least %s free",
			m.waiting[0].client, m.waiting[0].op, itemsAre(m.free))
	}
	return Verdict{}
}

// itemsAre writes a number of items, with the verb.
func itemsAre(n int) string {
	if n == 1 {
		return "1 item is"
	}
	return digits(int32(n)) + " items are"
}
