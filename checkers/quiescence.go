package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// Quiescence is the audit of a run that has come to rest: faults are over,
// nothing can happen any more, so nobody may be waiting.
type Quiescence struct{}

// Name implements [Checker].
func (Quiescence) Name() string { return "quiescence" }

// Doc implements [Checker].
func (Quiescence) Doc() string { return "when nothing can happen any more, nobody waits" }

// Monitor implements [Monitored].
func (Quiescence) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (q Quiescence) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet || len(h.Waiting) == 0 {
		return Verdict{}
	}
	x := cause(h)
	if len(x.Paths) == 0 {
		return violated(q, -1, "c%d waits for something that will never happen, and for no watch", x.Client)
	}
	var waits []string
	for _, p := range x.Paths {
		waits = append(waits, p+", "+state(h, p))
	}
	return violated(q, -1, "c%d waits for %s%s", x.Client, strings.Join(waits, " and "), chain(h, x))
}

// chain says what the one waits for that has what x waits for, and so on to the one that waits for nobody.
func chain(h *history.History, x history.Waiting) string {
	var b strings.Builder
	for seen := []int32{x.Client}; ; {
		owner := int32(0)
		for _, p := range x.Paths {
			if i := slices.IndexFunc(h.Tree, func(n history.Node) bool { return n.Path == p }); i >= 0 && h.Known[p] {
				owner = h.Sessions[h.Tree[i].Owner]
			}
		}
		i := slices.IndexFunc(h.Waiting, func(y history.Waiting) bool { return y.Client == owner })
		if i < 0 {
			return b.String()
		}
		x = h.Waiting[i]
		if slices.Contains(seen, owner) {
			b.WriteString(": a circle")
			return b.String()
		}
		seen = append(seen, owner)
		if len(x.Paths) == 0 {
			fmt.Fprintf(&b, "; c%d waits for no watch", owner)
			return b.String()
		}
		fmt.Fprintf(&b, "; c%d waits for %s, %s", owner, x.Paths[0], state(h, x.Paths[0]))
	}
}

// cause returns the first of those who wait that does not just wait for another
// who waits: if there is one, one that waits for a znode that is nobody's, rather than for something to happen to one
// that all share.
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
	for _, x := range h.Waiting {
		if !slices.ContainsFunc(x.Paths, func(p string) bool { return h.Known[p] }) {
			return x
		}
	}
	return h.Waiting[0]
}

// state says what there is to a znode that is waited for.
func state(h *history.History, path string) string {
	for _, n := range h.Tree {
		if n.Path != path {
			continue
		}
		owner := h.Sessions[n.Owner]
		switch {
		case n.Owner == 0:
			return "which is persistent"
		case h.Known[path]:
			return fmt.Sprintf("which c%d has", owner)
		case owner == 0:
			return "whose session is over"
		}
		return fmt.Sprintf("which no recipe object knows of; the live session of c%d owns it", owner)
	}
	return "which does not exist"
}
