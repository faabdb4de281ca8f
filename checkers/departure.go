package checkers

import (
	"slices"

	"zksim/model/history"
)

// Departure is the promise of a group that a live member is a member: nobody
// deletes its znode before it leaves, and nobody is told that it is gone unless
// it was.
//
// A membership is from the Return of "join" without an error to the Invoke of
// "leave", of one object. Where txns were not recorded, sessions do not end, and
// a member can be gone only if somebody of that name had begun to leave.
type Departure struct{}

// Name implements [Checker].
func (Departure) Name() string { return "departure" }

// Doc implements [Checker].
func (Departure) Doc() string { return "no member departs while its session lives and it has not left" }

// The operations of members in a history; the Path is that of the member's znode.
const (
	Join  = "join"
	Leave = "leave"
)

// Check implements [Checker].
func (d Departure) Check(h *history.History) Verdict {
	members := map[string]int32{} // znode to object
	makers := map[string]int32{}  // znode to client
	ends := map[string]int{}      // how often each was deleted, or may have been
	tolds := map[told]int{}       // how often it was told that it is gone
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Return && e.Op == Join && e.Err == nil:
			members[e.Path] = e.Object
		case e.Kind == history.Return && e.Op == Join && !e.OK:
			ends[e.Path] += untold(h) // what was perhaps created is removed
		case e.Kind == history.Invoke && e.Op == Leave:
			if members[e.Path] == e.Object {
				delete(members, e.Path)
			}
			ends[e.Path] += untold(h)
		case e.Kind == history.Created:
			makers[e.Path] = e.Client
		case e.Kind == history.Deleted:
			ends[e.Path]++
			if o := members[e.Path]; o != 0 && e.Client != 0 && makers[e.Path] == clientOf(h, o) {
				return violated(d, i, "c%d deleted %s, whose member c%d has not left", e.Client, e.Path, makers[e.Path])
			}
		case e.Kind == history.Told && e.Op == ToldGone && watchesMembers(h, e.Object):
			k := toldOf(e)
			if tolds[k]++; tolds[k] > ends[e.Path] {
				return violated(d, i, "c%d was told that %s is gone more often than it was deleted", e.Client, e.Path)
			}
		}
	}
	return Verdict{}
}

// untold is how many deletions there are for an operation that may delete and
// whose deletions are not recorded.
func untold(h *history.History) int {
	if h.Txns {
		return 0
	}
	return 1
}

// clientOf returns the client that an object belongs to.
func clientOf(h *history.History, object int32) int32 {
	i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Object == object })
	return h.Events[i].Client
}

func watchesMembers(h *history.History, object int32) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Object == object && e.Kind == history.Invoke && e.Op == WatchMembers
	})
}
