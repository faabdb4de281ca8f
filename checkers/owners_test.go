package checkers

import (
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// ledOnce is Ownership said in another way.
func ledOnce(h *history.History) Level { return ledByFew(h, 1) }

// ledByFew is Ownership with that many leases: it looks back from each claim at the whole history before it.
func ledByFew(h *history.History, leases int) Level {
	var active []claim
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			mine := claimOf(e)
			active = drop(active, mine.sameObject)
			t := lifetime(h, mine, i, leases)
			if !t.led {
				return Violated
			}
			if t.deleted >= 0 {
				continue
			}
			if active = append(active, mine); len(drop(slices.Clone(active), func(a claim) bool {
				return !mine.excludes(a) && a != mine
			})) > leases {
				return Violated
			}
		case history.Released:
			active = drop(active, func(a claim) bool { return a.object == e.Object })
		case history.Deleted:
			active = drop(active, func(a claim) bool { return a.path == e.Path })
		}
	}
	return OK
}

// life is what happened to a znode up to a claim.
type life struct {
	created, deleted int  // positions, -1: not
	led              bool // was among the oldest of its siblings, during the call that claims it
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
	return !partner && !(mine.shared && ofReader(e.Path))
}

// TestTheMonitorOfOwnershipAgreesWithLookingBack compares verdicts on random histories.
func TestTheMonitorOfOwnershipAgreesWithLookingBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	illegal := 0
	for range 30_000 {
		h := disorderly(r)
		got, want := Ownership{}.Check(h), ledOnce(h)
		if got.Level != want {
			for _, e := range h.Events {
				t.Log(e, "object", e.Object)
			}
			t.Fatalf("the monitor says %v, looking back %v", got, want)
		}
		if want != OK {
			illegal++
		}
	}
	if illegal < 3000 || illegal > 27_000 {
		t.Errorf("%d of 30,000 histories are illegal: too few of one sort", illegal)
	}
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
