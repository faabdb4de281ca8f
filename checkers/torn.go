package checkers

import (
	"fmt"
	"strings"

	"zksim/model/history"
)

// Torn is the promise of a configuration. Every update writes its own number into
// all values, and how many there are; so values with different numbers, or not as
// many, are parts of more than one update. A set that somebody was given is in
// Path of the answer of "get", or of what a reader was told under the name
// "config", as "a=7/2 b=7/2": update 7, two values.
type Torn struct{}

// Name implements [Checker].
func (Torn) Name() string { return "torn" }

// Doc implements [Checker].
func (Torn) Doc() string { return "nobody is given parts of two updates" }

// Check implements [Checker].
func (t Torn) Check(h *history.History) Verdict { return check(h, t) }

// Monitor implements [Monitored].
func (t Torn) Monitor() Monitor { return t }

// Step implements [Monitor].
func (t Torn) Step(h *history.History, i int) Verdict {
	if e := &h.Events[i]; given(e) && !whole(e.Path) {
		return violated(t, i, "c%d was given %s, which is of more than one update", e.Client, e.Path)
	}
	return Verdict{}
}

// Sees implements [Selective].
func (Torn) Sees(k history.Kind) bool { return k == history.Told || k == history.Return }

// Reset implements [Monitor].
func (Torn) Reset() {}

// given reports whether the event is a set of values that somebody was given.
func given(e *history.Event) bool {
	return e.Kind == history.Told && e.Op == "config" || e.Kind == history.Return && e.Op == "get" && e.Err == nil
}

// whole reports whether a set is of one update. The empty set is of none.
func whole(set string) bool {
	values := strings.Fields(set)
	for _, v := range values {
		_, number, _ := strings.Cut(v, "=")
		_, first, _ := strings.Cut(values[0], "=")
		_, count, _ := strings.Cut(number, "/")
		if number != first || count != fmt.Sprint(len(values)) {
			return false
		}
	}
	return true
}
