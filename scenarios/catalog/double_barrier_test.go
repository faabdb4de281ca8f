package catalog

import (
	"context"
	"testing"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// Without their flaws the mutants are correct under the faults that wake the flaws.
func TestMutantsOfBarriersHoldWithoutTheirFlaws(t *testing.T) {
	var sound []engine.Scenario
	for _, s := range barrierScenarios {
		if s.Broken() {
			s.Caught, s.Program = nil, barrierRelay(0)
			sound = append(sound, s)
		}
	}
	for _, x := range []struct {
		faults string
		rounds int
		m      workload.Meeting
	}{
		{"", 2, workload.Meeting{}},
		{"", 1, workload.Meeting{Enter: workload.Unlimited}},
		{"", 1, workload.Meeting{More: 1}},
		{"learn-late=1", 2, workload.Meeting{}},
	} {
		sound = append(sound, doubleBarrierMutant(0,
			engine.Scenario{Name: "double-barrier/sound", Rounds: x.rounds, Faults: faults.MustParse(x.faults), SafetySteps: 60},
			x.m))
	}
	for i := range sound {
		rep, err := engine.Run(context.Background(), &sound[i], engine.Options{Seeds: engine.Range{First: 1, Last: 1000}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s with %v: %+v, %v", sound[i].Name, sound[i].Faults, rep, err)
		}
	}
}
