package engine_test

import (
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

func TestACheckerThatIsNilIsRefused(t *testing.T) {
	s := engine.Scenario{Name: "my/lock", Clients: 1, Checkers: []checkers.Checker{checkers.Tree{}, nil}}
	if err := s.Accepts(nil); err == nil || err.Error() != "checker 2 of my/lock is nil" {
		t.Error(err)
	}
	if s.Checkers = s.Checkers[:1]; s.Accepts(nil) != nil {
		t.Error(s.Accepts(nil))
	}
}
