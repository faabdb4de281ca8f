package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Recency says that configurations do not go back, by the zxid of the last change that belongs to a set. A cached
// reader is told later and later sets. Nobody who asks is given an older set than somebody had before he asked, either
// because he was given it or because his "update" had ended. A cached reader is what an object is told until it returns
// from "follow"; what it asks for meanwhile by "get" does not count there.
//
// The Path of the Invoke of an update is the znode whose last change dates a set. What an update has made of that znode
// is known only where txns were recorded, and while its client makes no other update of it.
type Recency struct{}

// Name implements [Checker].
func (Recency) Name() string { return "recency" }

// Doc implements [Checker].
func (Recency) Doc() string {
	return "a cached reader never goes back, and a client that asks gets no older set than was known before"
}

// Needs implements [Declaring].
func (Recency) Needs() Needs {
	return Needs{
		Words: configWords(slices.Concat(
			judged("changes the set that is dated by the znode in Path", "update"),
			judged("answered by the set of Zxid", "get"),
			tells("a cached reader is told the set of Zxid", "config"),
			judged("a cached reader, until its end", "follow"))...),
		Seen: []Need{some("a set of values that is dated, by an answer of get or told as config",
			"record it with Object.Record and its Zxid", func(e *history.Event) bool { return given(e) && e.Zxid != 0 })},
	}
}

// Check implements [Checker].
func (r Recency) Check(h *history.History) Verdict { return check(h, r.Monitor()) }

// Monitor implements [Monitored].
func (Recency) Monitor() Monitor { return &readers{} }

// readers is the monitor of Recency.
type readers struct {
	recipeEvents
	Recency
	changes
	known int64 // zxid of the latest set that anybody knows
	all   []reader
	open  []update
}

// update is an update in progress.
type update struct {
	caller
	path string
	made int64 // zxid of the last change of path that its client has certainly made by this update
}

// reader is an object that asks, or that was told something. One that does both is two readers.
type reader struct {
	caller
	asks  bool
	least int64 // zxid of the oldest set that it may be given
}

func (m *readers) Reset() {
	m.changes, m.known, m.all, m.open = m.changes[:0], 0, m.all[:0], m.open[:0]
}

func (m *readers) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, r := range m.all {
		sum += printOf(m.all, r.caller).Bool(r.asks).Uint64(m.rank(r.least))
	}
	for _, u := range m.open {
		sum += printOf(m.open, u.caller).String(u.path).Uint64(m.rank(u.made))
	}
	return uint64(sum.Uint64(m.rank(m.known)))
}

func (m *readers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.note(e)
	switch {
	case e.Kind == history.Changed:
		by := func(u update) bool { return u.client == e.Client && u.path == e.Path }
		k := slices.IndexFunc(m.open, by)
		if k >= 0 && !slices.ContainsFunc(m.open[k+1:], by) { // else nobody knows whose it is
			m.open[k].made = e.Zxid
		}
	case e.Kind == history.Invoke && e.Op == "update":
		m.open = append(m.open, update{caller: callerOf(e), path: e.Path})
	case e.Kind == history.Return && e.Op == "update":
		var u update
		if m.open, u = take(m.open, e); e.Err == nil {
			m.known = max(m.known, u.made)
		}
	case e.Kind == history.Invoke && e.Op == "get":
		m.reader(e).least = m.known
	case given(e):
		r := m.reader(e)
		if e.Zxid < r.least && e.Kind == history.Told {
			return violated(m, i, "the cached reader of c%d goes back from zxid 0x%x to 0x%x", e.Client, r.least, e.Zxid)
		}
		if e.Zxid < r.least {
			return violated(m, i, "c%d was given the set of zxid 0x%x although that of 0x%x was known before", e.Client, e.Zxid,
				r.least)
		}
		r.least, m.known = e.Zxid, max(m.known, e.Zxid)
	}
	if e.Kind == history.Return && (e.Op == "get" || e.Op == "follow") {
		m.all = drop(m.all, func(r reader) bool { return r.meant(e) })
	}
	return Verdict{}
}

// meant reports whether an event is one of the reader.
func (r *reader) meant(e *history.Event) bool {
	return r.caller == callerOf(e) && r.asks == (e.Op == "get")
}

// reader returns what is remembered of the object of an event.
func (m *readers) reader(e *history.Event) *reader {
	return recall(&m.all, func(r *reader) bool { return r.meant(e) }, reader{caller: callerOf(e), asks: e.Op == "get"})
}
