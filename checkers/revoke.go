package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

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
func (l LostRevoke) Check(h *history.History) Verdict { return check(h, l.Monitor()) }

// Monitor implements [Monitored].
func (LostRevoke) Monitor() Monitor { return &revocations{} }

// revocations is the monitor of LostRevoke.
type revocations struct {
	recipeEvents
	LostRevoke
	calm    bool // the faults are over
	waiting []waiting
	asked   []request
}

// waiting is an object in an operation "hold".
type waiting struct {
	caller
	calm bool // since the faults were over
}

// request is a znode that was revoked, and who has done it.
type request struct {
	path string
	by   int32
}

// Reset implements [Monitor].
func (r *revocations) Reset() { r.calm, r.waiting, r.asked = false, r.waiting[:0], r.asked[:0] }

// Hash implements [Monitor]. Whether the faults are over is known to the world.
func (r *revocations) Hash() uint64 {
	var sums [2]hash.Hash // in any order
	for _, x := range r.waiting {
		sums[0] += printOf(r.waiting, x.caller).Bool(x.calm)
	}
	for _, x := range r.asked {
		sums[1] += hash.Hash(0).String(x.path)
	}
	return uint64(sums[0].Uint64(uint64(sums[1])))
}

// Step implements [Monitor].
func (r *revocations) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Calm:
		r.calm = true
	case e.Kind == history.Return && (e.Op == "revoke" || e.Op == "break") && e.Err == nil:
		r.forget(e.Path)
		r.asked = append(r.asked, request{e.Path, e.Client})
	case e.Kind == history.Created:
		r.forget(e.Path) // another znode, where sequence numbers repeat
	case e.Kind == history.Invoke && e.Op == "hold":
		r.stop(e.Object)
		r.waiting = append(r.waiting, waiting{caller{e.Client, e.Object}, r.calm})
	case e.Kind == history.Return && e.Op == "hold":
		if e.Err != nil && slices.Contains(r.waiting, waiting{caller{e.Client, e.Object}, true}) {
			for _, x := range r.asked {
				if x.path == e.Path {
					return violated(r, i, "c%d was not told that its lock by %s is revoked, by c%d", e.Client, e.Path, x.by)
				}
			}
		}
		r.stop(e.Object)
	}
	return Verdict{}
}

func (r *revocations) forget(path string) {
	r.asked = drop(r.asked, func(x request) bool { return x.path == path })
}

// stop notes that an object waits no more.
func (r *revocations) stop(object int32) {
	r.waiting = drop(r.waiting, func(x waiting) bool { return x.object == object })
}
