package simrun

import (
	"fmt"
	"strings"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// tally counts outcomes.
type tally [len(pipeline.Words)]int

// codes are the exit statuses that outcomes ask for.
var codes = [len(pipeline.Words)]int{
	engine.Held: exitHeld, engine.Caught: exitHeld, engine.Violation: exitViolation,
	engine.Escaped: exitViolation, engine.Inconclusive: exitInconclusive,
	engine.Nondeterministic: exitNondeterministic, engine.Misused: exitUsage,
}

// count adds an outcome and returns the exit status it asks for.
func (t *tally) count(s engine.Status) int {
	t[s]++
	return codes[s]
}

// worse lists the outcomes that are not good, the worst first. Two runs of one seed that differ make every other result
// worthless, and client code that leaves the simulator makes the results of its scenario worthless. A violation is
// worse than not knowing.
var worse = []engine.Status{engine.Nondeterministic, engine.Misused, engine.Violation, engine.Escaped,
	engine.Inconclusive}

// worst is the worst of all outcomes, Held if none is worse.
func (t *tally) worst() engine.Status {
	for _, s := range worse {
		if t[s] > 0 {
			return s
		}
	}
	return engine.Held
}

// leave counts as held what the merge has to judge: another part may have reached a goal that this one has not.
func (t *tally) leave(left tally) {
	for status, n := range left {
		t[status] -= n
		t[engine.Held] += n
	}
}

// leftLine says, in a line before the last one, what a part has left to the merge; "" if nothing.
func leftLine(left tally) string {
	parts, sum := left.parts()
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("left    %s: %s\n", strings.Join(parts, ", "), onlyMerge)
}

// onlyMerge is why a part has no verdict on a scenario.
const onlyMerge = "only the merge of all parts can tell"

// parts says how many there are of each outcome, and returns how many there are in all.
func (t *tally) parts() (parts []string, sum int) {
	for i, n := range t {
		if sum += n; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, pipeline.Words[i]))
		}
	}
	return parts, sum
}

// summary is the last line.
func (t *tally) summary(selected int) string {
	parts, sum := t.parts()
	if sum < selected {
		parts = append(parts, fmt.Sprintf("%d not run", selected-sum))
	}
	return fmt.Sprintf("%s: %s", history.Counted(selected, "scenario"), strings.Join(parts, ", "))
}
