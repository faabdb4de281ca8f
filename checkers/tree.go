package checkers

import (
	"slices"

	"zksim/model/history"
)

// Tree is the audit of the znodes at the end of a run: an ephemeral of a live
// session that no recipe object answers for stays until that session ends, and
// locks everyone out for as long.
type Tree struct{}

// Name implements [Checker].
func (Tree) Name() string { return "tree" }

// Doc implements [Checker].
func (Tree) Doc() string { return "no live session has a znode that no recipe object knows of" }

// Needs implements [Declaring].
func (Tree) Needs() Needs {
	return Needs{Seen: []Need{atRest,
		Need{What: "an ephemeral znode", Hint: "leave the checker out by Scenario.Without if the recipe makes none",
			In: func(h *history.History) bool {
				// without txns nobody knows whether there was one
				return h.Outcome == history.Quiet && (!h.Txns || slices.ContainsFunc(h.Events, func(e history.Event) bool {
					return e.Kind == history.Created && e.Session != 0
				}))
			}}.during()}}
}

// Monitor implements [Monitored].
func (Tree) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (t Tree) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	for _, n := range h.Tree {
		if c := h.Sessions[n.Owner]; n.Owner != 0 && c != 0 && !h.Known[n.Path] {
			return violated(t, -1, "%s stays behind: the live session of c%d owns it and no recipe object knows of it", n.Path,
				c)
		}
	}
	return Verdict{}
}
