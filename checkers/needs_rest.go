package checkers

import (
	"slices"

	"zksim/model/history"
)

// What the checkers of other recipes, and of runs as a whole, need.

var atRest = Need{What: "a run that comes to rest", Hint: "see why no run does, or raise Scenario.MaxSteps",
	In: func(h *history.History) bool {
		return h.Outcome == history.Quiet
	}}

// Needs implements [Declaring].
func (Quiescence) Needs() Needs { return Needs{Seen: []Need{atRest}} }

// Needs implements [Declaring]. It judges every run.
func (Steps) Needs() Needs { return Needs{} }

// Needs implements [Declaring]. It judges every run.
func (Liveness) Needs() Needs { return Needs{} }

// Needs implements [Declaring].
func (Tree) Needs() Needs {
	return Needs{Seen: []Need{atRest,
		Need{What: "an ephemeral znode", Hint: "leave the checker out by Scenario.Without if the recipe makes none",
			In: func(h *history.History) bool {
				return h.Outcome == history.Quiet && slices.ContainsFunc(h.Events, func(e history.Event) bool {
					return e.Kind == history.Created && e.Session != 0
				})
			}}.during()}}
}

// Needs implements [Declaring].
func (Entry) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("goes in when as many as Value are inside", "enter"),
			judged("goes out, and is inside no longer", "leave"),
			[]Word{{"impatient", Telling, true, "is for gather"}}),
		Seen: []Need{some("an enter without an error", "record it with Object.Record", succeeds("enter"))},
	}
}

// Needs implements [Declaring].
func (Exit) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("goes into the round that its end has in Value, by the znode in Path", "enter"),
			judged("goes out when all of the round do", "leave"),
			[]Word{{"impatient", Telling, true, "is for gather"}}),
		Seen: []Need{some("a leave without an error", "record it with Object.Return", succeeds("leave"))},
	}
}

// Needs implements [Declaring].
func (Rounds) Needs() Needs {
	n := Exit{}.Needs()
	n.Seen = Entry{}.Needs().Seen
	return n
}

// Needs implements [Declaring].
func (Gather) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("waits until as many as Value are inside; an error says that it gave up", "enter"),
			tells("the one who enters is about to give up", "impatient"),
			unjudged("nobody waits for others to leave", "leave")),
		Seen: []Need{Need{What: "an enter that is given up with the faults over, after impatient was told",
			Hint: "let clients give up, or leave the checker out", In: givesUp}.during()},
	}
}

// givesUp reports whether somebody gave up entering with the faults over.
func givesUp(h *history.History) bool {
	calm, about := false, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Told && e.Op == "impatient":
			about[e.Object] = calm
		case e.Kind == history.Return && e.Op == "enter":
			if e.Err != nil && about[e.Object] {
				return true
			}
			delete(about, e.Object)
		}
	}
	return false
}

// Needs implements [Declaring].
func (Barrier) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("closes the barrier", "hold"),
			judged("opens it", "release"),
			judged("passes when it is open", "wait"),
			[]Word{{"impatient", Telling, true, "is for gather"}}),
		Seen: []Need{some("a hold without an error", "record it with Object.Return", succeeds("hold")),
			some("a wait without an error", "record it with Object.Return", succeeds("wait"))},
	}
}

// Needs implements [Declaring].
func (Passage) Needs() Needs {
	return Needs{
		Simulated: true,
		Words: slices.Concat(
			judged("opens the barrier", "release"),
			judged("passes when it is open, or has been; an error says that it gave up", "wait"),
			tells("the one who waits is about to give up", "impatient"),
			unjudged("what is closed in the end is judged as what is open", "hold")),
		Seen: []Need{some("a wait without an error", "record it with Object.Return", succeeds("wait"))},
	}
}

// Needs implements [Declaring]. It judges every run.
func (Watches) Needs() Needs { return Needs{} }

// Needs implements [Declaring].
func (Leftover) Needs() Needs {
	return Needs{Seen: []Need{Need{What: "a run that comes to rest, in which no client crashes or fails",
		Hint: "see why no run does, or raise Scenario.MaxSteps", In: allDone}.during()}}
}

// Needs implements [Declaring].
func (Atomicity) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("begins the transaction in Path, of as many sites as Value", "begin"),
			judged("a site, the client, votes for it", "vote-yes"),
			judged("a site votes against it", "vote-no"),
			unjudged("is judged by what is told", "join", "outcome", "finish"),
			tells("the decision that a client learns", "committed", "aborted")),
		Seen: []Need{some("the operation begin", "record it with Object.Record and its Path",
			func(e *history.Event) bool {
				return e.Kind == history.Invoke && e.Op == "begin"
			}),
			some("a decision that is told, committed or aborted", "record it as Told", toldAs("committed", "aborted"))},
	}
}

// Needs implements [Declaring].
func (Validity) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("begins the transaction in Path, of as many sites as Value; to fail is a reason to abort", "begin"),
			judged("is a reason to abort", "vote-no", "finish"),
			unjudged("is no reason to abort", "vote-yes", "join", "outcome"),
			tells("the decision that a client learns", "aborted", "committed")),
		Seen: []Need{some("a decision that is told, aborted", "record it as Told", toldAs("aborted")).during()},
	}
}

// Needs implements [Declaring].
func (Counter) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("adds Value; answered by the sum", "add"),
			judged("sets the number to Value if it is Path; answered by 1 or 0", "cas"),
			judged("answered by the number", "get")),
		Seen: []Need{some("an answer of add, cas or get", "record it with Object.Record", succeeds("add", "cas",
			"get"))},
	}
}

// Needs implements [Declaring].
func (Names) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("gets a name, in Path of its end, that stands for Value", "register"),
			judged("answered by what the name in Path stands for", "resolve"),
			judged("gives up the name in Path; a success ends no other object's", "unregister")),
		Seen: []Need{some("a register without an error", "record it with Object.Record", succeeds("register"))},
	}
}

// configWords are the words of configurations, of which own are judged.
func configWords(own ...Word) []Word {
	all := append(own, unjudged("is judged by other checkers of configurations", "update", "get", "follow")...)
	all = append(all, Word{"config", Telling, true, "is judged by other checkers of configurations"})
	return slices.DeleteFunc(all, func(w Word) bool {
		return w.Unjudged && slices.ContainsFunc(own, func(x Word) bool { return x.Op == w.Op })
	})
}

// sets is the need of those that judge sets of values.
var sets = some("a set of values, by an answer of get or told as config", "record it with Object.Record", given)

// Needs implements [Declaring].
func (Torn) Needs() Needs {
	return Needs{
		Words: configWords(append(judged("answered by a set of values in Path", "get"),
			tells("a cached reader is told the set in Path", "config")...)...),
		Seen: []Need{sets},
	}
}

// Needs implements [Declaring].
func (Recency) Needs() Needs {
	return Needs{
		Words: configWords(slices.Concat(
			judged("changes the set that the znode in Path dates", "update"),
			judged("answered by the set of Zxid", "get"),
			tells("a cached reader is told the set of Zxid", "config"),
			judged("its end is that of a cached reader", "follow"))...),
		Seen: []Need{sets},
	}
}

// Needs implements [Declaring].
func (Replaced) Needs() Needs {
	return Needs{
		Words: configWords(slices.Concat(judged("answered by the set of Zxid", "get"),
			tells("a cached reader is told the set of Zxid", "config"))...),
		Seen: []Need{sets},
	}
}

// Needs implements [Declaring].
func (Overtaken) Needs() Needs {
	return Needs{
		Txns:  true,
		Words: configWords(judged("is made of the znode in Path", "update")...),
		Seen: []Need{some("an update without an error", "record it with Object.Record and its Path",
			succeeds("update"))},
	}
}

// Needs implements [Declaring].
func (Conflict) Needs() Needs {
	return Needs{
		Words: configWords(judged("refused, with OK and an error, only while another is made", "update")...),
		Seen: []Need{some("an update that is refused",
			"let updates collide, and record the refusal by Return with OK", func(e *history.Event) bool {
				return e.Kind == history.Return && e.Op == "update" && refused(e)
			}).during()},
	}
}

// Needs implements [Declaring].
func (Tasks) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("submits the task of Value; its end has the znode in Path", "submit"),
			judged("forgets the task in Path", "forget"),
			tells("a worker is given the task of Value, the znode in Path", "task"),
			judged("ends without an error when the task is done", "wait"),
			judged("a worker reports the task done", "done")),
		Seen: []Need{some("a task that is given to a worker, told as task or by a znode below assign/WORKER",
			"record it as Told",
			func(e *history.Event) bool { return toldAs("task")(e) || assigns(e) }).during()},
	}
}

// Needs implements [Declaring].
func (StaleLeader) Needs() Needs {
	return Needs{Txns: true, Seen: []Need{Need{What: "an assignment, a znode below assign/WORKER",
		Hint: "let masters and workers get that far", In: func(h *history.History) bool {
			return slices.ContainsFunc(h.Events, func(e history.Event) bool { return assigns(&e) })
		}}.during()}}
}

// assigns reports whether the event is an assignment of a task.
func assigns(e *history.Event) bool {
	folder, _, _ := place(e.Path)
	return e.Kind == history.Created && e.Client != 0 && folder == "assign"
}

// Needs implements [Declaring].
func (Znodes) Needs() Needs {
	return Needs{
		Words: judged("the operation of ZooKeeper, on the znode in Path", "create", "set", "delete", "get"),
		Seen: []Need{some("an answer of create, set, delete or get", "record it with Object.Record",
			succeeds("create", "set", "delete", "get"))},
	}
}
