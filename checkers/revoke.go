package checkers

import "zksim/model/history"

// LostRevoke is the promise of revocable locks: whoever holds a lock that somebody was
// told is revoked, or broken, is told so. It is judged by holders who have waited, in
// an operation "hold", and give up with an error: with the faults over time passes only
// when nothing else can happen, so that what has not come by then will not come.
type LostRevoke struct{}

// Name implements [Checker].
func (LostRevoke) Name() string { return "lost-revoke" }

// Doc implements [Checker].
func (LostRevoke) Doc() string { return "a holder whose lock is revoked or broken is told" }

// Check implements [Checker].
func (l LostRevoke) Check(h *history.History) Verdict {
	calm := !h.Txns             // real runs have no faults
	waiting := map[int32]bool{} // objects that have waited since the faults were over
	asked := map[string]int32{} // path -> client that has revoked it
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Return && (e.Op == "revoke" || e.Op == "break") && e.Err == nil:
			asked[e.Path] = e.Client
		case e.Kind == history.Created:
			delete(asked, e.Path) // another znode, where sequence numbers repeat
		case e.Kind == history.Invoke && e.Op == "hold":
			waiting[e.Object] = calm
		case e.Kind == history.Return && e.Op == "hold" && e.Err != nil && waiting[e.Object]:
			if by, ok := asked[e.Path]; ok {
				return violated(l, i, "c%d was not told that its lock by %s is revoked, by c%d", e.Client, e.Path, by)
			}
		}
	}
	return Verdict{}
}
