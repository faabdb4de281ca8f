package checkers

import (
	"slices"

	"zksim/model/history"
)

// Monotone is the promise of watchers that what they tell never goes back: the
// zxid of a znode's state grows, and after its end only a later znode can follow.
type Monotone struct{}

// Name implements [Checker].
func (Monotone) Name() string { return "monotone" }

// Doc implements [Checker].
func (Monotone) Doc() string { return "no watcher tells a state that is older than one it told before" }

// Check implements [Checker].
func (m Monotone) Check(h *history.History) Verdict {
	type latest struct {
		zxid int64
		gone bool // told since
	}
	all := map[told]latest{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Told || e.Op != ToldData && e.Op != ToldChildren && e.Op != ToldGone {
			continue
		}
		k := toldOf(e)
		last := all[k]
		switch {
		case e.Zxid == 0 && h.Txns && last.zxid > 0 && !deleted(h.Events[:i], e.Path, last.zxid):
			return violated(m, i, "c%d was told that %s is gone, after its state at zxid 0x%x and without a deletion since", e.Client, e.Path, last.zxid)
		case e.Zxid == 0:
			last.gone = true
		case e.Zxid < last.zxid:
			return violated(m, i, "c%d was told the state of %s at zxid 0x%x after that at 0x%x", e.Client, e.Path, e.Zxid, last.zxid)
		case last.gone && e.Zxid == last.zxid:
			return violated(m, i, "c%d was told the state of %s at zxid 0x%x again after it was told that it was gone", e.Client, e.Path, e.Zxid)
		default:
			last = latest{zxid: e.Zxid}
		}
		all[k] = last
	}
	return Verdict{}
}

// deleted reports whether the znode was deleted later than at zxid.
func deleted(events []history.Event, path string, zxid int64) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.Kind == history.Deleted && e.Path == path && e.Zxid > zxid
	})
}
