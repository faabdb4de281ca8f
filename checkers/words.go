package checkers

import (
	"fmt"
	"slices"

	"zksim/model/history"
)

// The words and needs that several checkers share.

// queueWords returns the words of queues. The checker does not judge others.
func queueWords(others ...string) []Word {
	all := slices.Concat(
		judged("puts the item in Value, a number that no other put has, which is the data of its znode", "put"),
		judged("removes an item; answered by it", "take", "trytake"),
		judged("gets an item that stays until it is acknowledged; answered by it", "claim", "tryclaim"),
		judged("removes the claimed item in Value", "ack"),
		judged("gives the claimed item in Value back", "return"))
	for i := range all {
		all[i].Unjudged = slices.Contains(others, all[i].Op)
	}
	return all
}

var (
	wasPut    = some("a put without an error", "record it with Object.Record and its Value", succeeds("put"))
	delivered = some("an item that take, trytake, claim or tryclaim answers",
		"record it with Object.Record and its Value",
		succeeds("take", "trytake", "claim", "tryclaim"))
)

const (
	watcherDoc = "a watcher of Path, from its beginning to its end"
	stateDoc   = "the watcher tells the state of the znode in Path, by its Zxid and, in Value, its Fingerprint"
)

// watchKinds are the words that begin and end a watcher.
var watchKinds = []string{WatchData, WatchChildren, WatchCache, WatchMembers}

func isWatch(op string) bool { return slices.Contains(watchKinds, op) }

var memberWords = append(judged("becomes a member by the znode in Path", Join),
	judged("is a member no longer, by the znode in Path or, without one, that of its join", Leave)...)

// acquired is the need of checkers that judge beliefs.
var acquired = some("Acquired events", "record them with Object.Acquired", isKind(history.Acquired))

// contested is the need of checkers that judge beliefs between n clients.
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

// withPath picks those of the events that f picks that say what they are about.
func withPath(f func(e *history.Event) bool) func(e *history.Event) bool {
	return func(e *history.Event) bool { return f(e) && e.Path != "" }
}

// toldAs picks what is told by these words.
func toldAs(ops ...string) func(e *history.Event) bool {
	return func(e *history.Event) bool { return e.Kind == history.Told && slices.Contains(ops, e.Op) }
}

var atRest = Need{What: "a run that comes to rest",
	Hint: "see why no run does, or raise Scenario.MaxSteps; on real servers a run has a minute",
	In: func(h *history.History) bool {
		return h.Outcome == history.Quiet
	}}

// configWords returns the words of configurations, of which own are judged.
func configWords(own ...Word) []Word {
	const others = "is judged by other checkers of configurations"
	all := slices.Concat(own, unjudged(others, "update", "get", "follow"), untells(others, "config"))
	return slices.DeleteFunc(all, func(w Word) bool {
		return w.Unjudged && slices.ContainsFunc(own, func(x Word) bool { return x.Op == w.Op })
	})
}

// sets is the need of checkers that judge sets of values, of which the empty one is always right.
var sets = some("a set of values, by an answer of get or told as config", "record it with Object.Record and its Path",
	withPath(given))

// goesIn is the need of checkers that judge who enters a double barrier.
var goesIn = some("an enter without an error", "record it with Object.Record", succeeds("enter"))

// assigns reports whether the event is an assignment of a task.
func assigns(e *history.Event) bool {
	folder, _, _ := place(e.Path)
	return e.Kind == history.Created && e.Client != 0 && folder == "assign"
}
