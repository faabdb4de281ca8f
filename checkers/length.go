package checkers

import (
	"fmt"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Length is the promise of a queue that says how long it is: the answer is the number of items at some moment of the
// call. An item put before the call is counted, unless it may have been removed before the answer. An item is not
// counted if its put had not begun before the answer, or if it had been removed before the call. If one item was
// removed during the call and another was put after that, not both are counted. If one of two items was there at every
// moment, at least one is counted. A take that has not returned, or whose outcome is unknown, may have removed one
// item.
type Length struct{}

// Name implements [Checker].
func (Length) Name() string { return "length" }

// Doc implements [Checker].
func (Length) Doc() string {
	return "a length counts all that was put before, and nothing that was removed before"
}

// Needs implements [Declaring].
func (Length) Needs() Needs {
	return Needs{
		Words: append(queueWords("claim", "tryclaim", "return"), judged("answered by how many items there are", "len")...),
		Seen: []Need{wasPut, some("a len without an error", "record it with Object.Record and its Value",
			succeeds("len"))},
	}
}

// Check implements [Checker].
func (c Length) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Length) Monitor() Monitor { return &lengths{} }

// lengths is the monitor of Length.
type lengths struct {
	recipeEvents
	Length
	ops   queueOps
	items []counted
	asked []inquiry
	cut   int // takes of unknown outcome that may have removed an item
}

// counted is an item.
type counted struct {
	item    int64
	begun   bool // its put has begun and was not refused
	put     bool // its producer was told
	removed bool // its consumer was told
	going   bool // an operation that has ended may have removed it
}

// inquiry is a call that asks for a length, and what was certain when it began.
type inquiry struct {
	caller
	put, removed []int64 // items
	least, most  int64   // how many there were in the moments since, as far as was certain in each
}

func (m *lengths) Reset() {
	m.ops, m.items, m.asked, m.cut = m.ops[:0], m.items[:0], m.asked[:0], 0
}

func (m *lengths) Hash() uint64 {
	var items, asked hash.Hash // in any order
	for _, x := range m.items {
		items += hash.Hash(x.item).Bool(x.begun).Bool(x.put).Bool(x.removed).Bool(m.leaves(&x))
	}
	for i := range m.asked {
		q := &m.asked[i]
		asked += printOf(m.asked, q.caller).Uint64(printOfItems(q.put)).Uint64(printOfItems(q.removed)).
			Int(q.least).Int(q.most)
	}
	return uint64(items.Uint64(uint64(asked)).Uint64(uint64(m.cut + m.ops.taking())))
}

func (m *lengths) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	o, ok := m.ops.step(h, i)
	switch {
	case e.Kind == history.Crashed:
		m.asked = withoutClient(m.asked, e.Client)
	case !ok:
	case o.name == "len" && o.open:
		m.asked = append(m.asked, m.inquire(o.caller))
	case o.name == "len":
		var q inquiry
		if m.asked, q = take(m.asked, e); q.caller == o.caller && o.succeeded() {
			return m.judge(&q, e.Value, i)
		}
	case o.name == "put":
		x := m.item(o.item)
		x.begun, x.put = o.open || !o.refused, o.succeeded()
	case o.name == "ack":
		x := m.item(o.item)
		x.going, x.removed = x.going || !o.open && !o.refused, x.removed || o.succeeded()
	case o.takes() && o.succeeded():
		x := m.item(o.item)
		x.going, x.removed = true, true
	case o.takes() && !o.open && o.doubtful():
		m.cut++
	}
	m.look()
	return Verdict{}
}

// look updates the open inquiries with how many items there are at this moment.
func (m *lengths) look() {
	if len(m.asked) == 0 {
		return
	}
	least, most := m.bounds()
	for k := range m.asked {
		q := &m.asked[k]
		q.least, q.most = min(q.least, least), max(q.most, most)
	}
}

// bounds returns how many items there are at this moment, at least and at most.
func (m *lengths) bounds() (least, most int64) {
	least = -int64(m.cut + m.ops.taking())
	for k := range m.items {
		x := &m.items[k]
		if x.put && !m.leaves(x) {
			least++
		}
		if x.begun && !x.removed {
			most++
		}
	}
	return least, most
}

// leaves reports whether an item may have been removed.
func (m *lengths) leaves(x *counted) bool { return x.going || m.ops.any("ack", x.item) }

func (m *lengths) item(number int64) *counted {
	return recall(&m.items, func(x *counted) bool { return x.item == number }, counted{item: number})
}

// inquire returns what is certain when somebody asks.
func (m *lengths) inquire(who caller) inquiry {
	q := inquiry{caller: who}
	q.least, q.most = m.bounds()
	for _, x := range m.items {
		if x.put {
			q.put = append(q.put, x.item)
		}
		if x.removed {
			q.removed = append(q.removed, x.item)
		}
	}
	return q
}

// judge judges the answer at event i.
func (m *lengths) judge(q *inquiry, n int64, i int) Verdict {
	least, most := -int64(m.cut+m.ops.taking()), int64(0)
	for k := range m.items {
		x := &m.items[k]
		if slices.Contains(q.put, x.item) && !m.leaves(x) {
			least++
		}
		if x.begun && !slices.Contains(q.removed, x.item) {
			most++
		}
	}
	told := fmt.Sprintf("c%d was told that the queue has %s", q.client, history.Counted(n, "item"))
	switch least = max(least, 0); {
	case n < least:
		return violated(m, i, "%s while there were %d at least, put before it asked", told, least)
	case n > most && len(q.removed) == 0:
		return violated(m, i, "%s while there were %d at most", told, most)
	case n > most:
		return violated(m, i, "%s while there were %d at most, the others were removed before it asked", told, most)
	case n < q.least:
		return violated(m, i, "%s, and at no moment since it asked were there fewer than %d", told, q.least)
	case n > q.most:
		return violated(m, i, "%s, and at no moment since it asked were there more than %d", told, q.most)
	}
	return Verdict{}
}
