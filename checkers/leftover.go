package checkers

import (
	"path"
	"slices"

	"zksim/model/history"
)

// Leftover is the promise of recipes about the persistent znodes that they make. When a run has come to rest and every
// client's program has ended, only those that match one of Stay are left. Runs in which a client has crashed or given
// up are not judged: what was its own waits for it to come back.
type Leftover struct {
	Stay []string // patterns of [path.Match]
}

// Name implements [Checker].
func (Leftover) Name() string { return "leftover" }

// Doc implements [Checker].
func (Leftover) Doc() string {
	return "when all clients are done, no persistent znode is left that nobody needs"
}

// Needs implements [Declaring].
func (Leftover) Needs() Needs {
	return Needs{Seen: []Need{Need{What: "a run that comes to rest, in which no client crashes or fails",
		Hint: "see why no run does, or raise Scenario.MaxSteps; on real servers a run has a minute",
		In:   allDone}.during()}}
}

// Monitor implements [Monitored].
func (Leftover) Monitor() Monitor { return atEnd{} }

// Check implements [Checker].
func (c Leftover) Check(h *history.History) Verdict {
	if !allDone(h) {
		return Verdict{}
	}
	for _, n := range h.Tree {
		if n.Owner == 0 && n.Path != "/" && !matches(c.Stay, n.Path) {
			return violated(c, -1, "%s is left when all clients are done, and nobody needs it", n.Path)
		}
	}
	return Verdict{}
}

// matches reports whether a path matches one of the patterns.
func matches(patterns []string, znode string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, znode)
		return ok && err == nil
	})
}

// allDone reports whether the run has come to rest and every client's program has ended without a crash or failure.
func allDone(h *history.History) bool {
	crash := func(e history.Event) bool { return e.Kind == history.Crashed } // in the background, too
	if h.Outcome != history.Quiet || len(h.Failed) > 0 || slices.ContainsFunc(h.Events, crash) {
		return false
	}
	for c := 1; c <= h.Clients; c++ {
		if !h.Finished[c] {
			return false
		}
	}
	return true
}
