package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// consumers is the monitor of Waits for items. At rest, nobody waits for an item while more items are certainly there
// than can have been got without a word. An item is certainly there if it was put or given back, and nobody is known to
// have got it since. An item can have been got without a word by an operation whose answer leaves that open, or whose
// client crashes in the middle. A claimed item counts as got until it is given back.
type consumers struct {
	recipeEvents
	Waits
	waiting []ongoing
	giving  []gift    // in progress, which the world knows
	items   []inStock // certainly there, or got more often than they were certainly put and given back
	lost    int       // items that can have been got without a word
}

// gift is an item that is being put or given back.
type gift struct {
	caller
	op   string
	item int64
}

// inStock is an item, and how much more often it was put and given back than it was got.
type inStock struct {
	item int64
	n    int
}

func (m *consumers) Reset() {
	m.waiting, m.giving, m.items, m.lost = m.waiting[:0], m.giving[:0], m.items[:0], 0
}

func (m *consumers) Hash() uint64 {
	var sum, items hash.Hash // in any order
	for _, w := range m.waiting {
		sum += printOf(m.waiting, w.caller).String(w.op)
	}
	for _, x := range m.items {
		items += hash.Hash(0).Int(x.item).Int(int64(x.n))
	}
	return uint64(sum.Int(int64(m.lost)).Uint64(uint64(items)))
}

// add notes that there is one more of an item, or one less.
func (m *consumers) add(item int64, n int) {
	recall(&m.items, func(x *inStock) bool { return x.item == item }, inStock{item: item}).n += n
	m.items = drop(m.items, func(x inStock) bool { return x.n == 0 })
}

// free returns how many items are there at least.
func (m *consumers) free() int {
	n := -m.lost
	for _, x := range m.items {
		n += max(x.n, 0)
	}
	return n
}

// gets reports whether an operation may remove an item.
func gets(op string) bool {
	return op == "take" || op == "claim" || op == "trytake" || op == "tryclaim"
}

// gives reports whether an operation may add an item.
func gives(op string) bool { return op == "put" || op == "return" }

func (m *consumers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Invoke && gets(e.Op):
		m.waiting = append(m.waiting, ongoingOf(e))
	case e.Kind == history.Return && gets(e.Op):
		m.waiting = drop(m.waiting, func(w ongoing) bool { return w == ongoingOf(e) })
		switch {
		case e.Err == nil:
			m.add(e.Value, -1)
		case !e.OK:
			m.lost++
		}
	case e.Kind == history.Invoke && gives(e.Op):
		m.giving = append(m.giving, gift{callerOf(e), e.Op, e.Value})
	case e.Kind == history.Return && gives(e.Op):
		m.given(e)
	case e.Kind == history.Crashed:
		n := len(m.waiting)
		m.waiting = withoutClient(m.waiting, e.Client)
		m.lost += n - len(m.waiting)
		m.giving = withoutClient(m.giving, e.Client)
	case e.Kind == history.Told && e.Op == ToldRest && m.free() > 0 && len(m.waiting) > 0:
		return violated(m, i, "c%d waits in its %s when nothing but time can pass, although at least %s free",
			m.waiting[0].client, m.waiting[0].op, itemsAre(m.free()))
	}
	return Verdict{}
}

// given notes that an item was put or given back, or was perhaps.
func (m *consumers) given(e *history.Event) {
	k := slices.IndexFunc(m.giving, func(x gift) bool { return x.caller == callerOf(e) && x.op == e.Op })
	if k < 0 {
		return
	}
	if e.Err == nil {
		m.add(m.giving[k].item, 1)
	}
	m.giving = slices.Delete(m.giving, k, k+1)
}

// itemsAre writes a number of items, with the verb.
func itemsAre(n int) string {
	if n == 1 {
		return "1 item is"
	}
	return digits(int32(n)) + " items are"
}
