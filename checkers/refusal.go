package checkers

import (
	"strings"

	"zksim/model/history"
)

// Refusal is what callers of TryRLock, TryLock and TryAcquire rely on: they are refused
// only if at some moment of the call others held or awaited what would have kept them
// waiting: a writer's znode, anybody's, or so many as there are leases. What the client
// itself made last in that call does not count.
type Refusal struct {
	Leases int // 0: 1
}

// Name implements [Checker].
func (Refusal) Name() string { return "refusal" }

// Doc implements [Checker].
func (Refusal) Doc() string { return "nobody is refused what is free" }

// Check implements [Checker].
func (r Refusal) Check(h *history.History) Verdict {
	begun := map[int32]int{} // object -> its call in progress
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Invoke:
			begun[e.Object] = i
		case history.Return:
			if !h.Txns || !refused(e) || !strings.HasPrefix(e.Op, "try") {
				continue
			}
			switch n := inTheWay(h, begun[e.Object], i); {
			case n >= max(r.Leases, 1):
			case n == 0:
				return violated(r, i, "c%d was refused by %s, and nobody was in its way", e.Client, e.Op)
			default:
				return violated(r, i, "c%d was refused by %s, and %d of %d leases were taken", e.Client, e.Op, n, r.Leases)
			}
		}
	}
	return Verdict{}
}

// inTheWay counts the znodes that can explain the refusal at event i of a call that
// began at event begin.
func inTheWay(h *history.History, begin, i int) (n int) {
	own := int64(-1) // zxid of the contender that was refused
	for k := begin; k < i; k++ {
		if e := &h.Events[k]; e.Kind == history.Created && e.Client == h.Events[i].Client {
			own = e.Zxid
		}
	}
	for k := range i {
		e := &h.Events[k]
		if e.Kind != history.Created || e.Session == 0 || e.Zxid == own || h.Events[i].Op == "tryrlock" && !strings.Contains(e.Path, "-write-") {
			continue
		}
		if deletion(h, e.Path, k, i) > begin {
			n++
		}
	}
	return n
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
