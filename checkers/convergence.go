package checkers

import (
	"slices"

	"zksim/model/history"
)

// Convergence is the promise of watchers that they tell the last state in the end.
// A watcher is judged if it was stopped after a rest that began after the faults,
// when nothing was left to happen, and if what it watches has not changed since
// the rest began: time can jump to the end of a rest when a session expires.
type Convergence struct{}

// Name implements [Checker].
func (Convergence) Name() string { return "convergence" }

// Doc implements [Checker].
func (Convergence) Doc() string { return "what a watcher tells last is how things are" }

// watcher is one watcher of a history and where it told what last.
type watcher struct {
	op, path string
	rested   bool
	last     map[told]int
}

// Check implements [Checker].
func (c Convergence) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	calm := !h.Txns // real runs have no faults
	all := map[int32]*watcher{}
	for i := range h.Events {
		e := &h.Events[i]
		w := all[e.Object]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Invoke && kindsOfWatch[e.Op]:
			all[e.Object] = &watcher{op: e.Op, path: e.Path, last: map[told]int{}}
		case w == nil:
		case e.Kind == history.Told:
			w.last[toldOf(e)] = i
		case e.Kind == history.Return && kindsOfWatch[e.Op]:
			delete(all, e.Object)
		case e.Kind == history.Invoke && e.Op == Rest:
			w.rested = calm && !w.changes(h.Events[i:])
		case e.Kind == history.Invoke && e.Op == Stop && w.rested:
			if v := c.judge(h, i, w); v.Level != OK {
				return v
			}
		}
	}
	return Verdict{}
}

var kindsOfWatch = map[string]bool{WatchData: true, WatchChildren: true, WatchCache: true, WatchMembers: true}

// changes reports whether anything that w watches changes in events.
func (w *watcher) changes(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return (e.Kind == history.Created || e.Kind == history.Changed || e.Kind == history.Deleted) &&
			(e.Path == w.path || parent(e.Path) == w.path)
	})
}

// judge compares what w, stopped at event i, has told with the tree.
func (c Convergence) judge(h *history.History, i int, w *watcher) Verdict {
	object, client := h.Events[i].Object, h.Events[i].Client
	single := w.op == WatchData || w.op == WatchChildren
	if single && len(w.last) == 0 {
		return violated(c, i, "c%d was told nothing of %s", client, w.path)
	}
	right := map[told]bool{}
	for _, n := range h.Tree {
		switch {
		case n.Path != w.path && (single || parent(n.Path) != w.path), !single && n.Path == w.path,
			w.op == WatchMembers && n.Owner == 0:
			continue
		}
		k := told{object, n.Path, w.op == WatchChildren}
		at, ok := w.last[k]
		if !ok {
			return violated(c, i, "c%d was told nothing of %s, which exists", client, n.Path)
		}
		zxid, print := n.Mzxid, Fingerprint(n.Data)
		if k.children {
			zxid, print = n.Pzxid, Fingerprint(childrenOf(h, n.Path)...)
		}
		switch e := &h.Events[at]; {
		case e.Zxid == 0:
			return violated(c, at, "c%d was told last that %s is gone, which exists", client, n.Path)
		case e.Zxid != zxid:
			return violated(c, at, "c%d was told last the state of %s at zxid 0x%x, and 0x%x is the last", client, n.Path, e.Zxid, zxid)
		case e.Value != print:
			return violated(c, at, "c%d was told last another state of %s than that of zxid 0x%x", client, n.Path, zxid)
		}
		right[k] = true
	}
	for at := range h.Events[:i] { // in order, unlike w.last
		e := &h.Events[at]
		if k := toldOf(e); e.Kind == history.Told && w.last[k] == at && k.object == object && !right[k] && e.Zxid != 0 {
			return violated(c, at, "c%d was told last that %s exists, which is gone", client, e.Path)
		}
	}
	return Verdict{}
}

// childrenOf returns the names of the children at the end of a run.
func childrenOf(h *history.History, path string) (names []string) {
	for _, n := range h.Tree {
		if parent(n.Path) == path {
			names = append(names, n.Path[len(path)+1:])
		}
	}
	return names
}
