package scenarios

import (
	"cmp"
	"strings"
	"time"

	"zksim/scenarios/herd"
	"zksim/scenarios/prove"
)

// Bounds say how much of a scenario Prove explores.
type Bounds = prove.Bounds

// The limits of a proof in a test: a time, and bytes.
const (
	proofTime   = time.Minute
	proofMemory = 2 << 30
)

// Prove explores all schedules of a scenario within each of the bounds, or within those of the zero Bounds if none
// are given: two clients, one round, two lost messages and the end of a session. The test fails as that of [Check]
// does when something does not hold, or a mutant holds; and when there is too much to explore in a minute
// (flag -zksim.for). The log has the certificate. With -zksim.schedule it replays that one schedule.
func Prove(t T, s Scenario, bounds ...Bounds) {
	t.Helper()
	if *scheduleFlag != "" {
		replay(t, &s, *scheduleFlag)
		return
	}
	_, limit, _, err := options()
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	if len(bounds) == 0 {
		bounds = []Bounds{{}}
	}
	for _, b := range bounds {
		if !proved(t, &s, b, cmp.Or(limit, proofTime)) {
			return
		}
	}
}

// proved explores one scope, and reports whether the test goes on.
func proved(t T, s *Scenario, b Bounds, limit time.Duration) bool {
	t.Helper()
	sc, err := b.Of(s)
	if err != nil {
		t.Fatalf("%v", err)
		return false
	}
	ctx, cancel := within(t, limit)
	defer cancel()
	r, err := prove.Prove(ctx, sc, prove.Options{Reductions: prove.Every, Memory: proofMemory})
	switch {
	case err != nil:
		t.Fatalf("%s: %v", s.Name, err)
	case r.Outcome == prove.Violated && !s.Broken():
		fail(t, s, r.Counterexample, "exhaustive search")
	case r.Outcome == prove.Holds && len(r.Never) > 0 && !s.Broken():
		t.Fatalf("%s: in no schedule within these bounds it holds that: %s\n%s", s.Name, strings.Join(r.Never, "; "),
			r.Certificate.String())
	case r.Outcome == prove.Inconclusive || s.Broken() != (r.Outcome == prove.Violated):
		t.Fatalf("%s", r.Certificate.String())
	default:
		t.Logf("%s", r.Certificate.String())
		return true
	}
	return false
}

// Herd measures how many clients a variant wakes, with 2 to 320 of them, and fails the test if a claim is broken:
//
//	scenarios.Herd(t, herd.Locks("my/lock", newMyLock), herd.PerEvent(1), herd.SlopeBelow(0.1))
func Herd(t T, v herd.Variant, claims ...herd.Claim) {
	t.Helper()
	herd.Check(t, v, claims...)
}
