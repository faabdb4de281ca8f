package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Convergence is the promise of watchers that what they tell last is the final state. A watcher is judged if it was
// stopped after a rest that began after the faults, when nothing was left to happen. What it watches must not have
// changed since the rest began: time can jump to the end of a rest when a session expires.
type Convergence struct{}

// Name implements [Checker].
func (Convergence) Name() string { return "convergence" }

// Doc implements [Checker].
func (Convergence) Doc() string { return "what a watcher tells last is how things are" }

// Needs implements [Declaring].
func (Convergence) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(judged(watcherDoc, watchKinds...),
			judged("begins a time in which everything settles, if the faults are over", Rest),
			judged("what was told must be how things are", Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone)),
		Seen: []Need{Need{What: "a watcher that is stopped after a rest in which nothing changed, with the faults over",
			Hint: "record rest and stop with Object.Invoke; let faults end earlier by " +
				"Scenario.SafetySteps", In: converges}.during()},
	}
}

// Check implements [Checker].
func (c Convergence) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. All is judged at the end.
func (Convergence) Monitor() Monitor { return &watchers{} }

// watchers is the monitor of Convergence.
type watchers struct {
	recipeEvents
	Convergence
	changes
	calm    bool
	running []watcher
	stopped []watcher // to be judged at the end
}

// watcher is a watcher and what it told last of each znode.
type watcher struct {
	caller
	op, path string
	rested   bool // and nothing has changed since
	last     []latest
	stop     int // event
}

// latest is the state that a watcher told last of a znode.
type latest struct {
	told
	zxid, value int64
	at          int // event
}

func (m *watchers) Reset() {
	m.changes, m.calm, m.running, m.stopped = m.changes[:0], false, m.running[:0], m.stopped[:0]
}

func (m *watchers) Hash() uint64 {
	var running, stopped hash.Hash // in any order
	for i := range m.running {
		w := &m.running[i]
		running += printOf(m.running, w.caller).Uint64(uint64(m.print(w)))
	}
	for i := range m.stopped { // whoever it was
		stopped += m.print(&m.stopped[i])
	}
	return uint64(running.Uint64(uint64(stopped)))
}

// print returns a hash of what w has told.
func (m *watchers) print(w *watcher) hash.Hash {
	sum := hash.Hash(0)
	for _, x := range w.last {
		sum += x.print().Uint64(m.rank(x.zxid)).Uint64(uint64(x.value))
	}
	return sum.String(w.op).String(w.path).Bool(w.rested)
}

func (m *watchers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.note(e)
	switch e.Kind {
	case history.Calm:
		m.calm = true
	case history.Created, history.Changed, history.Deleted:
		for k := range m.running {
			w := &m.running[k]
			w.rested = w.rested && !w.watches(e)
		}
		m.stopped = drop(m.stopped, func(w watcher) bool { return w.watches(e) })
	case history.Told:
		if k := find(m.running, callerOf(e)); k >= 0 && tellsState(e) {
			w := &m.running[k]
			w.last = append(drop(w.last, func(x latest) bool { return x.told == toldOf(e) }),
				latest{toldOf(e), e.Zxid, e.Value, i})
		}
	case history.Return:
		if isWatch(e.Op) {
			m.running = forget(m.running, callerOf(e))
		}
	case history.Invoke:
		m.invoke(h, i)
	}
	return Verdict{}
}

// end judges the watchers in stopped.
func (m *watchers) end(h *history.History) Verdict {
	for i := range m.stopped {
		if v := m.judge(h, &m.stopped[i]); v.Level != OK {
			return v
		}
	}
	return Verdict{}
}

func (m *watchers) invoke(h *history.History, i int) {
	e := &h.Events[i]
	k := find(m.running, callerOf(e))
	switch {
	case isWatch(e.Op):
		m.running = append(forget(m.running, callerOf(e)), watcher{caller: callerOf(e), op: e.Op, path: e.Path})
	case k >= 0 && e.Op == Rest:
		m.running[k].rested = m.calm
	case k >= 0 && e.Op == Stop && m.running[k].rested:
		w := m.running[k]
		w.stop, w.last = i, slices.Clone(w.last)
		m.stopped = append(m.stopped, w)
	}
}

// watches reports whether w watches what e changes.
func (w *watcher) watches(e *history.Event) bool {
	own, child := e.Path == w.path, parent(e.Path) == w.path
	switch w.op {
	case WatchData:
		return own
	case WatchChildren:
		return (own || child) && e.Kind != history.Changed
	}
	return child
}

// judge compares what w has told with the tree.
func (c Convergence) judge(h *history.History, w *watcher) Verdict {
	single := w.op == WatchData || w.op == WatchChildren
	if single && len(w.last) == 0 {
		return violated(c, w.stop, "c%d was told nothing of %s", w.client, w.path)
	}
	right := make([]bool, len(w.last))
	for _, n := range h.Tree {
		switch {
		case n.Path != w.path && (single || parent(n.Path) != w.path), !single && n.Path == w.path,
			w.op == WatchMembers && n.Owner == 0:
			continue
		}
		sort := told{w.object, n.Path, w.op == WatchChildren}
		k := slices.IndexFunc(w.last, func(x latest) bool { return x.told == sort })
		if k < 0 {
			return violated(c, w.stop, "c%d was told nothing of %s, which exists", w.client, n.Path)
		}
		zxid, print := n.Mzxid, Fingerprint(n.Data)
		if sort.children {
			zxid, print = n.Pzxid, Fingerprint(childrenOf(h, n.Path)...)
		}
		switch x := &w.last[k]; {
		case x.zxid == 0:
			return violated(c, x.at, "c%d was told last that %s is gone, which exists", w.client, n.Path)
		case x.zxid != zxid:
			return violated(c, x.at, "c%d was told last the state of %s at zxid 0x%x, and 0x%x is the last", w.client, n.Path,
				x.zxid, zxid)
		case x.value != print:
			return violated(c, x.at, "c%d was told last another state of %s than that of zxid 0x%x", w.client, n.Path, zxid)
		}
		right[k] = true
	}
	for k, x := range w.last {
		if !right[k] && x.zxid != 0 {
			return violated(c, x.at, "c%d was told last that %s exists, which is gone", w.client, x.path)
		}
	}
	return Verdict{}
}

// childrenOf returns the names of the children at the end of a run.
func childrenOf(h *history.History, path string) (names []string) {
	for _, n := range h.Tree {
		if _, name := cutLast(n.Path); parent(n.Path) == path && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// converges reports whether there is something for the end to judge.
func converges(h *history.History) bool {
	m := &watchers{}
	follow(h, m)
	return h.Outcome == history.Quiet && len(m.stopped) > 0
}
