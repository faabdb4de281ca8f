package catalog

import (
	"context"
	"testing"

	"zksim/faults"
	"zksim/scenarios/engine"
)

// TestCorrectScenariosNeedNoClocksThatAgree puts clocks ahead in each correct scenario whose code looks at one: it
// holds.
func TestCorrectScenariosNeedNoClocksThatAgree(t *testing.T) {
	run := func(s *engine.Scenario, last uint64) engine.Report {
		rep, err := engine.Run(context.Background(), s, engine.Options{Seeds: engine.Range{First: 1, Last: last}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %s, %v", s.Name, outcome(rep), err)
		}
		return rep
	}
	looks := 0
	for _, s := range All {
		if s.Broken() || run(&s, 10).Clocks == 0 {
			continue
		}
		looks++
		s = s.WithPlan(faults.MustParse("skew=3"))
		if rep := run(&s, 500); rep.Rules[0].Strikes == 0 {
			t.Errorf("%s: no clock was put ahead", s.Name)
		}
	}
	if looks == 0 {
		t.Error("no scenario's code looks at its clock")
	}
	t.Logf("%d scenarios", looks)
}
