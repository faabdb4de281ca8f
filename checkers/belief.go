package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Belief is the layer of lock safety that programs rely on: two clients never both believe that they hold the lock. It
// is promised under one assumption: a client notices its disconnection, and acts on it, before the servers end its
// session. If its session is ended otherwise (by a pause, a partitioned server or a very late message), a belief is
// excused from that moment until its holder is told or gives it up. Only the fenced resource protects against that.
//
// The other exemption is for locks that may be broken. A belief is excused from the moment when somebody begins to
// delete its znode, the Invoke of "break", until the holder is told. Once the deletion has succeeded, a znode made at
// the same path is another one.
//
// A writer that becomes a reader does nothing until it is told. So its belief rests from the Invoke of "downgrade".
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
		return "no more clients believe that they hold a lease than there are, unless a session ended before its client " +
			"could know"
	}
	return "two clients never both believe that they hold the lock, unless a session ended before its client could know"
}

// Needs implements [Declaring].
func (b Belief) Needs() Needs {
	n := Needs{Txns: true, Seen: []Need{acquired, contested(max(b.Leases, 1) + 1)}}
	const known = "is judged by Acquired, Lost and Released"
	if b.Leases > 0 {
		n.Words = unjudged(known, "acquire", "tryacquire", "release")
		return n
	}
	n.Seen = append(n.Seen, some("an Acquired event that is not of a reader", "let writers get it as well",
		func(e *history.Event) bool { return e.Kind == history.Acquired && e.Op != readMode.Op }))
	n.Words = slices.Concat(unjudged(known, slices.Concat(lockWords, sharedWords, leadWords)...),
		judged("the belief rests until the holder is told that it is a reader", "downgrade"),
		judged("somebody deletes the znode in Path; its holder is excused until it is told", "break"),
		[]Word{readMode})
	return n
}

// Check implements [Checker].
func (b Belief) Check(h *history.History) Verdict { return check(h, b.Monitor()) }

// Monitor implements [Monitored].
func (b Belief) Monitor() Monitor { return &believers{Belief: b} }

// believers is the monitor of Belief.
type believers struct {
	sessionEvents
	Belief
	active    []claim
	deceived  deceived
	excused   []claim // made or kept while their client could not know
	broken    []breakage
	claimants claimants
}

// breakage is an operation that deletes somebody's znode, and whether it has succeeded.
type breakage struct {
	caller
	path  string
	done  bool
	maker int32 // of the znode made at that path since; 0: nobody
}

func (b *believers) Reset() {
	b.active, b.deceived, b.excused, b.broken = b.active[:0], b.deceived[:0], b.excused[:0], b.broken[:0]
	b.claimants = b.claimants[:0]
}

func (b *believers) Hash() uint64 {
	sums := [4]hash.Hash{1: b.deceived.print()} // the order in each list does not matter
	for _, a := range b.active {
		sums[0] += b.claimants.print(a)
	}
	for _, a := range b.excused {
		sums[2] += b.claimants.print(a)
	}
	for _, x := range b.broken {
		sums[3] += hash.Hash(0).String(x.path).Bool(x.done).Int(int64(x.maker))
	}
	x := hash.Hash(0)
	for _, s := range sums {
		x = x.Uint64(uint64(s))
	}
	return uint64(x)
}

func (b *believers) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	b.deceived.step(e)
	switch e.Kind {
	case history.Acquired:
		mine := claimOf(e)
		b.claimants.claims(mine)
		b.active = drop(b.active, mine.sameObject) // a writer becomes a reader
		if b.deceived.has(e.Client) {
			b.excused = append(b.excused, mine)
		}
		if slices.ContainsFunc(b.excused, mine.sameObject) || b.breaks(mine) {
			return Verdict{}
		}
		if v := b.tooMany(h, i, mine); v.Level == Violated {
			return v
		}
		b.active = append(b.active, mine)
	case history.Invoke:
		switch e.Op {
		case "break":
			b.broken = append(b.broken, breakage{caller: callerOf(e), path: e.Path})
			b.active = drop(b.active, func(a claim) bool { return a.path == e.Path })
		case "downgrade":
			b.active = withoutObject(b.active, e.Object)
		}
	case history.Return:
		for k := range b.broken {
			if x := &b.broken[k]; x.caller == callerOf(e) && x.path == e.Path {
				x.done = x.done || e.Op == "break" && e.Err == nil
			}
		}
	case history.Created:
		for k := range b.broken {
			if x := &b.broken[k]; x.done && x.path == e.Path {
				x.maker = e.Client
			}
		}
	case history.Released, history.Lost:
		b.claimants.end(e.Object)
		b.active = withoutObject(b.active, e.Object)
		b.excused = withoutObject(b.excused, e.Object)
	case history.Exceeded:
		for _, a := range b.active {
			if a.client == e.Client {
				b.excused = append(b.excused, a)
			}
		}
		b.active = withoutClient(b.active, e.Client)
	case history.Crashed:
		b.claimants.crash(e.Client)
		b.active = withoutClient(b.active, e.Client)
	}
	return Verdict{}
}

// breaks reports whether somebody is deleting, or has deleted, the znode of a claim.
func (b *believers) breaks(c claim) bool {
	return slices.ContainsFunc(b.broken, func(x breakage) bool { return x.path == c.path && x.maker != c.client })
}

// tooMany objects to a claim if it is one too many beside those that exclude it.
func (b *believers) tooMany(h *history.History, i int, mine claim) Verdict {
	var others []claim // any of them may be the one that is wrong
	for _, a := range b.active {
		if a.client == mine.client && b.Leases <= 1 || !a.excludes(mine) {
			continue
		}
		if others = append(others, a); len(others) >= max(b.Leases, 1) {
			return b.objects(h, i, mine, others)
		}
	}
	return Verdict{}
}

// objects returns the verdict on a claim that is made beside others.
func (b *believers) objects(h *history.History, i int, mine claim, others []claim) Verdict {
	if a := others[0]; len(others) == 1 {
		return violated(b, i, "c%d believes that it holds the lock%s while c%d still believes so%s%s",
			mine.client, byPath(mine.path), a.client, byPath(a.path), deletedBy(h, i, a))
	}
	var names []string
	for _, a := range others {
		names = append(names, fmt.Sprintf("c%d%s%s", a.client, byPath(a.path), deletedBy(h, i, a)))
	}
	return violated(b, i, "c%d believes that it holds a lease%s while %d others still believe so, %s",
		mine.client, byPath(mine.path), len(others), strings.Join(names, " and "))
}

// deletedBy says which other client has deleted the znode of a claim that is believed at event i, if one has.
func deletedBy(h *history.History, i int, a claim) string {
	for k := i - 1; k >= 0; k-- {
		e := &h.Events[k]
		if e.Kind == history.Acquired && e.Object == a.object {
			break
		}
		if e.Kind == history.Deleted && e.Path == a.path && e.Client != 0 && e.Client != a.client {
			return fmt.Sprintf(", which c%d has deleted", e.Client)
		}
	}
	return ""
}

// byPath names the znode of a claim, if it is known.
func byPath(path string) string {
	if path == "" {
		return ""
	}
	return " by " + path
}
