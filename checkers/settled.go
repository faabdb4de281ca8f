package checkers

import (
	"slices"
	"strconv"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Settled is the promise of a watcher that tells a list of children once it has settled. What the watcher tells was the
// list when the time to settle began, and still was when that time had passed.
//
// The watcher is one of [WatchChildren]. Invoke of Settle is when it begins to wait for the time to settle, and Return
// of Settle is when that time has passed. Where a history has only when changes were proposed, what counts at the end
// is what was certainly committed then: the watcher has to look once more, and finds that.
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
func (c Settled) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(judged(watcherDoc, WatchChildren),
			judged("the watcher waits for the list to settle, until its end", Settle),
			unjudged("is for convergence", Rest, Stop),
			tells(stateDoc, ToldChildren)),
		Seen: []Need{Need{What: "a list that is told after a wait for it to settle",
			Hint: "record settle with Object.Invoke and Object.Return, and both watch-children and children with its Path",
			In: func(h *history.History) bool {
				m := c.Monitor().(*settlers)
				return reaches(h, m, m.tells)
			}}.during()},
	}
}

// Check implements [Checker].
func (c Settled) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Settled) Monitor() Monitor {
	return &settlers{lists: map[string]int64{}, gone: map[string]int64{}, sure: map[string]int64{}}
}

// settlers is the monitor of Settled.
type settlers struct {
	recipeEvents
	Settled
	changes
	horizon
	all   []settler
	lists map[string]int64 // the zxids at which lists last changed, or ended with their znodes
	gone  map[string]int64 // the zxids of the latest deletes of znodes
	later []listChange     // changes that were perhaps not committed yet
	sure  map[string]int64 // like lists, for changes that were committed
}

// listChange is a change of the list of a znode.
type listChange struct {
	path string
	zxid int64
}

// settler is a watcher that waits for a list to settle.
type settler struct {
	caller
	path         string
	waits, ended bool  // since it has told something
	from, to     int64 // the zxids of the list, as proposed when the latest time to settle began, and as committed when
	// it had passed
	gone int64 // the zxid of the latest delete of the znode when the time to settle began
}

func (m *settlers) Reset() {
	m.changes, m.all, m.later, m.horizon = m.changes[:0], m.all[:0], m.later[:0], horizon{}
	clear(m.lists)
	clear(m.gone)
	clear(m.sure)
}

func (m *settlers) Sees(k history.Kind) bool { return k == history.Reply || m.recipeEvents.Sees(k) }

// Hash implements [Monitor]. The world knows the lists, but not when a missing znode was deleted: it may have come and
// gone since a time to settle began.
func (m *settlers) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for i := range m.all {
		w := &m.all[i]
		sum += printOf(m.all, w.caller).String(w.path).Bool(w.waits).Bool(w.ended).Uint64(m.rank(w.from)).
			Uint64(m.rank(w.to)).Uint64(m.rank(w.gone)).Bool(w.waits && !w.ended && m.lists[w.path] > w.from)
	}
	return uint64(sum)
}

func (m *settlers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.changes.note(e)
	if e.Kind == history.Created || e.Kind == history.Deleted {
		for _, path := range [...]string{e.Path, parent(e.Path)} {
			m.lists[path] = e.Zxid
			m.later = append(m.later, listChange{path, e.Zxid})
		}
	}
	if e.Kind == history.Deleted {
		m.gone[e.Path] = e.Zxid
	}
	m.horizon.note(e)
	m.commit()
	k := find(m.all, callerOf(e))
	switch {
	case e.Kind == history.Crashed:
		m.all = withoutClient(m.all, e.Client)
	case e.Kind == history.Invoke && e.Op == WatchChildren:
		m.all = append(forget(m.all, callerOf(e)), settler{caller: callerOf(e), path: e.Path})
	case k < 0:
	case e.Kind == history.Return && e.Op == WatchChildren:
		m.all = forget(m.all, callerOf(e))
	case e.Kind == history.Invoke && e.Op == Settle:
		w := &m.all[k]
		w.waits, w.ended, w.from, w.to, w.gone = true, false, m.lists[w.path], 0, m.gone[w.path]
	case e.Kind == history.Return && e.Op == Settle && m.all[k].waits:
		m.all[k].ended, m.all[k].to = true, m.sure[m.all[k].path]
	case e.Kind == history.Told && e.Op == ToldChildren && e.Path == m.all[k].path:
		return m.judge(h, i, &m.all[k])
	}
	return Verdict{}
}

// tells reports whether a watcher that has waited tells its list by e.
func (m *settlers) tells(e *history.Event) bool {
	k := find(m.all, callerOf(e))
	return toldAs(ToldChildren)(e) && k >= 0 && m.all[k].ended && m.all[k].path == e.Path
}

// commit notes the changes that were certainly committed.
func (m *settlers) commit() {
	for len(m.later) > 0 && m.later[0].zxid <= m.committed {
		m.sure[m.later[0].path] = m.later[0].zxid
		m.later = slices.Delete(m.later, 0, 1)
	}
}

// judge judges a list that is told.
func (m *settlers) judge(h *history.History, i int, w *settler) Verdict {
	e := &h.Events[i]
	told := e.Zxid
	if told == 0 { // there was no such znode when it was read, which may be long ago
		told = w.gone
	}
	switch {
	case !w.ended:
		return violated(m, i, "c%d was told a list of %s before the time to settle had passed", e.Client, e.Path)
	case w.to > told:
		return violated(m, i, "c%d was told %s as settled%s before the time to settle had passed",
			e.Client, listOf(e), changedAfter(h, i, e, told))
	case w.from < told:
		return violated(m, i, "c%d was told %s as settled, which dates from after the time to settle had begun",
			e.Client, listOf(e))
	}
	w.waits, w.ended = false, false
	return Verdict{}
}

// listOf says what was told.
func listOf(e *history.Event) string {
	if e.Zxid == 0 {
		return "that there is no " + e.Path
	}
	return "the list of " + e.Path + " at zxid 0x" + strconv.FormatInt(e.Zxid, 16)
}

// changedAfter says what has changed the list that e told, before event i.
func changedAfter(h *history.History, i int, e *history.Event, zxid int64) string {
	for k := range i {
		x := &h.Events[k]
		list := x.Path == e.Path || parent(x.Path) == e.Path
		if list && (x.Kind == history.Created || x.Kind == history.Deleted) && x.Zxid > zxid {
			if x.Client == 0 {
				return ", and the end of a session changed it by " + x.Path
			}
			return ", and c" + digits(x.Client) + " changed it by " + x.Path
		}
	}
	return ", and it was another one"
}
