package checkers

import (
	"slices"
	"strings"

	"zksim/model/history"
)

// Ownership is the lowest layer of lock safety, in terms of znodes: whoever was
// told that it holds the lock had a znode that came first in the queue, and no
// two znodes carry a valid claim at once. It holds under every fault, since the
// store decides.
//
// A claim whose Op is "read" is one of a reader: it lets other readers be, and those
// ahead of it too, which have -read- in their names. Znodes made in one txn are
// one contender.
type Ownership struct {
	Leases int // how many may hold at once; 0: 1
}

// Name implements [Checker].
func (Ownership) Name() string { return "ownership" }

// Doc implements [Checker].
func (o Ownership) Doc() string {
	if o.Leases > 1 {
		return "who holds a lease has one of the first znodes of the queue, and there are no more holders than leases"
	}
	return "who holds the lock has the first znode of the queue, and there is one holder at a time"
}

type claim struct {
	client, object int32
	path           string
	shared         bool
}

func claimOf(e *history.Event) claim { return claim{e.Client, e.Object, e.Path, e.Op == "read"} }

// excludes reports whether two claims cannot both be valid.
func (c claim) excludes(d claim) bool { return !c.shared || !d.shared }

// Check implements [Checker].
func (o Ownership) Check(h *history.History) Verdict {
	var buf [8]claim
	active := buf[:0]
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			mine := claimOf(e)
			active = drop(active, func(a claim) bool { return a.object == e.Object }) // a writer becomes a reader
			if h.Txns {
				t := lifetime(h, mine, i, max(o.Leases, 1))
				if !t.led {
					return violated(o, i, "c%d was told that it holds the lock by %s, which %s", e.Client, e.Path, t.why())
				}
				if t.deleted >= 0 {
					continue // ended before it could be told; a claim no more
				}
			}
			if v := o.tooMany(i, mine, active); v.Level == Violated {
				return v
			}
			active = append(active, mine)
		case history.Released:
			active = drop(active, func(a claim) bool { return a.object == e.Object })
		case history.Deleted:
			active = drop(active, func(a claim) bool { return a.path == e.Path })
		case history.Invoke:
			if !h.Txns && e.Op == "break" { // as above
				active = drop(active, func(a claim) bool { return a.path == e.Path })
			}
		case history.Lost, history.Crashed:
			if !h.Txns { // the znode may be gone, nobody recorded it
				active = drop(active, func(a claim) bool { return a.client == e.Client })
			}
		}
	}
	return Verdict{}
}

// tooMany objects to a claim beside all those that exclude it.
func (o Ownership) tooMany(i int, mine claim, active []claim) Verdict {
	n := 0
	for _, a := range active {
		if !a.excludes(mine) {
			continue
		}
		if n++; n >= max(o.Leases, 1) {
			if n == 1 {
				return violated(o, i, "c%d and c%d own the lock at once, by %s and %s", a.client, mine.client, a.path, mine.path)
			}
			return violated(o, i, "c%d owns a lease by %s, and %d others own one, c%d by %s", mine.client, mine.path, n, a.client, a.path)
		}
	}
	return Verdict{}
}

// life is what happened to a znode up to a claim.
type life struct {
	created, deleted int  // positions, -1: not
	led              bool // was among the oldest of its siblings, during the call that claims it
}

func (t life) why() string {
	switch {
	case t.created < 0:
		return "was never made"
	case t.deleted >= 0:
		return "had been deleted before it was first in the queue"
	}
	return "is not the first of the queue"
}

// lifetime looks at the latest znode of that path that the claimant of event i
// made, and whether it was among the first in its parent, as many as there are
// leases, at some moment before i and after the claimant's call began; a downgrade
// claims what the call before it got.
func lifetime(h *history.History, mine claim, i, leases int) life {
	t := life{created: -1, deleted: -1}
	begin := i
	for ; begin > 0; begin-- {
		e := &h.Events[begin]
		if e.Kind == history.Invoke && e.Object == mine.object && e.Op != "downgrade" {
			break
		}
	}
	for k := i - 1; k >= 0 && t.created < 0; k-- {
		if e := &h.Events[k]; e.Kind == history.Created && e.Path == mine.path && e.Client == mine.client {
			t.created = k
		}
	}
	if t.created < 0 {
		return t
	}
	end := deletion(h, mine.path, t.created, i)
	if end <= i {
		t.deleted = end
	}
	var buf [8]int
	gone := buf[:0] // when those who were ahead left
	for k := range t.created {
		if ahead(h, mine, t.created, k) {
			gone = append(gone, deletion(h, h.Events[k].Path, k, i))
		}
	}
	slices.Sort(gone)
	first := max(begin, t.created)
	if len(gone) >= leases {
		first = max(first, gone[len(gone)-leases])
	}
	t.led = first <= min(end, i)
	return t
}

// ahead reports whether event k created a znode that keeps the one created later by
// event created waiting.
func ahead(h *history.History, mine claim, created, k int) bool {
	e := &h.Events[k]
	if e.Kind != history.Created || !siblings(e.Path, mine.path) {
		return false
	}
	partner := e.Client == mine.client && e.Zxid != 0 && e.Zxid == h.Events[created].Zxid
	return !partner && !(mine.shared && strings.Contains(e.Path[len(parent(e.Path)):], "-read-"))
}

// deletion returns where the znode created at event k is deleted, or limit+1 if
// it is not before limit.
func deletion(h *history.History, path string, k, limit int) int {
	for ; k < limit; k++ {
		if h.Events[k].Kind == history.Deleted && h.Events[k].Path == path {
			return k
		}
	}
	return limit + 1
}

func siblings(a, b string) bool { return parent(a) == parent(b) }

func parent(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return ""
}

// drop removes the elements that f picks.
func drop[T any](list []T, f func(T) bool) []T {
	kept := list[:0]
	for _, x := range list {
		if !f(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
