package pipeline_test

import (
	"testing"

	"zksim/internal/pipeline"
	"zksim/scenarios/catalog"
	"zksim/scenarios/prove"
)

// TestTheScopeOfExhaustiveSearchHasNoFaultsThatTheScenarioHasNot looks at a scenario without
// faults, one with some, and what -faults says.
func TestTheScopeOfExhaustiveSearchHasNoFaultsThatTheScenarioHasNot(t *testing.T) {
	for _, x := range []struct{ name, plan, want string }{
		{"lock/fan-out", "", "none"},
		{"lock/lock", "", prove.Losses},
		{"lock/lock", "pause=1", "pause=1"},
		{"lock/plain-create", "", "lose-reply=2"},
	} {
		s := catalog.Named(x.name)
		sc, err := pipeline.Small(s, x.plan).Of(s)
		if err != nil || sc.Faults.String() != x.want || sc.Scenario.Clients != 2 {
			t.Errorf("%+v: %s, %v", x, sc.Faults, err)
		}
	}
}
