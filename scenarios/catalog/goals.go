package catalog

import (
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Goals of several recipes.
var (
	goalLostCreate = engine.Goal{Name: "a lost reply after a create", Reached: lostAfter("create", created)}
	goalLostMulti  = engine.Goal{Name: "a lost reply after a multi", Reached: lostMulti("")}
	goalExpiry     = engine.Goal{Name: "a session that ends while its client holds the lock", Reached: expiredHolding}
	goalQueue      = engine.Goal{Name: "three clients in the queue", Reached: func(h *history.History) bool { return longestQueue(h) >= 3 }}
)

// lostAfter makes a goal: a call of an operation, any if op is empty, that had the effect
// and whose client was told that the connection is lost.
func lostAfter(op string, effect func(e *history.Event) bool) func(h *history.History) bool {
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

func created(e *history.Event) bool { return e.Kind == history.Created }
func changed(e *history.Event) bool { return e.Kind == history.Changed }

// lostMulti makes a goal: lostAfter for a multi within that operation of a recipe, any if
// op is empty.
func lostMulti(op string) func(h *history.History) bool {
	return func(h *history.History) bool {
		doing := map[int32]string{}
		return lostAfter("multi", func(e *history.Event) bool {
			if e.Kind == history.Invoke {
				doing[e.Client] = e.Op
			}
			txn := created(e) || changed(e) || e.Kind == history.Deleted
			return txn && (op == "" || doing[e.Client] == op)
		})(h)
	}
}

// answered makes a goal of an answer of the operation op.
func answered(op string, f func(e *history.Event) bool) func(h *history.History) bool {
	return func(h *history.History) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Return && e.Op == op && f(&e) })
	}
}

// returned makes a goal: an operation that ended with that error.
func returned(op string, want error) func(h *history.History) bool {
	return answered(op, func(e *history.Event) bool { return errors.Is(e.Err, want) })
}

// told makes a goal: a recipe says something.
func told(op string) func(h *history.History) bool {
	return func(h *history.History) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Told && e.Op == op })
	}
}

// expiredHolding reports whether a znode went with its session while its client held the
// lock by it.
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

// longestQueue returns how many ephemerals there were at once.
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
