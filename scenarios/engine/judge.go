package engine

import (
	"errors"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
)

// judge returns the verdict on a run. The verdict of a checker that must catch the mutant goes before those of others.
func (s *Scenario) judge(h *history.History) checkers.Verdict {
	if v, ok := checkers.Caught(h, s.Judges(), s.Caught); ok {
		return v
	}
	return checkers.Worst(h, s.Judges())
}

// JudgeReal is judge for a run on a real ensemble. A checker that had nothing to judge makes the verdict unknown,
// unless it lacks something that a real run may lack, such as a fault. JudgeReal fails like Unfit, and with a
// [*sim.Misuse] if a checker panics.
func (s *Scenario) JudgeReal(h *history.History) (v checkers.Verdict, err error) {
	if err := s.Unfit(h); err != nil {
		return v, err
	}
	if m := Judging(func() { v = s.judge(h) }); m != nil {
		return v, m
	}
	if v.Level != checkers.OK {
		return v, nil
	}
	s.unmet(h, func(c checkers.Checker, n checkers.Need) {
		if !n.Simulated && v.Level == checkers.OK {
			v = checkers.Verdict{Level: checkers.Unknown, Checker: c.Name(), Event: -1,
				Message: "judged nothing: " + missing(n)}
		}
	})
	return v, nil
}

// Waived says what JudgeReal does without: needs of checkers that a run on a real ensemble may lack, and did lack.
func (s *Scenario) Waived(h *history.History) (waived []string) {
	s.unmet(h, func(c checkers.Checker, n checkers.Need) {
		if n.Simulated {
			waived = append(waived, c.Name()+": it needs "+n.What)
		}
	})
	return waived
}

// Unjudged names the checkers that cannot judge a history because they need its txns, which it lacks; "" if there are
// none.
func (s *Scenario) Unjudged(h *history.History) string {
	var txns []string
	for _, c := range s.Judges() {
		if !checkers.Judges(c, h) {
			txns = append(txns, c.Name())
		}
	}
	if len(txns) == 0 {
		return ""
	}
	return strings.Join(txns, ", ") + ": they need txns, and nobody has the logs of these servers"
}

// unmet calls f with each need that a history does not meet, of the checkers that can judge it.
func (s *Scenario) unmet(h *history.History, f func(checkers.Checker, checkers.Need)) {
	for _, c := range s.Judges() {
		if d, ok := c.(checkers.Declaring); ok && checkers.Judges(c, h) {
			for _, n := range d.Needs().Missing(h) {
				f(c, n)
			}
		}
	}
}

// missing says what a checker lacked.
func missing(x checkers.Need) string { return "it needs " + x.What + "; " + x.Hint }

// Unfit returns an error that says why the operations of a history cannot be judged, see [checkers.Vocabulary.Unfit];
// nil if they can.
func (s *Scenario) Unfit(h *history.History) error {
	words := checkers.VocabularyOf(s.Judges(), s.Words)
	return unjudgeable(words.Unfit(h))
}

// unjudgeable returns why as an error; nil if it is empty.
func unjudgeable(why string) error {
	if why == "" {
		return nil
	}
	return errors.New(why)
}
