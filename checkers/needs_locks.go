package checkers

import (
	"fmt"
	"slices"

	"zksim/model/history"
)

// What the checkers of locks, read/write locks, semaphores and elections need.

// acquired is the need of those that judge beliefs.
var acquired = some("Acquired events", "record them with Object.Acquired", isKind(history.Acquired))

// contested is the need of those that judge them between n clients.
func contested(n int) Need {
	return ofClients(n, fmt.Sprintf("Acquired events of %d clients", n), "let more clients get it in one run",
		isKind(history.Acquired))
}

var (
	lockWords   = []string{"lock", "trylock", "unlock"}
	sharedWords = []string{"rlock", "tryrlock", "runlock"}
	leadWords   = []string{"campaign", "resign"}
	readMode    = Word{"read", Mode, false, "the lock is shared with other readers"}
)

func isKind(k history.Kind) func(e *history.Event) bool {
	return func(e *history.Event) bool { return e.Kind == k }
}

// succeeds picks the ends without an error of these operations.
func succeeds(ops ...string) func(e *history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Return && e.Err == nil && slices.Contains(ops, e.Op)
	}
}

// toldAs picks what is told by these words.
func toldAs(ops ...string) func(e *history.Event) bool {
	return func(e *history.Event) bool { return e.Kind == history.Told && slices.Contains(ops, e.Op) }
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

// Needs implements [Declaring].
func (b Belief) Needs() Needs {
	n := Needs{Txns: true, Seen: []Need{acquired, contested(max(b.Leases, 1) + 1)}}
	const known = "is judged by Acquired, Lost and Released"
	if b.Leases > 0 {
		n.Words = unjudged(known, "acquire", "tryacquire", "release")
		return n
	}
	n.Words = slices.Concat(unjudged(known, slices.Concat(lockWords, sharedWords, leadWords)...),
		judged("the belief rests until the holder is told that it is a reader", "downgrade"),
		judged("somebody deletes the znode in Path; its holder is excused until it is told", "break"),
		[]Word{readMode})
	return n
}

// Needs implements [Declaring].
func (c Claim) Needs() Needs {
	n := Needs{Txns: true, Simulated: true}
	switch c.Of {
	case ClaimedPlace:
		n.Words = slices.Concat(judged("its success says that the znode in Path is of a session that lasts", "enter"),
			unjudged("claims nothing", "leave"), []Word{{"impatient", Telling, true, "is for gather"}})
		n.Seen = Entry{}.Needs().Seen
	case ClaimedMember:
		n.Words = slices.Concat(unjudged("claims nothing", Join, Leave, Rest),
			tells("says that the znode in Path is of a session that lasts", ToldJoined),
			[]Word{{ToldLost, Telling, true, "is for presence"}})
		n.Seen = []Need{some("a member that is told that it is one again", "record it as Told",
			toldAs(ToldJoined)).during()}
	default:
		n.Words = slices.Concat(
			judged("its beginning: what was deleted before it can be claimed no more", "lock", "trylock", "rlock",
				"tryrlock", "campaign", "acquire", "tryacquire"),
			judged("a writer becomes a reader, by the same znode", "downgrade"),
			judged("its success says that the znode in Path still leads", "acknowledge"),
			unjudged("claims nothing", "unlock", "runlock", "resign", "release", "break", "leader"),
			[]Word{readMode})
		n.Seen = []Need{acquired}
	}
	return n
}

// Needs implements [Declaring].
func (w Waits) Needs() Needs {
	waits, rest := []string{"lock", "rlock", "campaign", "leader"}, []string{"trylock", "unlock", "tryrlock", "runlock",
		"downgrade", "resign"}
	switch {
	case w.Leases > 0:
		waits, rest = []string{"acquire"}, []string{"tryacquire", "release"}
	case w.For == AwaitedItem:
		waits, rest = []string{"take", "claim"}, nil
	}
	atRest := tells("the client was at rest: nothing but time can pass", ToldRest)
	n := Needs{
		Simulated: true,
		Words: slices.Concat(judged("waits", waits...), unjudged("waits for nobody, or is judged by Released", rest...),
			atRest),
		Seen: []Need{Need{What: "an operation that waits while the program of a client is at rest",
			Hint: "let who has what others wait for call Process.AtRest before it gives it up",
			In:   func(h *history.History) bool { return waitsAtRest(h, waits) }}.during()},
	}
	switch {
	case w.For == AwaitedItem:
		n.Words = append(queueWords("ack"), atRest...)
	case w.Leases == 0:
		n.Words = append(n.Words, readMode)
		n.Words = append(n.Words, judged("its success says that its object leads", "acknowledge")...)
	}
	return n
}

// waitsAtRest reports whether somebody was in one of these operations when a client was at rest.
func waitsAtRest(h *history.History, ops []string) bool {
	waiting := map[int32]string{} // by object
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Invoke && slices.Contains(ops, e.Op):
			waiting[e.Object] = e.Op
		case e.Kind == history.Return && waiting[e.Object] == e.Op:
			delete(waiting, e.Object)
		case e.Kind == history.Told && e.Op == ToldRest && len(waiting) > 0:
			return true
		}
	}
	return false
}

// Needs implements [Declaring].
func (Fenced) Needs() Needs {
	return Needs{
		Words: []Word{readMode},
		Seen: []Need{acquired,
			some("Write events", "access the resource with Object.Write while the lock is held", isKind(history.Write)),
			{What: "accesses that the resource accepted from two holders",
				Hint: "let two clients get the lock in one run", In: twoWriters}},
	}
}

// twoWriters reports whether the resource accepted what two holders did, one of them a write.
func twoWriters(h *history.History) bool {
	first, wrote, two := int32(0), false, false
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Write && e.OK {
			if first == 0 {
				first = e.Object
			}
			two = two || e.Object != first
			wrote = wrote || e.Op != "read"
		}
	}
	return two && wrote
}

// Needs implements [Declaring].
func (Linearizability) Needs() Needs {
	attempt := func(e *history.Event) bool {
		return e.Kind == history.Invoke && (e.Op == "lock" || e.Op == "trylock")
	}
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("waits for the lock", "lock"),
			judged("is refused, with OK and an error, only while another client has or awaits the lock", "trylock"),
			judged("gives it up; with an error perhaps, at any later moment", "unlock")),
		Seen: []Need{some("the operation lock or trylock", "record it with Object.Lock or Object.TryLock", attempt),
			acquired, contested(2)},
	}
}

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

// Needs implements [Declaring].
func (Herd) Needs() Needs {
	return Needs{Txns: true, Seen: []Need{Need{What: "a client that is notified of what another has changed",
		Hint: "let clients wait for each other", In: func(h *history.History) bool {
			for i := range h.Events {
				if _, counted := changeOf(h, i); counted {
					return true
				}
			}
			return false
		}}.during()}}
}

// Needs implements [Declaring].
func (LostRevoke) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("whoever holds the lock by the znode in Path is asked to give it up", "revoke"),
			judged("the znode in Path is deleted, whoever holds the lock by it", "break"),
			judged("a holder by the znode in Path waits to be told; an error says that it was not", "hold"),
			[]Word{{"revoked", Telling, true, "ends the hold without an error"}}),
		Seen: []Need{some("the operation revoke or break", "record it with Object.Record and its Path",
			succeeds("revoke", "break")),
			Need{What: "a hold of a lock that is revoked or broken",
				Hint: "let holders wait in an operation hold, after the faults as well", In: holdsRevoked}.during()},
	}
}

// holdsRevoked reports whether somebody who waited with the faults over had a lock that was
// revoked by the end.
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

// Needs implements [Declaring].
func (Overdue) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			tells("a monitor says that the lock by Path has been held for Value nanoseconds", "overdue"),
			judged("its end says for how long, Value, the lock by Path can have been held", "held"),
			unjudged("is judged by held", "lock", "rlock", "unlock", "runlock"),
			unjudged("is for alarm", "monitor"),
			[]Word{{"since", Telling, true, "is for alarm"}, {"until", Telling, true, "is for alarm"},
				{"clock", Telling, true, "is for alarm"}}),
		Seen: []Need{some("what a monitor tells, overdue", "record it as Told", toldAs("overdue")),
			some("what holders say, held", "record it as Return", succeeds("held"))},
	}
}

// Needs implements [Declaring].
func (Alarm) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			tells("a holder has the lock by Path, at the time Value", "since"),
			tells("it is about to give it up, at the time Value", "until"),
			tells("the time Value at which the monitor raises an alarm, right before it", "clock"),
			tells("a monitor says that the lock by Path has been held for Value nanoseconds", "overdue"),
			judged("a monitor runs", "monitor"),
			unjudged("is judged by what is told", "held", "lock", "rlock", "unlock", "runlock")),
		Seen: []Need{some("what a monitor tells, overdue", "record it as Told", toldAs("overdue")),
			some("what a holder tells, until", "record it as Told", toldAs("until")),
			some("a monitor that runs", "record it by Invoke and Return", func(e *history.Event) bool {
				return e.Kind == history.Invoke && e.Op == "monitor"
			})},
	}
}

// Needs implements [Declaring].
func (Acknowledged) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("the candidate in Path begins to lead with the token in Value", "acknowledge"),
			judged("asks who leads; answered by the token in Value, or with OK and an error by nobody", "leader"),
			unjudged("is judged by the znode of the candidate", leadWords...)),
		Seen: []Need{some("the operation acknowledge", "record it with Object.Record", succeeds("acknowledge")),
			some("an answer to the operation leader", "record it with Object.Record", func(e *history.Event) bool {
				return e.Kind == history.Return && e.Op == "leader" && (e.Err == nil || e.OK)
			})},
	}
}
