package checkers

import (
	"testing"

	"zksim/model/history"
)

// said is a checker that says one thing of every history.
type said Verdict

func (said) Name() string                     { return "mine" }
func (said) Doc() string                      { return "something" }
func (x said) Check(*history.History) Verdict { return Verdict(x) }

// TestAVerdictIsOfItsChecker: who writes a checker may leave out its name, mean the end by a position
// that there is not, or count on from the worst level.
func TestAVerdictIsOfItsChecker(t *testing.T) {
	h := &history.History{Events: make([]history.Event, 3)}
	for _, x := range []struct{ says, want Verdict }{
		{Verdict{Level: Violated, Message: "m", Event: 2}, Verdict{Violated, "mine", "m", 2}},
		{Verdict{Level: Violated, Checker: "other", Event: 3}, Verdict{Violated, "mine", "", -1}},
		{Verdict{Level: 7, Message: "m", Event: -9},
			Verdict{Violated, "mine", "the checker returns an unknown level 7: m", -1}},
	} {
		all := []Checker{said(x.says)}
		if v := Worst(h, all); v != x.want {
			t.Errorf("%+v, want %+v", v, x.want)
		}
		if v, ok := Caught(h, all, []string{"mine"}); !ok || v != x.want {
			t.Errorf("%+v, want %+v", v, x.want)
		}
	}
}
