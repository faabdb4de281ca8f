package checkers

import (
	"fmt"
	"slices"

	"zksim/model/history"
)

// Quiescence is the audit of a run that has come to rest: the faults are over and nothing can happen any more, so
// nobody may be waiting.
type Quiescence struct{}

// Name implements [Checker].
func (Quiescence) Name() string { return "quiescence" }

// Doc implements [Checker].
func (Quiescence) Doc() string { return "when nothing can happen any more, nobody waits" }

// Needs implements [Declaring].
func (Quiescence) Needs() Needs { return Needs{Seen: []Need{atRest}} }

// Monitor implements [Monitored].
func (Quiescence) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (q Quiescence) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet || len(h.Waiting) == 0 {
		return Verdict{}
	}
	return violated(q, -1, "%s", sentence(Chain(h)))
}

// cause returns the first of those that do not just wait for another that waits. It prefers one that waits for a znode
// that is nobody's to one that waits for something to happen to a znode that all share. It also prefers a program to
// what the program has started, which may have nothing to do but wait.
func cause(h *history.History) history.Waiting {
	for _, x := range h.Waiting {
		orphaned := func(p string) bool {
			i := slices.IndexFunc(h.Tree, func(n history.Node) bool { return n.Path == p })
			return i >= 0 && h.Tree[i].Owner != 0 && !h.Known[p]
		}
		if slices.ContainsFunc(x.Paths, orphaned) {
			return x
		}
	}
	alone := func(x history.Waiting) bool {
		return !slices.ContainsFunc(x.Paths, func(p string) bool { return h.Known[p] })
	}
	program := func(x history.Waiting) bool { return alone(x) && x.Where == "" }
	k := slices.IndexFunc(h.Waiting, program)
	if k < 0 {
		k = slices.IndexFunc(h.Waiting, alone)
	}
	return h.Waiting[max(k, 0)]
}

// state describes a znode that a client waits for.
func state(h *history.History, path string, client int32) string {
	for _, n := range h.Tree {
		if n.Path != path {
			continue
		}
		owner := h.Sessions[n.Owner]
		switch {
		case n.Owner == 0:
			return "which is persistent"
		case h.Known[path] && owner == client:
			return "which it has itself"
		case h.Known[path]:
			return fmt.Sprintf("which c%d has", owner)
		case owner == 0:
			return "whose session is over"
		}
		return fmt.Sprintf("which no recipe object knows of; the live session of c%d owns it", owner)
	}
	return "which does not exist"
}
