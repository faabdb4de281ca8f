package checkers

import (
	"slices"

	"zksim/model/history"
)

// Belief is the layer of lock safety that programs rely on: two clients never
// both believe that they hold the lock. It is promised under an assumption,
// that a client notices its disconnection, and acts on it, before the servers
// end its session; a belief is excused from the moment its session is ended
// otherwise (by a pause, a partitioned server or a very late message) until it
// learns of it, and only the fenced resource protects against that.
type Belief struct{}

// Name implements [Checker].
func (Belief) Name() string { return "belief" }

// Doc implements [Checker].
func (Belief) Doc() string {
	return "two clients never both believe that they hold the lock, unless a session ended before its client could know"
}

// Check implements [Checker].
func (b Belief) Check(h *history.History) Verdict {
	var buf [8]claim
	active := buf[:0]
	var deceived []int32 // clients whose session has ended and who cannot know
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			if slices.Contains(deceived, e.Client) {
				continue
			}
			for _, a := range active {
				if a.client != e.Client {
					return violated(b, i, "c%d believes that it holds the lock by %s while c%d still believes so by %s",
						e.Client, e.Path, a.client, a.path)
				}
			}
			active = append(active, claim{e.Client, e.Object, e.Path})
		case history.Released, history.Lost:
			active = drop(active, func(a claim) bool { return a.object == e.Object })
		case history.Exceeded:
			deceived = append(deceived, e.Client)
			active = drop(active, func(a claim) bool { return a.client == e.Client })
		case history.Session:
			deceived = drop(deceived, func(c int32) bool { return c == e.Client })
		case history.Crashed:
			active = drop(active, func(a claim) bool { return a.client == e.Client })
		}
	}
	return Verdict{}
}
