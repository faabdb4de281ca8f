package simrun

import (
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/ensemble"
)

func TestAStoreThatFailsIsNoReasonToStop(t *testing.T) {
	s := catalog.Named("lock/lock")
	x := &liveCheck{checkFlags: &checkFlags{}}
	x.out = t.TempDir()
	r := &liveResult{status: engine.Held}
	step := func(seed uint64, run ensemble.LiveRun, want bool) {
		t.Helper()
		if over, err := x.judge(t.Context(), s, r, seed, &run, nil); err != nil || over != want {
			t.Fatalf("seed %d: over %v, %v", seed, over, err)
		}
	}
	step(1, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.OK}}, false)
	step(2, ensemble.LiveRun{Store: "zxids out of order"}, false)
	step(3, ensemble.LiveRun{Store: "a txn is missing"}, false)
	step(4, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.OK}}, false)
	if r.status != engine.Inconclusive || r.says != "the store, not your recipe: zxids out of order" || r.runs != 4 ||
		len(r.aborted) != 2 || !strings.HasPrefix(r.aborted[1], "seed 3: the store, ") {
		t.Errorf("%+v", r)
	}
	if r.store == nil || r.store.err != nil || !strings.HasPrefix(r.store.dir, x.out) {
		t.Errorf("%+v", r.store)
	}
	step(5, ensemble.LiveRun{Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "fenced"}}, true)
	if r.status != engine.Violation || r.seed != 5 || r.run.Verdict.Checker != "fenced" {
		t.Errorf("%+v", r)
	}
}

func TestARunThatJudgesNothingIsNotTheLast(t *testing.T) {
	s := catalog.Named("monitor/asked")
	x := &liveCheck{checkFlags: &checkFlags{}}
	r := &liveResult{status: engine.Held}
	nothing := checkers.Verdict{Level: checkers.Unknown, Checker: "overdue", Message: "judged nothing"}
	for seed, level := range []checkers.Verdict{nothing, nothing, {Level: checkers.OK}, nothing} {
		over, err := x.judge(t.Context(), s, r, uint64(seed), &ensemble.LiveRun{Verdict: level}, nil)
		if silent := seed < 2; over || err != nil || r.silent(s) != silent {
			t.Errorf("seed %d: over %v, %v, silent %v", seed, over, err, r.silent(s))
		}
		if want := seed < 2; (r.status == engine.Inconclusive) != want {
			t.Errorf("seed %d: %v: %s", seed, r.status, r.says)
		}
	}
}
