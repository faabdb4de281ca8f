package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// LostRevoke is the promise of revocable locks: if somebody was told that a lock is revoked or broken, its holder is
// told so. It is judged by holders that have waited, in an operation "hold", and give up with an error. With the faults
// over, time passes only when nothing else can happen, so what has not come by then will not come. A holder that goes
// on although it was told of a revocation need not be told of another one, but still of a break.
//
// Where txns are recorded, the client that revokes or breaks is judged as well. If it was told that it has broken a
// lock, the znode is gone then. If it was told that it has revoked it, the data of the znode is "unlock", or the znode
// is gone.
type LostRevoke struct{}

// Name implements [Checker].
func (LostRevoke) Name() string { return "lost-revoke" }

// Doc implements [Checker].
func (LostRevoke) Doc() string { return "a holder whose lock is revoked or broken is told" }

// Needs implements [Declaring].
func (LostRevoke) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("whoever holds the lock by the znode in Path is asked to give it up", "revoke"),
			judged("the znode in Path is deleted, whoever holds the lock by it", "break"),
			judged("a holder by the znode in Path waits to be told; an error says that it was not", "hold"),
			tells("a holder by the znode in Path is told that it is revoked", "revoked")),
		Seen: []Need{some("the operation revoke or break", "record it with Object.Record and its Path",
			succeeds("revoke", "break")),
			Need{What: "a hold of a lock that is revoked or broken",
				Hint: "let holders wait in an operation hold, after the faults as well", In: holdsRevoked}.during()},
	}
}

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
	told    []string // znodes whose holder was told that they are revoked
	there   []revocable
	asking  []asking
}

// revocable is a znode that exists.
type revocable struct {
	path    string
	zxid    int64 // that made it
	revoked bool  // its data is "unlock"
}

// asking is a revoke or a break in progress.
type asking struct {
	caller
	znode revocable // that existed when it began; without a path if none did
}

// waiting is an object in an operation "hold".
type waiting struct {
	caller
	calm bool // since the faults were over
}

// request is a znode that was revoked or broken, and who has done it; of several, who has broken it first. Its holder
// has not been told.
type request struct {
	path   string
	by     int32
	broken bool
}

func (r *revocations) Reset() {
	r.calm, r.waiting, r.asked, r.told = false, r.waiting[:0], r.asked[:0], r.told[:0]
	r.there, r.asking = r.there[:0], r.asking[:0]
}

// Hash implements [Monitor]. The world knows whether the faults are over, and which znodes exist.
func (r *revocations) Hash() uint64 {
	var sums [3]hash.Hash // in any order
	for _, x := range r.waiting {
		sums[0] += printOf(r.waiting, x.caller).Bool(x.calm)
	}
	for _, x := range r.asked {
		sums[1] += hash.Hash(0).String(x.path).Bool(x.broken)
	}
	for _, x := range r.asking {
		sums[2] += printOf(r.asking, x.caller).String(x.znode.path).Bool(r.find(x.znode) != nil)
	}
	return uint64(sums[0].Uint64(uint64(sums[1])).Uint64(uint64(sums[2])).Uint64(printOfNames(r.told)))
}

// find returns a znode if it still exists.
func (r *revocations) find(was revocable) *revocable {
	for k := range r.there {
		if x := &r.there[k]; x.path == was.path && x.zxid == was.zxid {
			return x
		}
	}
	return nil
}

// exists reports whether there is a znode of that path.
func (r *revocations) exists(path string) bool {
	return slices.ContainsFunc(r.there, func(x revocable) bool { return x.path == path })
}

// txn notes what becomes of znodes.
func (r *revocations) txn(e *history.Event) {
	k := slices.IndexFunc(r.there, func(x revocable) bool { return x.path == e.Path })
	switch {
	case e.Kind == history.Created:
		r.there = append(r.there, revocable{e.Path, e.Zxid, e.Data == unlock})
	case k < 0:
	case e.Kind == history.Changed:
		r.there[k].revoked = e.Data == unlock
	case e.Kind == history.Deleted:
		r.there = slices.Delete(r.there, k, k+1)
	}
}

// unlock is the data of a znode whose lock is revoked.
const unlock = "unlock"

// done judges a revoke or break that has succeeded.
func (r *revocations) done(h *history.History, i int, was revocable) Verdict {
	e := &h.Events[i]
	x := r.find(was)
	switch {
	case x == nil:
	case e.Op == "break":
		return violated(r, i, "c%d was told that it has broken the lock by %s, which is still there", e.Client, e.Path)
	case !x.revoked:
		return violated(r, i, "c%d was told that it has revoked the lock by %s, which is there, and its data is not %q",
			e.Client, e.Path, unlock)
	}
	return Verdict{}
}

func (r *revocations) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	r.txn(e)
	asks := e.Op == "revoke" || e.Op == "break"
	switch {
	case e.Kind == history.Calm:
		r.calm = true
	case e.Kind == history.Invoke && asks:
		x := asking{caller: callerOf(e)}
		if k := slices.IndexFunc(r.there, func(y revocable) bool { return y.path == e.Path }); k >= 0 {
			x.znode = r.there[k]
		}
		r.asking = append(forget(r.asking, x.caller), x)
	case e.Kind == history.Crashed:
		r.asking = withoutClient(r.asking, e.Client)
	case e.Kind == history.Return && asks:
		var x asking
		if r.asking, x = take(r.asking, e); e.Err != nil {
			break
		}
		if x.znode.path == "" || r.find(x.znode) != nil || !r.exists(e.Path) { // else another has come there since
			r.ask(e)
		}
		return r.done(h, i, x.znode)
	case e.Kind == history.Told && e.Op == "revoked":
		r.asked = drop(r.asked, func(x request) bool { return x.path == e.Path && !x.broken })
		if !slices.Contains(r.told, e.Path) {
			r.told = append(r.told, e.Path)
		}
	case e.Kind == history.Created: // another znode, where sequence numbers repeat
		r.forget(e.Path)
		r.told = drop(r.told, func(path string) bool { return path == e.Path })
	case e.Kind == history.Invoke && e.Op == "hold":
		r.waiting = append(withoutObject(r.waiting, e.Object), waiting{callerOf(e), r.calm})
	case e.Kind == history.Return && e.Op == "hold":
		if e.Err != nil && slices.Contains(r.waiting, waiting{callerOf(e), true}) {
			for _, x := range r.asked {
				if x.path == e.Path {
					return violated(r, i, "c%d was not told that its lock by %s is %s, by c%d", e.Client, e.Path, x.what(), x.by)
				}
			}
		}
		r.waiting = withoutObject(r.waiting, e.Object)
	}
	return Verdict{}
}

// ask notes that a revoke or break has succeeded.
func (r *revocations) ask(e *history.Event) {
	if e.Op == "revoke" && slices.Contains(r.told, e.Path) {
		return
	}
	x := request{e.Path, e.Client, e.Op == "break"}
	for _, y := range r.asked {
		if y.path == x.path && y.broken {
			x = y
		}
	}
	r.forget(e.Path)
	r.asked = append(r.asked, x)
}

// what says what was done with a lock.
func (x request) what() string {
	if x.broken {
		return "broken"
	}
	return "revoked"
}

func (r *revocations) forget(path string) {
	r.asked = drop(r.asked, func(x request) bool { return x.path == path })
}

// holdsRevoked reports whether somebody who waited with the faults over had a lock that was revoked or broken by the
// end.
func holdsRevoked(h *history.History) bool {
	calm, asked, waits := false, map[string]bool{}, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case succeeds("revoke", "break")(e):
			asked[e.Path] = true
		case e.Kind == history.Invoke && e.Op == "hold":
			waits[e.Object] = calm
		case e.Kind == history.Return && e.Op == "hold" && waits[e.Object] && asked[e.Path]:
			return true
		}
	}
	return false
}
