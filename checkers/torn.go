package checkers

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"zksim/model/history"
)

// Torn is the promise of a configuration. Every update writes its own number into all values, and how many values there
// are. So values with different numbers, or not as many, are parts of more than one update. A set that somebody was
// given is in Path of the answer of "get", or of what a reader was told under the name "config", in the form "a=7/2
// b=7/2": update 7, two values.
type Torn struct{}

// Name implements [Checker].
func (Torn) Name() string { return "torn" }

// Doc implements [Checker].
func (Torn) Doc() string { return "nobody is given parts of two updates" }

// Needs implements [Declaring].
func (Torn) Needs() Needs {
	return Needs{
		Words: configWords(slices.Concat(
			judged("answered by a set of values in Path, such as a=7/2 b=7/2: update 7, two values", "get"),
			tells("a cached reader is told the set in Path", "config"))...),
		Seen: []Need{sets},
	}
}

// Check implements [Checker].
func (t Torn) Check(h *history.History) Verdict { return check(h, t) }

// Monitor implements [Monitored].
func (t Torn) Monitor() Monitor { return t }

// Step implements [Monitor].
func (t Torn) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if !given(e) || whole(e.Path) {
		return Verdict{}
	}
	if x := unnumbered(e.Path); x != "" {
		return violated(t, i, "c%d was given %s, and %s is a value of no update", e.Client, e.Path, x)
	}
	if by, number := leftBy(h, i); by != 0 {
		return violated(t, i, "update %d of c%d left %s, which is of more than one update, and c%d was given that",
			number, by, e.Path, e.Client)
	}
	return violated(t, i, "c%d was given %s, which is of more than one update", e.Client, e.Path)
}

// unnumbered returns the first value of a set that no update can have written, or "" if there is none.
func unnumbered(set string) string {
	for _, v := range strings.Fields(set) {
		var number, count int
		_, value, _ := strings.Cut(v, "=")
		if n, err := fmt.Sscanf(value, "%d/%d", &number, &count); n != 2 || err != nil {
			return v
		}
	}
	return ""
}

// leftBy returns the client and the number of the latest successful update that left the set which event i gives, as
// far as txns tell. It returns 0 if there is none: then the set is of the reader's own making.
func leftBy(h *history.History, i int) (by int32, number int64) {
	values, numbers := map[string]string{}, map[int32]int64{} // by path, and by object
	for k := range h.Events[:i] {
		switch e := &h.Events[k]; {
		case e.Kind == history.Created || e.Kind == history.Changed:
			values[e.Path] = e.Data
		case e.Kind == history.Deleted:
			delete(values, e.Path)
		case e.Kind == history.Invoke && e.Op == "update":
			numbers[e.Object] = e.Value
		case e.Kind == history.Return && e.Op == "update" && e.Err == nil:
			var set []string
			for p, data := range values { // order-free: sorted below
				if unnumbered(path.Base(p)+"="+data) == "" {
					set = append(set, path.Base(p)+"="+data)
				}
			}
			slices.Sort(set)
			if strings.Join(set, " ") == h.Events[i].Path {
				by, number = e.Client, numbers[e.Object]
			}
		}
	}
	return by, number
}

// Sees implements [Selective].
func (Torn) Sees(k history.Kind) bool { return k == history.Told || k == history.Return }

// Reset implements [Monitor].
func (Torn) Reset() {}

// given reports whether the event is a set of values that somebody was given.
func given(e *history.Event) bool {
	return e.Kind == history.Told && e.Op == "config" || e.Kind == history.Return && e.Op == "get" && e.Err == nil
}

// whole reports whether all values of a set are of one update. The empty set has none, and is whole.
func whole(set string) bool {
	values := strings.Fields(set)
	for _, v := range values {
		_, value, _ := strings.Cut(v, "=")
		_, first, _ := strings.Cut(values[0], "=")
		number, count, _ := strings.Cut(value, "/")
		if _, err := strconv.Atoi(number); err != nil || value != first || count != strconv.Itoa(len(values)) {
			return false
		}
	}
	return true
}
