package checkers

import (
	"slices"

	"zksim/model/history"
)

// Belief is the layer of lock safety that programs rely on: two clients never
// both believe that they hold the lock. It is promised under an assumption,
// that a client notices its disconnection, and acts on it, before the servers
// end its session; a belief is excused from the moment its session is ended
// otherwise (by a pause, a partitioned server or a very late message) until its
// holder is told or gives it up, and only the fenced resource protects against
// that.
//
// The other exemption is for locks that may be broken: a belief is excused from
// the moment when somebody begins to delete its znode, the Invoke of "break",
// until the holder is told.
//
// A writer that becomes a reader does nothing until it is told, so that its belief
// rests from the Invoke of "downgrade".
//
// Readers, whose claims have the Op "read", may all believe at once.
type Belief struct {
	Leases int // how many may hold at once; 0: 1
}

// Name implements [Checker].
func (Belief) Name() string { return "belief" }

// Doc implements [Checker].
func (b Belief) Doc() string {
	if b.Leases > 1 {
		return "no more clients believe that they hold a lease than there are, unless a session ended before its client could know"
	}
	return "two clients never both believe that they hold the lock, unless a session ended before its client could know"
}

// Check implements [Checker].
func (b Belief) Check(h *history.History) Verdict {
	var buf [8]claim
	active := buf[:0]
	var deceived []int32 // clients whose session has ended and who cannot know
	var excused []int32  // objects whose claim began or went on then
	var broken []string
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			active = drop(active, func(a claim) bool { return a.object == e.Object }) // a writer becomes a reader
			if slices.Contains(deceived, e.Client) {
				excused = append(excused, e.Object)
			}
			if slices.Contains(excused, e.Object) || slices.Contains(broken, e.Path) {
				continue
			}
			if v := b.tooMany(i, claimOf(e), active); v.Level == Violated {
				return v
			}
			active = append(active, claimOf(e))
		case history.Invoke:
			switch e.Op {
			case "break":
				broken = append(broken, e.Path)
				active = drop(active, func(a claim) bool { return a.path == e.Path })
			case "downgrade":
				active = drop(active, func(a claim) bool { return a.object == e.Object })
			}
		case history.Released, history.Lost:
			active = drop(active, func(a claim) bool { return a.object == e.Object })
			excused = drop(excused, func(o int32) bool { return o == e.Object })
		case history.Exceeded:
			deceived = append(deceived, e.Client)
			for _, a := range active {
				if a.client == e.Client {
					excused = append(excused, a.object)
				}
			}
			active = drop(active, func(a claim) bool { return a.client == e.Client })
		case history.Session:
			deceived = drop(deceived, func(c int32) bool { return c == e.Client })
		case history.Crashed:
			active = drop(active, func(a claim) bool { return a.client == e.Client })
		}
	}
	return Verdict{}
}

// tooMany objects to a claim beside those of other clients that exclude it.
func (b Belief) tooMany(i int, mine claim, active []claim) Verdict {
	n := 0
	for _, a := range active {
		if a.client == mine.client || !a.excludes(mine) {
			continue
		}
		if n++; n >= max(b.Leases, 1) {
			if n == 1 {
				return violated(b, i, "c%d believes that it holds the lock by %s while c%d still believes so by %s",
					mine.client, mine.path, a.client, a.path)
			}
			return violated(b, i, "c%d believes that it holds a lease by %s while %d others still believe so, c%d by %s",
				mine.client, mine.path, n, a.client, a.path)
		}
	}
	return Verdict{}
}
