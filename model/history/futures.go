package history

import (
	"fmt"
	"math"
	"strings"
)

// Futures has, for each step of a failing run, how many random futures that begin after it fail in the same way.
// Where the number jumps, something was decided. Futures is part of report.json.
type Futures struct {
	Of int `json:"of"` // futures that were tried each time
	// Failed is how many of them failed after no step, after the first step, and so on. After its last step nothing
	// changes any more, unless Cut is true.
	Failed []int `json:"failed"`
	// Cut says that later steps were not looked at, because that took too long.
	Cut bool `json:"cut"`
	// Step is the step that decides; 0: none does.
	Step int `json:"step"`
	// Name is the name of the transition of Step.
	Name string `json:"name"`
	// Since is the step from which on some of the futures fail, if there is one before Step.
	Since int `json:"since,omitempty"`
	// SinceName is the name of the transition of Since.
	SinceName string `json:"since_name,omitempty"`
}

// commonplace is a chance of failure. If random runs fail at least so often, no single step is to blame.
const commonplace = 0.5

// Decide fills in the step that decides: the first with the largest rise of the root of the count, so that a step
// that makes the failure likely counts for more than one that makes it certain. names has the names of all steps.
func (f *Futures) Decide(names []string) {
	f.Step, f.Name, f.Since, f.SinceName = 0, "", 0, ""
	if f.Chance(0) >= commonplace {
		return
	}
	best := 0.0
	for i := 1; i < len(f.Failed); i++ {
		if rise := root(f.Failed[i]) - root(f.Failed[i-1]); rise > best {
			best, f.Step, f.Name = rise, i, names[i-1]
		}
	}
	since := 0
	for i, n := range f.Failed[:f.Step] {
		if n == 0 {
			since = i + 1
		}
	}
	if 0 < since && since < f.Step {
		f.Since, f.SinceName = since, names[since-1]
	}
}

// Kind is the kind of the step that decides, its name without the client, such as lose-reply. It is "" if no single
// step decides, and "a later step" if one does that was not come to.
func (f *Futures) Kind() string {
	if f.Step == 0 && f.Cut && f.Chance(0) < commonplace {
		return "a later step"
	}
	kind, _, _ := strings.Cut(f.Name, " ")
	return kind
}

// root is Anscombe's transformation, which makes the noise of small and large counts alike.
func root(failed int) float64 { return math.Sqrt(float64(failed) + 0.375) }

// Chance returns the share of the futures after the first i steps that fail.
func (f *Futures) Chance(i int) float64 {
	return float64(f.Failed[min(i, len(f.Failed)-1)]) / float64(f.Of)
}

// Known reports whether the chance after the first i steps is known.
func (f *Futures) Known(i int) bool { return i < len(f.Failed) || !f.Cut }

// String says which step decides, or why no step does.
func (f *Futures) String() string {
	switch {
	case f.Step > 0:
		text := fmt.Sprintf("after %s, %s of the random futures fail, before it %s",
			f.Name, Percent(f.Chance(f.Step)), Percent(f.Chance(f.Step-1)))
		if f.Since > 0 {
			text += fmt.Sprintf("; none do before step %d, %s", f.Since, f.SinceName)
		}
		return text
	case f.Chance(0) >= commonplace:
		return fmt.Sprintf("no step decides it: %s of all random runs with no more faults fail", Percent(f.Chance(0)))
	case f.Cut:
		return fmt.Sprintf("a step after step %d, up to which %s of the random futures fail: to look further took too long",
			len(f.Failed)-1, Percent(f.Chance(len(f.Failed)-1)))
	}
	return "no step raises the chance of failure, which is " + Percent(f.Chance(0))
}

// Percent formats a chance.
func Percent(chance float64) string { return fmt.Sprintf("%.0f%%", 100*chance) }
