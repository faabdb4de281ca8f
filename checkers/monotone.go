package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Monotone is the promise of watchers that what they tell never goes back. The zxid of a znode's state grows, and after
// the znode's end only a later znode can follow.
type Monotone struct{}

// Name implements [Checker].
func (Monotone) Name() string { return "monotone" }

// Doc implements [Checker].
func (Monotone) Doc() string { return "no watcher tells a state that is older than one it told before" }

// Needs implements [Declaring].
func (Monotone) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(judged(watcherDoc, watchKinds...), unjudged("is for convergence", Rest, Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone)),
		Seen: []Need{Need{What: "two states of one znode that one watcher tells",
			Hint: "record them as Told; let the znode change", In: tellsTwice}.during()},
	}
}

// Check implements [Checker].
func (m Monotone) Check(h *history.History) Verdict { return check(h, m.Monitor()) }

// Monitor implements [Monitored].
func (Monotone) Monitor() Monitor { return &tellers{ends: map[string][]int64{}} }

// tellers is the monitor of Monotone.
type tellers struct {
	recipeEvents
	Monotone
	changes
	watchers []caller
	last     []telling          // of watchers
	ends     map[string][]int64 // of each znode: its deletions
}

// telling is the latest state of a znode that a watcher told.
type telling struct {
	told
	zxid int64
	gone bool // told since
}

func (m *tellers) Reset() {
	m.changes, m.watchers, m.last = m.changes[:0], m.watchers[:0], m.last[:0]
	clear(m.ends)
}

// Hash implements [Monitor]. Only the deletions since the state that was told last matter.
func (m *tellers) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, w := range m.watchers {
		who := printOf(m.watchers, w)
		for _, x := range m.last {
			if x.object == w.object {
				sum += who.Uint64(uint64(x.print().Bool(x.gone).Uint64(m.rank(x.zxid)).Uint64(m.since(&x))))
			}
		}
	}
	return uint64(sum)
}

// since returns a hash of the deletions since a state.
func (m *tellers) since(x *telling) (sum uint64) {
	for _, z := range m.ends[x.path] {
		if z > x.zxid {
			sum += uint64(hash.Hash(0).Uint64(m.rank(z)))
		}
	}
	return sum
}

func (m *tellers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.note(e)
	switch {
	case e.Kind == history.Deleted:
		m.ends[e.Path] = append(m.ends[e.Path], e.Zxid)
	case e.Kind == history.Invoke && isWatch(e.Op):
		m.begin(callerOf(e))
	case e.Kind == history.Return && isWatch(e.Op):
		m.watchers = forget(m.watchers, callerOf(e))
		m.last = drop(m.last, func(x telling) bool { return x.object == e.Object })
	case tellsState(e):
		m.begin(callerOf(e))
		return m.judge(h, i)
	}
	return Verdict{}
}

func (m *tellers) begin(o caller) {
	if find(m.watchers, o) < 0 {
		m.watchers = append(m.watchers, o)
	}
}

// judge judges what event i tells.
func (m *tellers) judge(h *history.History, i int) Verdict {
	e := &h.Events[i]
	k := slices.IndexFunc(m.last, func(x telling) bool { return x.told == toldOf(e) })
	if k < 0 {
		if e.Zxid != 0 {
			m.last = append(m.last, telling{told: toldOf(e), zxid: e.Zxid})
		}
		return Verdict{}
	}
	switch last := &m.last[k]; {
	case e.Zxid == 0 && last.gone:
	case e.Zxid == 0 && m.end(e.Path, last.zxid) == 0:
		return violated(m, i, "c%d was told that %s is gone, after its state at zxid 0x%x and without a deletion since",
			e.Client, e.Path, last.zxid)
	case e.Zxid == 0:
		last.zxid, last.gone = m.end(e.Path, last.zxid), true
	case last.gone && e.Zxid < last.zxid: // the txn of the deletion may create it again
		return violated(m, i, "c%d was told the state of %s at zxid 0x%x again after it was told that it was gone", e.Client,
			e.Path, e.Zxid)
	case e.Zxid < last.zxid:
		return violated(m, i, "c%d was told the state of %s at zxid 0x%x after that at 0x%x", e.Client, e.Path, e.Zxid,
			last.zxid)
	default:
		last.zxid, last.gone = e.Zxid, false
	}
	return Verdict{}
}

// end returns the zxid of the first deletion of a znode after the zxid of a state, or 0 if there was none.
func (m *tellers) end(path string, state int64) (end int64) {
	for _, z := range m.ends[path] {
		if z > state && (end == 0 || z < end) {
			end = z
		}
	}
	return end
}

// tellsTwice reports whether a watcher told two states of a znode.
func tellsTwice(h *history.History) bool {
	var last []told
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Return && isWatch(e.Op):
			last = drop(last, func(x told) bool { return x.object == e.Object })
		case tellsState(e) && slices.Contains(last, toldOf(e)):
			return true
		case tellsState(e) && e.Zxid != 0: // else nobody knows since when there is no such znode
			last = append(last, toldOf(e))
		}
	}
	return false
}
