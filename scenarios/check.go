package scenarios

import (
	"cmp"
	"fmt"
	"strings"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Check runs a scenario in a test. It replays the schedules that are committed for the scenario (see [Corpus]), then
// runs seeds on all cores (flag -zksim.seeds, 1-500 by default), then all schedules of a small scope. With
// -zksim.schedule it only replays that schedule. A test may have several checks: a check ignores the schedule of
// another scenario, and the test fails if all of them ignore it.
//
// The test fails when something does not hold, when a mutant is not caught, when a goal is not reached, and when
// nothing was tried: see [engine.Coverage]. With -zksim.shard, a part of the seeds cannot decide the last three: they
// are only logged, and the small scope is not searched. The test also fails when client code is seen to wait, start
// goroutines or tell time other than through its Conn and Env. For a violation the log has the shortest schedule, step
// by step, and the step that decides. Check also writes a page about it, writes the schedule below testdata, and prints
// a command that replays it, which it has tried. If all is well the log says what happened in the runs. With -zksim.out
// or -artifacts the folder has an index.html of all checks, proofs and so on that left their results there.
//
//	func TestMyLock(t *testing.T) {
//		scenarios.Check(t, scenarios.Scenario{Name: "my/lock", Clients: 3, Program: ..., Checkers: ...})
//	}
func Check(t T, s Scenario) {
	t.Helper()
	if file := scheduleFlag.String(); file != "" {
		replay(t, &s, file)
		return
	}
	o, limit, limited, err := options()
	if err == nil {
		err = cmp.Or(setLike(&s), s.Valid())
	}
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	logShard(t)
	ctx, cancel := within(t, limit)
	defer cancel()
	r := newRecord(t, &s, "")
	r.begin()
	t.Cleanup(r.keep)
	if !replayCorpus(t, r) {
		return
	}
	x, err := pipeline.Run(ctx, &s, o)
	if err == nil || x.Status == engine.Misused {
		r.is(x.Row(&s, x.Says()), "")
	} else {
		r.row.Says = err.Error()
	}
	switch {
	case err != nil:
		t.Fatalf("%v", err)
	case x.Cut && !limited && x.Status != engine.Violation && x.Status != engine.Nondeterministic:
		t.Fatalf("%s: the time was up before all was done, after %s%s", s.Name, history.Counted(x.Runs, "run"), summary(&x))
	case x.Status == engine.Held:
		t.Logf("%s held in %s%s%s%s", s.Name, history.Counted(x.Runs, "run"), s.Like.Clause(), x.Certain(), summary(&x))
	case x.Status == engine.Caught:
		t.Logf("%s caught by %s, %s%s", s.Name, x.Failure.Verdict.Checker, x.Where(), summary(&x))
	case x.Status == engine.Violation:
		r.fail(t, &x.Failure, x.Where(), "")
	case o.Shards > 0 && onlyTheWholeTells(&x.Report):
		missing := cmp.Or(x.Why, x.Says())
		t.Logf("%s: %s in one of %s: only all seeds can tell, as those of a check without -zksim.shard%s", s.Name,
			missing, history.Counted(o.Shards, "part"), summary(&x))
	case x.Status == engine.Escaped:
		t.Fatalf("%s: %s", s.Name, x.Says())
	default:
		t.Fatalf("%s: %s%s%s", s.Name, x.Why, barred(&x.Report), summary(&x))
	}
}

// onlyTheWholeTells reports whether no run of a part is wrong, but its runs alone do not show all that a scenario's
// runs must.
func onlyTheWholeTells(rep *engine.Report) bool {
	return rep.Status == engine.Escaped || rep.Status == engine.Inconclusive && rep.Part.Doubt == nil
}

// barred says how to leave out faults that the code cannot meet.
func barred(rep *engine.Report) string {
	if len(rep.Barred) == 0 || rep.Scenario.Outside != nil {
		return ""
	}
	return fmt.Sprintf("\n    if this code can never meet them, say so by Plan.Except(\"%s\")",
		strings.Join(rep.Barred, `", "`))
}

// summary returns what the runs have covered, as lines below a sentence.
func summary(x *pipeline.Outcome) (text string) {
	for _, line := range x.Summary() {
		text += "\n    " + line
	}
	return text
}

// indented returns the lines of a stack, indented below a sentence; "" if there are none.
func indented(stack string) string {
	if stack == "" {
		return ""
	}
	return fmt.Sprintf("\n    %s", strings.ReplaceAll(stack, "\n", "\n    "))
}
