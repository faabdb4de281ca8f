package engine

import (
	"fmt"
	"regexp"
	"strings"

	"zksim/internal/stacks"
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
