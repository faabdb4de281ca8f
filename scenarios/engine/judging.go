package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/internal/stacks"
	"zksim/model/history"
	"zksim/sim"
)

// Judging calls f, which calls what a scenario has for judging a run: its checkers, its goals, and the functions of
// Register. If such code panics Judging returns a misuse with the calls as its stack, otherwise nil. A panic of this
// module itself goes on.
func Judging(f func()) (m *sim.Misuse) {
	defer func() {
		if x := recover(); x != nil {
			calls := Panicking()
			if calls == "" {
				panic(x)
			}
			m = &sim.Misuse{Message: JudgePanics + fmt.Sprint(x), Stack: calls}
		}
	}()
	f()
	return nil
}

// judgeUnchanged calls judge under Judging. If watched, it returns a misuse if a checker changes the events of the
// history, as a sort or [slices.DeleteFunc] does: the checkers after it would judge what never happened. It copies them
// for that, which not all runs have time for.
func (s *Scenario) judgeUnchanged(h *history.History, watched bool, judge func(*history.History) checkers.Verdict,
) (v checkers.Verdict, m *sim.Misuse) {
	var was []history.Event
	if watched {
		was = slices.Clone(h.Events)
	}
	if m = Judging(func() { v = judge(h) }); m != nil || !watched || sameEvents(was, h.Events) {
		return v, m
	}
	culprit := "a checker"
	for _, c := range s.Judges() {
		h.Events = slices.Clone(was)
		Judging(func() { c.Check(h) })
		if !sameEvents(was, h.Events) {
			culprit = "checker " + c.Name()
			break
		}
	}
	h.Events = was
	return v, &sim.Misuse{Message: culprit + " changes the events of the history that it judges, so that others judge " +
		"what never happened; it must change a copy, as slices.Clone makes"}
}

// sameEvents reports whether two lists of events are the same, apart from their errors, which may not be comparable.
func sameEvents(a, b []history.Event) bool {
	return slices.EqualFunc(a, b, func(x, y history.Event) bool {
		x.Err, y.Err = nil, nil
		return x == y
	})
}

// JudgePanics begins the message of such a misuse.
const JudgePanics = "a checker, a monitor, a goal or a function of Register panics: "

// own are the packages whose panics say that a run cannot go on, not that the code they call is wrong.
var own = regexp.MustCompile(`^zksim/(sim|model|faults|checkers|internal|scenarios/engine|scenarios/prove)[./]`)

// Panicking returns the calls in which the calling goroutine panics, the innermost first, up to the package of own that
// made them; "" if such a package itself panics.
func Panicking() string {
	g := stacks.Current()
	var calls []stacks.Frame
	panics := false
	for _, x := range g.Frames() {
		switch {
		case x.Func == "panic":
			panics, calls = true, nil
		case own.MatchString(x.Func) && panics:
			return stacks.Text(calls)
		case panics && !strings.HasPrefix(x.Func, "runtime."):
			calls = append(calls, x)
		}
	}
	return ""
}
