package main

import (
	"fmt"
	"strings"

	"zksim/scenarios"
)

// tally counts outcomes.
type tally [7]int

// codes are the exit statuses that outcomes ask for.
var codes = [7]int{
	scenarios.Held: exitHeld, scenarios.Caught: exitHeld, scenarios.Violation: exitViolation,
	scenarios.Escaped: exitViolation, scenarios.Inconclusive: exitInconclusive,
	scenarios.Nondeterministic: exitNondeterministic, scenarios.Misused: exitUsage,
}

// count adds an outcome and returns the exit status it asks for.
func (t *tally) count(r scenarios.Report) int {
	t[r.Status]++
	return codes[r.Status]
}

// code is the exit status for all: that two runs of one seed differ makes every
// other result worthless, client code that leaves the simulator those of its scenario, and a violation
// is worse than not to know.
func (t *tally) code() int {
	switch {
	case t[scenarios.Nondeterministic] > 0:
		return exitNondeterministic
	case t[scenarios.Misused] > 0:
		return exitUsage
	case t[scenarios.Violation]+t[scenarios.Escaped] > 0:
		return exitViolation
	case t[scenarios.Inconclusive] > 0:
		return exitInconclusive
	}
	return exitHeld
}

// summary is the last line.
func (t *tally) summary(selected int) string {
	labels := [7]string{"held", "caught", "violated", "escaped", "inconclusive", "nondeterministic", "misused"}
	var parts []string
	sum := 0
	for i, n := range t {
		if sum += n; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, labels[i]))
		}
	}
	if sum < selected {
		parts = append(parts, fmt.Sprintf("%d not run", selected-sum))
	}
	return fmt.Sprintf("%d scenarios: %s", selected, strings.Join(parts, ", "))
}
