package workload

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Goals of several recipes.
var (
	GoalLostCreate = engine.Goal{Name: "a lost reply after a create", Reached: LostAfter("create", Created)}
	GoalLostMulti  = engine.Goal{Name: "a lost reply after a multi", Reached: lostMulti("")}
	GoalExpiry     = engine.Goal{Name: "a session that ends while its client holds the lock", Reached: expiredHolding}
	GoalQueue      = engine.Goal{Name: "three clients in the queue",
		Reached: func(h *history.History) bool { return longestQueue(h) >= 3 }}
)

// LostAfter makes a goal: a call of op, or any if op is empty, had the effect, but its client was told that the
// connection is lost.
func LostAfter(op string, effect func(e *history.Event) bool) func(h *history.History) bool {
	return func(h *history.History) bool {
		executed := map[int32]bool{}
		for i := range h.Events {
			e := &h.Events[i]
			asked := op == "" || e.Op == op
			switch {
			case e.Kind == history.Call && asked:
				executed[e.Client] = false
			case effect(e):
				executed[e.Client] = true
			case e.Kind == history.Reply && asked && e.Err == zk.ErrConnectionClosed && executed[e.Client]:
				return true
			}
		}
		return false
	}
}

// Created is an effect for LostAfter: a new znode.
func Created(e *history.Event) bool { return e.Kind == history.Created }

// Changed is an effect for LostAfter: new data.
func Changed(e *history.Event) bool { return e.Kind == history.Changed }

// lostMulti makes the goal of LostAfter for a multi within the recipe's operation op, or any if op is empty.
func lostMulti(op string) func(h *history.History) bool {
	return func(h *history.History) bool {
		doing := map[int32]string{}
		return LostAfter("multi", func(e *history.Event) bool {
			if e.Kind == history.Invoke {
				doing[e.Client] = e.Op
			}
			txn := Created(e) || Changed(e) || e.Kind == history.Deleted
			return txn && (op == "" || doing[e.Client] == op)
		})(h)
	}
}

// Answered makes a goal: an answer of the operation op for which f is true.
func Answered(op string, f func(e *history.Event) bool) func(h *history.History) bool {
	return func(h *history.History) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool {
			return e.Kind == history.Return && e.Op == op && f(&e)
		})
	}
}

// Returned makes a goal: an operation that ended with that error.
func Returned(op string, want error) func(h *history.History) bool {
	return Answered(op, func(e *history.Event) bool { return errors.Is(e.Err, want) })
}

// Told makes a goal: a recipe reports something.
func Told(op string) func(h *history.History) bool {
	return func(h *history.History) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Told && e.Op == op })
	}
}

// expiredHolding reports whether a znode went with its session while its client held the lock by it.
func expiredHolding(h *history.History) bool {
	holding := map[string]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Acquired:
			holding[e.Path] = true
		case e.Kind == history.Deleted && e.Client == 0 && holding[e.Path]:
			return true
		case e.Kind == history.Released:
			clear(holding)
		}
	}
	return false
}

// longestQueue returns the most ephemerals that there were at once.
func longestQueue(h *history.History) int {
	now, most := 0, 0
	for i := range h.Events {
		e := &h.Events[i]
		if e.Session == 0 {
			continue
		}
		switch e.Kind {
		case history.Created:
			now++
		case history.Deleted:
			now--
		}
		most = max(most, now)
	}
	return most
}

// goalLostWrite is a lost reply after any write: what most recipes get wrong.
var goalLostWrite = engine.Goal{Name: "a lost reply after a write that was executed",
	Reached: LostAfter("", func(e *history.Event) bool { return Created(e) || Changed(e) || e.Kind == history.Deleted })}

// goalContended is the goal that a client has to wait for what another holds.
var goalContended = engine.Goal{Name: "a client that waits for what another holds", Reached: contended}

// contended reports whether a client got what another one held when it asked.
func contended(h *history.History) bool {
	held, waits := map[int32]bool{}, map[int32]bool{} // by object
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Invoke:
			waits[e.Object] = len(held) > 0
		case history.Acquired:
			if waits[e.Object] {
				return true
			}
			held[e.Object] = true
		case history.Released, history.Lost:
			delete(held, e.Object)
		}
	}
	return false
}

// goalHolderExpired is [GoalExpiry] for recipes that do not tell by which znode they hold.
var goalHolderExpired = engine.Goal{Name: GoalExpiry.Name, Reached: holderExpired}

// holderExpired reports whether an ephemeral of a client that held something went with its session.
func holderExpired(h *history.History) bool {
	author, holds := map[string]int32{}, map[int32]int32{}
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Created:
			author[e.Path] = e.Client
		case history.Acquired:
			holds[e.Client] = e.Object
		case history.Released:
			if holds[e.Client] == e.Object {
				delete(holds, e.Client)
			}
		case history.Deleted:
			if e.Client == 0 && e.Session != 0 && holds[author[e.Path]] != 0 {
				return true
			}
		}
	}
	return false
}

// mostHolders returns the most objects that held at once what an Acquired event says, counting the events for which
// such is true. The objects of a client that has crashed hold nothing. Nor do those of a client whose ephemeral went
// with its session, until it makes another one: if another client gets the lock before the first one knows, that does
// not show that two can have it.
func mostHolders(h *history.History, such func(e *history.Event) bool) (most int) {
	author, holder, ended := map[string]int32{}, map[int32]int32{}, map[int32]bool{} // holder is by object
	for i := range h.Events {
		e := &h.Events[i]
		gone := int32(0)
		switch {
		case e.Kind == history.Created && e.Session != 0:
			author[e.Path], ended[e.Client] = e.Client, false
		case e.Kind == history.Acquired && such(e) && !ended[e.Client]:
			holder[e.Object] = e.Client
		case e.Kind == history.Released, e.Kind == history.Lost:
			delete(holder, e.Object)
		case e.Kind == history.Crashed:
			gone = e.Client
		case e.Kind == history.Deleted && e.Session != 0 && e.Client == 0:
			gone = author[e.Path]
			ended[gone] = true
		}
		maps.DeleteFunc(holder, func(_, client int32) bool { return client == gone })
		most = max(most, len(holder))
	}
	return most
}

// lineages are the sessions of connections.
type lineages map[[2]int32]int64 // by client and connection

// end reports whether an event is the end of a session for the library that had it. The library was told so, or was
// given another session in its place, for example by a server that does not know former sessions.
func (l lineages) end(e *history.Event) bool {
	if e.Kind != history.Session {
		return false
	}
	line := [2]int32{e.Client, e.Version}
	before := l[line]
	switch {
	case e.Op == zk.StateExpired.String():
		delete(l, line)
		return true
	case e.Op == zk.StateHasSession.String():
		l[line] = e.Session
		return before != 0 && before != e.Session
	}
	return false
}
