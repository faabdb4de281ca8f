package scenarios

import (
	"context"
	"strings"
	"testing"

	"zksim/recipes/broken"
)

// These twins are caught because of their flaw and nothing else: without it they
// hold under the same faults.
func TestTwinsOfSharedDataHoldWithoutTheirFlaw(t *testing.T) {
	without := map[string]func(broken.Flaw, Scenario) Scenario{"config": configTwin, "counter": counterTwin, "names": namesTwin}
	for _, s := range All {
		recipe, _, _ := strings.Cut(s.Name, "/")
		if without[recipe] == nil || !s.Broken() {
			continue
		}
		sound := without[recipe](0, s)
		sound.Caught = nil
		rep, err := Run(context.Background(), &sound, Options{Seeds: Range{1, 500}})
		if err != nil || !unharmed(rep) {
			t.Errorf("%s: %+v, %v", s.Name, rep, err)
		}
	}
}
