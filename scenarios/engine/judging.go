package engine

import (
	"fmt"
	"regexp"
	"strings"

	"zksim/internal/stacks"
	"zksim/sim"
)

// Judging calls f, which calls what a scenario has to look at a run: its checkers, its goals, and the functions of
// Register. A panic in such code is a misuse, with its calls as the stack; nil: nothing of the kind. A panic that is
// this module's own goes on.
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

// JudgePanics begins the sentence that says so.
const JudgePanics = "a checker, a monitor, a goal or a function of Register panics: "

// own are the packages of which a panic says that a run cannot go on, rather than that what they call is wrong.
var own = regexp.MustCompile(`^zksim/(sim|model|faults|checkers|internal|scenarios/engine|scenarios/prove)[./]`)

// Panicking returns the calls in which the calling goroutine panics, the innermost first, up to the package of this
// module that has called them; "" if it is one of these that panics.
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
