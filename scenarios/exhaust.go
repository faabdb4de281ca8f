package scenarios

import (
	"fmt"
	"strings"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// SearchBounds are the bounds of [Exhaust].
type SearchBounds = engine.Bounds

// bySearch is where a row of the index comes from that has no seeds.
const bySearch = "search"

// Exhaust runs a scenario under every schedule that differs from a fair one by at most as many faults and delays as the
// bounds say: see [SearchBounds]. It is for code whose states cannot be remembered. The test fails when something does
// not hold, as in [Check], when the code leaves the simulator, when the bounds are not closed, when runs of the same
// choices differ, when a sentence of Process.Sometimes holds in no run, and when a rule of the plan can strike in none.
// The log names the checkers that had nothing to judge within the bounds.
func Exhaust(t T, s Scenario, b SearchBounds) {
	t.Helper()
	if file := scheduleFlag.String(); file != "" {
		replay(t, &s, file)
		return
	}
	if err := setLike(&s); err != nil {
		t.Fatalf("%v", err)
		return
	}
	ctx, cancel := within(t, 0)
	defer cancel()
	r := newRecord(t, &s, bySearch)
	r.begin()
	t.Cleanup(r.keep)
	x, err := engine.Exhaust(ctx, &s, b)
	says := x.String() + s.Like.Clause()
	switch {
	case err != nil:
		r.unfit(err)
		t.Fatalf("%s", named(&s, err))
	case x.Failure != nil && s.Broken():
		r.to(engine.Caught, says)
		t.Logf("%s caught by %s, %s", s.Name, x.Failure.Verdict.Checker, says)
	case x.Failure != nil:
		r.to(engine.Violation, says)
		r.fail(t, x.Failure, "exhaustive search", "")
	case x.Missed > 0:
		r.to(engine.Nondeterministic, says)
		t.Fatalf("%s: %d of %d runs were not those which their choices were found in, so nothing is closed", s.Name,
			x.Missed, x.Made)
	case ctx.Err() != nil && x.Doubt == "" && !x.Closed:
		r.to(engine.Inconclusive, says)
		t.Fatalf("%s: the time was up before all was done: %s", s.Name, says)
	case x.Doubt != "" || !x.Closed:
		r.to(engine.Inconclusive, says)
		t.Fatalf("%s: %s", s.Name, joined(says, x.Doubt))
	case s.Broken():
		r.to(engine.Escaped, says)
		t.Fatalf("%s: not caught in %s", s.Name, says)
	case x.Unmet != "":
		r.to(engine.Inconclusive, joined(says, x.Unmet))
		t.Fatalf("%s: %s; %s", s.Name, says, x.Unmet)
	default:
		r.to(engine.Held, says)
		t.Logf("%s held in %s%s%s", s.Name, says, line("checkers", checkers.NamesOf(s.Judges())), notJudged(x.Idle))
	}
}

// notJudged returns the line below a sentence that names the checkers which had nothing to judge; "" if there are none.
func notJudged(idle []engine.Idle) string {
	list := make([]string, len(idle))
	for i, x := range idle {
		list[i] = x.String()
	}
	return line(engine.NotJudged, list)
}

// line returns a list as a line below a sentence; "" if it is empty.
func line(label string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("\n    %-10s %s", label, strings.Join(list, ", "))
}

// joined joins two clauses; the second may be empty.
func joined(a, b string) string {
	if b == "" {
		return a
	}
	return fmt.Sprintf("%s; %s", a, b)
}
