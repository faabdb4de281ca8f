package engine

import (
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
)

func TestARealRunIsToldWhatItsCheckersDidWithout(t *testing.T) {
	s := &Scenario{Name: "x", Checkers: []checkers.Checker{checkers.Conflict{}, checkers.Barrier{}}}
	h := &history.History{}
	h.Reset(2)
	if got := s.Waived(h); !slices.Equal(got, []string{"conflict: it needs an update that is refused"}) {
		t.Errorf("%q", got)
	}
	if v, err := s.JudgeReal(h); err != nil || v.Level != checkers.Unknown || v.Checker != "barrier" {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestWithoutTxnsNobodyKnowsWhetherThereWasAnEphemeral(t *testing.T) {
	s := &Scenario{Name: "x", Checkers: []checkers.Checker{checkers.Tree{}}}
	h := &history.History{}
	h.Reset(2)
	if got := s.Waived(h); len(got) > 0 {
		t.Errorf("%q", got)
	}
	h.Txns = true
	if got := s.Waived(h); !slices.Equal(got, []string{"tree: it needs an ephemeral znode"}) {
		t.Errorf("%q", got)
	}
}

func TestACheckerThatIsNotThereCannotBeLeftOut(t *testing.T) {
	s := Scenario{Name: "a/lock", Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Tree{}}}
	if got := s.Without("tree").Checkers; len(got) != 1 || got[0].Name() != "liveness" || len(s.Checkers) != 2 {
		t.Errorf("%v remain of %v", got, s.Checkers)
	}
	defer func() {
		if got := recover(); got != `scenario a/lock has no checker "ownershp"` {
			t.Errorf("the panic is %v", got)
		}
	}()
	s.Without("tree", "ownershp")
}
