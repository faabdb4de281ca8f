package checkers

import "zksim/model/history"

// Presence is the promise of a group that a member is in it: when the faults are
// over and nothing is left to happen, the znode of a member that has not left is
// there, and is its own unless the member was told that it is not; then another's
// is there. It is judged when the member leaves after a rest.
type Presence struct{}

// Name implements [Checker].
func (Presence) Name() string { return "presence" }

// Doc implements [Checker].
func (Presence) Doc() string {
	return "in the end a member that has not left has its znode, or knows that another has its name"
}

// Told with these operations tells a member that it may not be one any more, and
// that it certainly is one again.
const (
	ToldLost   = "lost"
	ToldJoined = "joined"
)

// Check implements [Checker].
func (p Presence) Check(h *history.History) Verdict {
	if !h.Txns {
		return Verdict{}
	}
	calm := false
	rested, lost := map[int32]bool{}, map[int32]bool{}
	owner := map[string]int32{} // of znodes that exist: the client that made it
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Created:
			owner[e.Path] = e.Client
		case e.Kind == history.Deleted:
			delete(owner, e.Path)
		case e.Kind == history.Told && (e.Op == ToldLost || e.Op == ToldJoined):
			lost[e.Object] = e.Op == ToldLost
		case e.Kind == history.Invoke && e.Op == Rest:
			rested[e.Object] = calm
		case e.Kind == history.Invoke && e.Op == Leave && rested[e.Object]:
			switch o := owner[e.Path]; {
			case o == 0:
				return violated(p, i, "c%d is a member that has not left, and there is no %s", e.Client, e.Path)
			case o != e.Client && !lost[e.Object]:
				return violated(p, i, "c%d was told that it is a member by %s, which is of c%d", e.Client, e.Path, o)
			case o == e.Client && lost[e.Object]:
				return violated(p, i, "c%d was not told that it is a member again by %s", e.Client, e.Path)
			}
		}
	}
	return Verdict{}
}
