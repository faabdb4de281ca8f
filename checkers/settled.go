package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Settled is the promise of a watcher that tells a list of children once they have settled: what it tells was the list
// when the time to settle began, and still when that had passed.
//
// The watcher is one of [WatchChildren]. Invoke of Settle is when it begins to wait for the time to settle, and Return
// of Settle is when that has passed. Nothing is said of real runs, in which nobody can tell what the list was then.
type Settled struct{}

// Settle is the operation that a watcher of children is in while it waits for them to settle.
const Settle = "settle"

// Name implements [Checker].
func (Settled) Name() string { return "settled" }

// Doc implements [Checker].
func (Settled) Doc() string {
	return "a list that is told as settled has not changed while its watcher waited for that"
}

// Needs implements [Declaring].
func (Settled) Needs() Needs {
	return Needs{
		Txns:      true,
		Simulated: true,
		Words: slices.Concat(judged(watcherDoc, WatchChildren),
			judged("the watcher waits for the list to settle, until its end", Settle),
			unjudged("is for convergence", Rest, Stop),
			tells(stateDoc, ToldChildren)),
		Seen: []Need{some("a wait for a list to settle that does not end early",
			"record settle with Object.Invoke and Object.Return", succeeds(Settle)).during()},
	}
}

// Check implements [Checker].
func (c Settled) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Settled) Monitor() Monitor { return &settlers{lists: map[string]int64{}} }

// settlers is the monitor of Settled.
type settlers struct {
	recipeEvents
	Settled
	changes
	all   []settler
	lists map[string]int64 // of each znode that exists: the zxid of its list
}

// settler is a watcher that waits for a list to settle.
type settler struct {
	caller
	path         string
	waits, ended bool  // since it has told something
	from, to     int64 // the zxids of the list when the latest time to settle began, and when it had passed
}

// Reset implements [Monitor].
func (m *settlers) Reset() {
	m.changes, m.all = m.changes[:0], m.all[:0]
	clear(m.lists)
}

// Hash implements [Monitor]. The lists are known to the world.
func (m *settlers) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for i := range m.all {
		w := &m.all[i]
		sum += printOf(m.all, w.caller).String(w.path).Bool(w.waits).Bool(w.ended).Uint64(m.rank(w.from)).
			Uint64(m.rank(w.to))
	}
	return uint64(sum)
}

// Step implements [Monitor].
func (m *settlers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.note(e)
	k := find(m.all, callerOf(e))
	switch {
	case e.Kind == history.Created:
		m.lists[e.Path] = e.Zxid
		m.lists[parent(e.Path)] = e.Zxid
	case e.Kind == history.Deleted:
		delete(m.lists, e.Path)
		m.lists[parent(e.Path)] = e.Zxid
	case e.Kind == history.Crashed:
		m.all = drop(m.all, func(w settler) bool { return w.client == e.Client })
	case e.Kind == history.Invoke && e.Op == WatchChildren:
		m.all = append(forget(m.all, callerOf(e)), settler{caller: callerOf(e), path: e.Path})
	case k < 0:
	case e.Kind == history.Return && e.Op == WatchChildren:
		m.all = forget(m.all, callerOf(e))
	case e.Kind == history.Invoke && e.Op == Settle:
		w := &m.all[k]
		w.waits, w.ended, w.from, w.to = true, false, m.lists[w.path], 0
	case e.Kind == history.Return && e.Op == Settle && m.all[k].waits:
		m.all[k].ended, m.all[k].to = true, m.lists[m.all[k].path]
	case e.Kind == history.Told && e.Op == ToldChildren && e.Path == m.all[k].path:
		return m.judge(h, i, &m.all[k])
	}
	return Verdict{}
}

// judge judges a list that is told.
func (m *settlers) judge(h *history.History, i int, w *settler) Verdict {
	e := &h.Events[i]
	switch {
	case !w.ended:
		return violated(m, i, "c%d was told a list of %s before the time to settle had passed", e.Client, e.Path)
	case w.to != e.Zxid:
		return violated(m, i, "c%d was told the list of %s at zxid 0x%x as settled%s before the time to settle had passed",
			e.Client, e.Path, e.Zxid, changedAfter(h, i, e))
	case w.from != e.Zxid:
		return violated(m, i, "c%d was told the list of %s at zxid 0x%x as settled, which dates from after the time to "+
			"settle had begun", e.Client, e.Path, e.Zxid)
	}
	w.waits, w.ended = false, false
	return Verdict{}
}

// changedAfter says what has changed the list that e told, before event i.
func changedAfter(h *history.History, i int, e *history.Event) string {
	for k := range i {
		x := &h.Events[k]
		list := x.Path == e.Path || parent(x.Path) == e.Path
		if list && (x.Kind == history.Created || x.Kind == history.Deleted) && x.Zxid > e.Zxid {
			return ", and c" + digits(x.Client) + " changed it by " + x.Path
		}
	}
	return ", and it was another one"
}
