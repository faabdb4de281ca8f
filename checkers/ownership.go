package checkers

import (
	"slices"
	"strings"

	"zksim/model/history"
)

// Ownership is the lowest layer of lock safety, in terms of znodes. A client that was told that it holds the lock had a
// znode that came first in the queue, and no two znodes carry a valid claim at once. It holds under every fault, since
// the store decides.
//
// A claim whose Op is "read" is a reader's. It does not exclude other readers, and is not kept waiting by readers ahead
// of it. Readers are known by the names of their znodes: those of ZooKeeper's documentation (read-, also behind a
// prefix such as _c_GUID-), of Curator (__READ__) or of Kazoo (__rlock__). Znodes made in one txn are one contender.
type Ownership struct {
	Leases int // how many may hold at once; 0: 1
}

// Name implements [Checker].
func (Ownership) Name() string { return "ownership" }

// Doc implements [Checker].
func (o Ownership) Doc() string {
	if o.Leases > 1 {
		return "a client that holds a lease has one of the first znodes of the queue, and there are no more holders than " +
			"leases"
	}
	return "a client that holds the lock has the first znode of the queue, and there is one holder at a time"
}

// Needs implements [Declaring].
func (o Ownership) Needs() Needs {
	n := Needs{Txns: true, Seen: []Need{acquired}}
	if o.Leases > 0 {
		n.Words = judged("its beginning: what was deleted before it can be claimed no more", "acquire", "tryacquire")
		n.Words = append(n.Words, unjudged("is judged by Released", "release")...)
		return n
	}
	n.Words = slices.Concat(
		judged("its beginning: what was deleted before it can be claimed no more", "lock", "trylock", "rlock",
			"tryrlock", "campaign"),
		unjudged("is judged by Released", "unlock", "runlock", "resign"),
		judged("a writer becomes a reader, by the same znode", "downgrade"),
		unjudged("is judged by the znode in Path", "break"),
		[]Word{readMode})
	return n
}

type claim struct {
	caller
	path   string
	shared bool
}

func claimOf(e *history.Event) claim { return claim{callerOf(e), e.Path, e.Op == "read"} }

// sameObject reports whether two claims are of one object.
func (c claim) sameObject(d claim) bool { return c.object == d.object }

// excludes reports whether two claims cannot both be valid.
func (c claim) excludes(d claim) bool { return !c.shared || !d.shared }

// Check implements [Checker].
func (o Ownership) Check(h *history.History) Verdict { return check(h, o.Monitor()) }

// Monitor implements [Monitored].
func (o Ownership) Monitor() Monitor { return &owners{Ownership: o} }

// held is what holders have.
func (o Ownership) held() string {
	if o.Leases > 1 {
		return "a lease"
	}
	return "the lock"
}

// tooMany objects to a claim if it is one too many beside those that exclude it.
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
			return violated(o, i, "c%d owns a lease by %s, and %d others own one, c%d by %s", mine.client, mine.path, n,
				a.client, a.path)
		}
	}
	return Verdict{}
}

// ofReader reports whether a znode has the name of a reader's znode.
func ofReader(path string) bool {
	_, name := cutLast(path)
	return strings.HasPrefix(name, "read-") || strings.Contains(name, "-read-") ||
		strings.Contains(name, "__READ__") || strings.Contains(name, "__rlock__")
}

func siblings(a, b string) bool { return parent(a) == parent(b) }

func parent(path string) string {
	folder, name := cutLast(path)
	if folder == "" && name != "" {
		return "/"
	}
	return folder
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
