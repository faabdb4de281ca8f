package scenarios

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"zksim/internal/pipeline"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
	"zksim/scenarios/prove"
)

// Bounds say how much of a scenario Prove explores. "go doc zksim/scenarios/prove Bounds" says more of each field, and
// lists those that are missing here.
//
//	Clients   how many there are; 0: two; less than 0: as many as the scenario has
//	Rounds    how often each repeats what it does; 0: once; less than 0: as often as in the scenario
//	Servers   1, or 3 with lagging followers; 0: the fewest of the scenario
//	Faults    a plan, such as "lose-reply=1 expire=1"; "": see Prove
//	Most      how many faults there are in one run, at most; 0: as many as the plan allows; less than 0: none
//	Checkers  the names of the checkers that judge; empty: all
type Bounds = prove.Bounds

// The limits of a proof in a test: its time, and its memory in bytes.
const (
	proofTime   = time.Minute
	proofMemory = 2 << 30
)

// Prove explores all schedules of a scenario within each of the bounds. Without bounds it takes the zero Bounds: two
// clients, one round, and of two lost messages and the end of a session (disconnect=2 expire=1) those that the
// scenario's plan has. If the plan has neither, the Bounds must name the faults. A mutant meets its whole plan, with
// one fault more at a time. The test fails like that of [Check] when something does not hold, or a mutant holds. It
// also fails when no schedule reaches a sentence of Process.Sometimes, for example because it needs more rounds, and
// when a minute (flag -zksim.for) is too short. The log has the certificate, as does the index, and what the proof
// leaves out, such as slow code unless the Bounds have SlowWakes. With -zksim.schedule it only replays that schedule.
func Prove(t T, s Scenario, bounds ...Bounds) {
	t.Helper()
	if file := scheduleFlag.String(); file != "" {
		replay(t, &s, file)
		return
	}
	_, limit, _, err := options()
	if err = cmp.Or(err, setLike(&s)); err != nil {
		t.Fatalf("%v", err)
		return
	}
	if len(bounds) == 0 {
		bounds = []Bounds{{}}
	}
	r := newRecord(t, &s, byProve)
	r.begin()
	t.Cleanup(r.keep)
	var says []string
	for _, b := range bounds {
		if !r.proved(t, b, cmp.Or(limit, proofTime)) {
			return
		}
		says = append(says, r.row.Says)
	}
	r.row.Says = strings.Join(says, "\n")
}

// proved explores one scope, and reports whether the test goes on.
func (r *record) proved(t T, b Bounds, limit time.Duration) bool {
	t.Helper()
	s := r.s
	sc, err := b.Of(s)
	if err == nil && b.Faults == "" && b.Most >= 0 && len(sc.Faults) == 0 && len(s.Faults) > 0 {
		err = fmt.Errorf("%s: none of the faults of %q is in %q, which Prove takes: expected Bounds.Faults, or Bounds.Most "+
			"below 0 for a proof without faults", s.Name, s.Faults, prove.Losses)
	}
	if err != nil {
		r.row.Says = err.Error()
		t.Fatalf("%v", err)
		return false
	}
	ctx, cancel := within(t, limit)
	defer cancel()
	x, err := prove.Prove(ctx, sc, prove.Options{Reductions: prove.Every, Memory: proofMemory})
	if err != nil {
		r.unfit(err)
	} else {
		r.is(pipeline.Proved(s, &x), byProve)
	}
	switch status := pipeline.StatusOf(r.row); {
	case err != nil:
		t.Fatalf("%s", named(s, err))
	case status == engine.Violation:
		judged, found := pipeline.Found(s, &x)
		r.s = judged
		r.fail(t, found, pipeline.BySearch, "")
	case x.Outcome == prove.Holds && len(x.Never) > 0 && !s.Broken():
		t.Fatalf("%s: no schedule within these bounds reaches: %s\n    %s", s.Name, strings.Join(x.Never, "; "),
			x.Certificate.String())
	case status == engine.Inconclusive || status == engine.Escaped:
		says := x.Certificate.String()
		if ordered := sc.Ordered(); ordered != "" {
			says += "\n    " + ordered
		}
		t.Fatalf("%s", says)
	default:
		t.Logf("%s%s", x.Certificate.String(), bounded(s, &sc, &x))
		return true
	}
	return false
}

// bounded says which checkers a proof is about, and what it leaves out, as lines below a sentence; "" if it has found
// something.
func bounded(s *Scenario, sc *prove.Scope, x *prove.Result) (text string) {
	if x.Outcome != prove.Holds {
		return ""
	}
	text = "\n    checkers: " + strings.Join(x.Checkers, ", ") + "\n    not in it: " + sc.Outside(s)
	for _, rule := range x.Unstruck {
		text += "\n    not struck: " + rule
	}
	for _, checker := range x.Idle {
		text += "\n    not proved: " + checker
	}
	return text
}

// Herd measures how many clients a variant wakes, with 2 to 320 clients, and fails the test if a claim is broken, or if
// the code leaves the simulator. With -zksim.out or -artifacts the index has the measurement.
//
//	scenarios.Herd(t, herd.Locks("my/lock", newMyLock), herd.PerEvent(1), herd.SlopeBelow(0.1))
func Herd(t T, v herd.Variant, claims ...herd.Claim) {
	t.Helper()
	r := newRecord(t, &Scenario{Name: v.Name, Doc: v.Doc}, byHerd)
	r.begin()
	t.Cleanup(r.keep)
	measured, broken, err := herd.Try(&v, claims...)
	switch {
	case err != nil:
		r.unfit(err)
		t.Fatalf("%s", named(r.s, err))
	case broken != "":
		r.to(engine.Violation, broken+"; measured "+measured)
		t.Fatalf("%s: %s", v.Name, broken)
	default:
		r.to(engine.Held, "measured "+measured)
		t.Logf("%s: measured %s", v.Name, measured)
	}
}
