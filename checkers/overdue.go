package checkers

import (
	"time"

	"zksim/model/history"
)

// Overdue is the promise of a monitor of locks: when it says, by Told "overdue", that
// somebody has held the lock by a znode for at least so long, Value, that is true, and
// it is said once.
// Holders say by Return "held" for how long they can have held it at most: from the
// call that got it to the end of the one that gave it up.
type Overdue struct{}

// Name implements [Checker].
func (Overdue) Name() string { return "overdue" }

// Doc implements [Checker].
func (Overdue) Doc() string {
	return "nobody is said to have held the lock for longer than it did, or twice"
}

// Check implements [Checker].
func (o Overdue) Check(h *history.History) Verdict {
	most := map[string]int64{}
	for _, e := range h.Events {
		if e.Kind == history.Return && e.Op == "held" {
			most[e.Path] = e.Value
		}
	}
	said := map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Told || e.Op != "overdue" {
			continue
		}
		if said[e.Path] {
			return violated(o, i, "c%d says again that %s has been held for too long", e.Client, e.Path)
		}
		said[e.Path] = true
		if d, ok := most[e.Path]; ok && d < e.Value {
			return violated(o, i, "c%d says that %s has been held for %v, but its holder had it for %v at most",
				e.Client, e.Path, time.Duration(e.Value), time.Duration(d))
		}
	}
	return Verdict{}
}
