// Package checkers judges histories. A checker is one property in one file. It sees what was recorded and nothing of
// the machine that recorded it, so the same checkers judge simulated and real runs.
package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// Level is the outcome of a check, from good to bad.
type Level uint8

// The levels, in the order in which the worst wins.
const (
	OK Level = iota
	Unknown
	Violated
)

// String returns "ok", "unknown" or "violated".
func (l Level) String() string { return [...]string{"ok", "unknown", "violated"}[l] }

// Verdict is what a checker says about a history.
type Verdict struct {
	Level   Level
	Checker string
	Message string // one sentence; empty when ok
	Event   int    // position in the history where it shows; -1 at its end
}

// String returns the checker and what it says, such as "belief: c1 believes that ...".
func (v Verdict) String() string {
	if v.Checker == "" {
		return v.Message
	}
	return v.Checker + ": " + v.Message
}

// Checker is one property of histories.
type Checker interface {
	// Name is short and stable, such as "quiescence".
	Name() string
	// Doc is the property in one sentence.
	Doc() string
	// Check judges h, and must not change it. If it needs txns, h has them ([Judges]). A search shows it only one of
	// the runs that have the same events in the same order, so it should not count their steps.
	Check(h *history.History) Verdict
}

// VerdictOf returns what a checker says about a history that it can judge. It fills in the name of the checker, and
// makes sure that the level and the event exist: a user's checker may leave out the name, or count past the last event.
func VerdictOf(c Checker, h *history.History) Verdict {
	v := c.Check(h)
	v.Checker = c.Name()
	if v.Event < 0 || v.Event >= len(h.Events) {
		v.Event = -1
	}
	if v.Level > Violated {
		v.Level, v.Message = Violated, fmt.Sprintf("the checker returns an unknown level %d: %s", v.Level, v.Message)
	}
	return v
}

// Worst returns the worst verdict of the checkers that can judge the history, the first of equals. A run that panicked,
// or in which an assertion failed ([Always]), is violated whatever they say.
func Worst(h *history.History, all []Checker) Verdict {
	if h.Outcome == history.Panicked {
		why, _, _ := strings.Cut(h.Panic, "\n")
		return Verdict{Violated, "panic", why, -1}
	}
	worst := Always{}.Check(h)
	if worst.Level == Violated {
		return worst
	}
	for _, c := range all {
		if !Judges(c, h) {
			continue
		}
		if v := VerdictOf(c, h); v.Level > worst.Level {
			worst = v
		}
		if worst.Level == Violated {
			break
		}
	}
	return worst
}

// Caught returns the verdict of the first of the named checkers that finds a
// violation, and whether there is one.
func Caught(h *history.History, all []Checker, names []string) (Verdict, bool) {
	if name := (Always{}).Name(); slices.Contains(names, name) {
		if v := (Always{}).Check(h); v.Level == Violated {
			return v, true
		}
	}
	for _, c := range all {
		if slices.Contains(names, c.Name()) && Judges(c, h) {
			if v := VerdictOf(c, h); v.Level == Violated {
				return v, true
			}
		}
	}
	return Verdict{}, false
}

// NamesOf returns the names of checkers, in their order.
func NamesOf(all []Checker) []string {
	list := make([]string, len(all))
	for i, c := range all {
		list[i] = c.Name()
	}
	return list
}

// violated makes the verdict of checker c at event i.
func violated(c Checker, i int, format string, args ...any) Verdict {
	return Verdict{Violated, c.Name(), fmt.Sprintf(format, args...), i}
}
