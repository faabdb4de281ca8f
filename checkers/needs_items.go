package checkers

import (
	"slices"

	"zksim/model/history"
)

// What the checkers of queues, groups and watchers need.

// queueWords are the words of queues; those that are not judged are the checker's own.
func queueWords(others ...string) []Word {
	all := slices.Concat(
		judged("puts the item in Value", "put"),
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

// Needs implements [Declaring].
func (DoubledEffect) Needs() Needs {
	return Needs{Words: queueWords("put", "take", "trytake", "claim", "tryclaim", "return"),
		Seen: []Need{some("an ack without an error", "let consumers acknowledge, or leave the checker out",
			succeeds("ack"))}}
}

// Needs implements [Declaring].
func (DoubledItem) Needs() Needs {
	return Needs{Words: queueWords("return"), Seen: []Need{wasPut, delivered}}
}

// Needs implements [Declaring].
func (Length) Needs() Needs {
	return Needs{
		Words: append(queueWords("claim", "tryclaim", "return"), judged("answered by how many items there are", "len")...),
		Seen: []Need{wasPut, some("a len without an error", "record it with Object.Record and its Value",
			succeeds("len"))},
	}
}

// Needs implements [Declaring].
func (LostItem) Needs() Needs {
	return Needs{Words: queueWords("claim", "tryclaim", "return"), Seen: []Need{wasPut, atRest}}
}

// Needs implements [Declaring].
func (FIFO) Needs() Needs {
	return Needs{Words: queueWords("ack", "return"), Seen: []Need{wasPut, delivered}}
}

// Needs implements [Declaring].
func (PriorityOrder) Needs() Needs { return FIFO{}.Needs() }

const (
	watcherDoc = "a watcher of Path, from its beginning to its end"
	stateDoc   = "the watcher tells the state of the znode in Path"
)

// watchKinds are the words that begin and end a watcher.
var watchKinds = []string{WatchData, WatchChildren, WatchCache, WatchMembers}

// Needs implements [Declaring].
func (Monotone) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(judged(watcherDoc, watchKinds...), unjudged("is for convergence", Rest, Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone)),
		Seen: []Need{Need{What: "two states of one znode that one watcher tells",
			Hint: "record them as Told; let the znode change", In: tellsTwice}.during()},
	}
}

// tellsTwice reports whether a watcher told two states of a znode.
func tellsTwice(h *history.History) bool {
	seen := map[told]bool{}
	for i := range h.Events {
		if e := &h.Events[i]; toldAs(ToldData, ToldChildren, ToldGone)(e) {
			if seen[toldOf(e)] {
				return true
			}
			seen[toldOf(e)] = true
		}
	}
	return false
}

// Needs implements [Declaring].
func (Convergence) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(judged(watcherDoc, watchKinds...),
			judged("begins a time in which everything settles, if the faults are over", Rest),
			judged("what was told must be how things are", Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone)),
		Seen: []Need{Need{What: "a watcher that is stopped after a rest in which nothing changed, with the faults over",
			Hint: "record rest and stop with Object.Invoke; let faults end earlier by " +
				"Scenario.SafetySteps", In: converges}.during()},
	}
}

// Needs implements [Declaring].
func (Settled) Needs() Needs {
	return Needs{
		Txns:      true,
		Simulated: true,
		Words: slices.Concat(judged(watcherDoc, WatchChildren),
			judged("the watcher waits for the list to settle, until its end", Settle),
			unjudged("is for convergence", Rest, Stop),
			tells(stateDoc, ToldChildren)),
		Seen: []Need{some("a wait for a list to settle that does not end early",
			"record settle with Object.Invoke and Object.Return", succeeds(Settle)).during()},
	}
}

// converges reports whether there is something for the end to judge.
func converges(h *history.History) bool {
	m := &watchers{}
	for i := range h.Events {
		m.Step(h, i)
	}
	return h.Outcome == history.Quiet && len(m.stopped) > 0
}

var memberWords = append(judged("becomes a member by the znode in Path", Join),
	judged("is a member no longer", Leave)...)

// Needs implements [Declaring].
func (Departure) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(memberWords, judged("a watcher of the group in Path", WatchMembers),
			tells("the watcher tells that the znode in Path is gone", ToldGone),
			[]Word{{ToldLost, Telling, true, "is for presence"}, {ToldJoined, Telling, true, "is for presence"}}),
		Seen: []Need{some("a join without an error", "record it with Object.Record and its Path", succeeds(Join))},
	}
}

// Needs implements [Declaring].
func (Presence) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(memberWords, judged("begins a time in which everything settles, if the faults are over",
			Rest),
			tells("the member is told that it may be one no longer", ToldLost),
			tells("the member is told that it certainly is one again", ToldJoined)),
		Seen: []Need{Need{What: "a member that leaves after a rest, with the faults over",
			Hint: "record rest with Object.Invoke; let faults end earlier by " +
				"Scenario.SafetySteps", In: leavesRested}.during()},
	}
}

// leavesRested reports whether a member was there for Presence to judge.
func leavesRested(h *history.History) bool {
	calm, rested := false, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Invoke && e.Op == Join, e.Kind == history.Return && e.Op == Join && e.Err != nil:
			delete(rested, e.Object)
		case e.Kind == history.Invoke && e.Op == Rest:
			rested[e.Object] = calm
		case e.Kind == history.Invoke && e.Op == Leave && rested[e.Object]:
			return true
		}
	}
	return false
}

// Needs implements [Declaring].
func (Suspicion) Needs() Needs {
	return Needs{
		Words: slices.Concat(judged(watcherDoc, watchKinds...),
			judged("begins a time in which everything settles, if the faults are over", Rest),
			judged("what was told must be up to date", Stop),
			tells(stateDoc, ToldData, ToldChildren, ToldGone),
			tells("what was told may be out of date, if OK, or is not", ToldDoubt)),
		Seen: []Need{some("a doubt that is told", "record it as Told", toldAs(ToldDoubt)).during()},
	}
}
