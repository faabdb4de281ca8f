package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Refusal is what callers of TryRLock, TryLock and TryAcquire rely on. They are refused only if at some moment of the
// call others held or awaited what would have kept them waiting: a writer's znode, anybody's, or as many as there are
// leases. What the client itself made last in that call does not count, whichever of its objects made it, because a
// history does not tell. So an object that is refused because of what another object of its client got meanwhile is
// blamed. Such objects should be of different clients.
type Refusal struct {
	Leases int // 0: 1
}

// Name implements [Checker].
func (Refusal) Name() string { return "refusal" }

// Doc implements [Checker].
func (Refusal) Doc() string { return "nobody is refused what is free" }

// Needs implements [Declaring].
func (r Refusal) Needs() Needs {
	try, rest := []string{"trylock", "tryrlock"}, slices.Concat(leadWords,
		[]string{"lock", "unlock", "rlock", "runlock", "downgrade"})
	if r.Leases > 0 {
		try, rest = []string{"tryacquire"}, []string{"acquire", "release"}
	}
	what := "a refused " + try[0]
	if len(try) > 1 {
		what += " or " + try[1]
	}
	return Needs{
		Txns: true,
		Words: append(judged("is refused, with OK and an error, only while others are in its way", try...),
			unjudged("cannot be refused", rest...)...),
		Seen: []Need{Need{What: what, Hint: "try while others have it, and record the refusal by Return with OK",
			In: func(h *history.History) bool {
				return slices.ContainsFunc(h.Events, func(e history.Event) bool {
					return e.Kind == history.Return && slices.Contains(try, e.Op) && refused(&e)
				})
			}}.during()},
	}
}

// Check implements [Checker].
func (r Refusal) Check(h *history.History) Verdict { return check(h, r.Monitor()) }

// Monitor implements [Monitored].
func (r Refusal) Monitor() Monitor { return &refusals{Refusal: r} }

// refusals is the monitor of Refusal.
type refusals struct {
	recipeEvents
	Refusal
	there []string // the ephemeral znodes that exist
	calls []tryCall
}

// tryCall is a call in progress that may be refused, and what can explain that: znodes that were there at some moment
// since it began.
type tryCall struct {
	caller
	reads  bool // only writers are in its way
	others int
	own    int   // that its client made last,
	zxid   int64 // in this txn; they count when it makes others
}

func (r *refusals) Reset() { r.there, r.calls = r.there[:0], r.calls[:0] }

// Hash implements [Monitor]. The world knows which znodes exist. Of those in the way of a call, only as many matter as
// are needed.
func (r *refusals) Hash() uint64 {
	sum, enough := hash.Hash(0), max(r.Leases, 1)
	for i := range r.calls {
		c := &r.calls[i]
		others := min(c.others, enough)
		sum += printOf(r.calls, c.caller).Uint64(uint64(others)).Uint64(uint64(min(c.own, enough-others)))
	}
	return uint64(sum)
}

func (r *refusals) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Invoke:
		r.calls = withoutObject(r.calls, e.Object)
		if strings.HasPrefix(e.Op, "try") {
			r.begin(e)
		}
	case history.Created:
		r.created(e)
	case history.Deleted:
		if k := slices.Index(r.there, e.Path); k >= 0 {
			r.there = slices.Delete(r.there, k, k+1)
		}
	case history.Return:
		v := r.judge(i, e)
		r.calls = withoutObject(r.calls, e.Object)
		return v
	case history.Crashed:
		r.calls = withoutClient(r.calls, e.Client)
	}
	return Verdict{}
}

func (r *refusals) begin(e *history.Event) {
	c := tryCall{caller: callerOf(e), reads: e.Op == "tryrlock"}
	for _, path := range r.there {
		if c.waitsFor(path) {
			c.others++
		}
	}
	r.calls = append(r.calls, c)
}

// waitsFor reports whether a znode can be in the way of the call.
func (c *tryCall) waitsFor(path string) bool { return !c.reads || !ofReader(path) }

// created notes a new znode.
func (r *refusals) created(e *history.Event) {
	if e.Session != 0 {
		r.there = append(r.there, e.Path)
	}
	for k := range r.calls {
		c := &r.calls[k]
		counts := e.Session != 0 && c.waitsFor(e.Path)
		if c.client == e.Client && c.zxid != e.Zxid {
			c.others, c.own, c.zxid = c.others+c.own, 0, e.Zxid
		}
		switch {
		case counts && c.client == e.Client:
			c.own++
		case counts:
			c.others++
		}
	}
}

// judge judges the end of a call.
func (r *refusals) judge(i int, e *history.Event) Verdict {
	for k := range r.calls {
		switch c := &r.calls[k]; {
		case c.object != e.Object || !refused(e) || c.others >= max(r.Leases, 1):
		case c.others == 0:
			return violated(r, i, "c%d was refused by %s, and nobody was in its way", e.Client, e.Op)
		default:
			return violated(r, i, "c%d was refused by %s, and %d of %d leases were taken", e.Client, e.Op, c.others, r.Leases)
		}
	}
	return Verdict{}
}
