package checkers

import "zksim/model/history"

// Ownership is the lowest layer of lock safety, in terms of znodes: whoever was
// told that it holds the lock had a znode that came first in the queue, and no
// two znodes carry a valid claim at once. It holds under every fault, since the
// store decides.
type Ownership struct{}

// Name implements [Checker].
func (Ownership) Name() string { return "ownership" }

// Doc implements [Checker].
func (Ownership) Doc() string {
	return "who holds the lock has the first znode of the queue, and there is one holder at a time"
}

type claim struct {
	client, object int32
	path           string
}

// Check implements [Checker].
func (o Ownership) Check(h *history.History) Verdict {
	var buf [8]claim
	active := buf[:0]
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			if h.Txns {
				t := lifetime(h, e.Path, i)
				if !t.led {
					return violated(o, i, "c%d was told that it holds the lock by %s, which %s", e.Client, e.Path, t.why())
				}
				if t.deleted >= 0 {
					continue // ended before it could be told; a claim no more
				}
			}
			for _, a := range active {
				return violated(o, i, "c%d and c%d own the lock at once, by %s and %s", a.client, e.Client, a.path, e.Path)
			}
			active = append(active, claim{e.Client, e.Object, e.Path})
		case history.Released:
			active = drop(active, func(a claim) bool { return a.object == e.Object })
		case history.Deleted:
			active = drop(active, func(a claim) bool { return a.path == e.Path })
		case history.Lost, history.Crashed:
			if !h.Txns { // the znode may be gone, nobody recorded it
				active = drop(active, func(a claim) bool { return a.client == e.Client })
			}
		}
	}
	return Verdict{}
}

// life is what happened to a znode up to a claim.
type life struct {
	created, deleted int  // positions, -1: not
	led              bool // was the oldest of its siblings, during the call that claims it
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
// made, and whether it was first in its parent at some moment before i and after
// the claimant's call began.
func lifetime(h *history.History, path string, i int) life {
	t := life{created: -1, deleted: -1}
	begin := i
	for begin > 0 && !(h.Events[begin].Kind == history.Invoke && h.Events[begin].Object == h.Events[i].Object) {
		begin--
	}
	for k := i - 1; k >= 0 && t.created < 0; k-- {
		if e := &h.Events[k]; e.Kind == history.Created && e.Path == path && e.Client == h.Events[i].Client {
			t.created = k
		}
	}
	if t.created < 0 {
		return t
	}
	end := deletion(h, path, t.created, i)
	if end <= i {
		t.deleted = end
	}
	first := max(begin, t.created)
	for k := range t.created {
		if e := &h.Events[k]; e.Kind == history.Created && siblings(e.Path, path) {
			first = max(first, deletion(h, e.Path, k, i))
		}
	}
	t.led = first <= min(end, i)
	return t
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
