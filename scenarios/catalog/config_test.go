package catalog

import (
	"context"
	"strings"
	"testing"

	"zksim/internal/mutants"
	"zksim/scenarios/engine"
)

// These mutants are caught because of their flaw and nothing else: without it they
// hold under the same faults.
func TestMutantsOfSharedDataHoldWithoutTheirFlaw(t *testing.T) {
	without := map[string]func(mutants.Flaw, engine.Scenario) engine.Scenario{"config": configMutant,
		"counter": counterMutant, "names": namesMutant}
	for _, s := range All {
		recipe, _, _ := strings.Cut(s.Name, "/")
		if without[recipe] == nil || !s.Broken() || s.Name == "names/no-ticket" { // that is names/early without its flaw
			continue
		}
		sound := without[recipe](0, s)
		sound.Caught = nil
		rep, err := engine.Run(context.Background(), &sound, engine.Options{Seeds: engine.Range{First: 1, Last: 500}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %s, %v", s.Name, outcome(rep), err)
		}
	}
}
