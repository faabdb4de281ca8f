package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// ExactTest is what to run in place of go test, from a module that uses this one, so that all repeats that Go's runtime
// decides, and ExactCommand is that with what is to be done first.
const (
	ExactTest    = "go tool simrun test"
	ExactCommand = `"` + ExactTest + `" (first "go get -tool zksim/cmd/simrun") in place of "go test"`
)

// CommandVariable is the environment variable by which a command that runs "go test" in its own way, as "simrun test"
// does, tells tests what it is called, so that they print it in the commands that repeat their failures.
const CommandVariable = "ZKSIM_TEST_COMMAND"

// Repetitions is how often the choices of a failing run of code outside of the simulator are made again.
const Repetitions = 10

// Repeats is what becomes of the choices of a failing run when they are made again, which code outside of the
// simulator need not answer in the same way.
type Repeats struct {
	Of, Failed int    // how many runs there were, and in how many the same checker was violated
	Parted     string // as of [Parts], where two of them differ first; "": all are the same
}

// String says so, as in "failed again in 9 of 10 replays".
func (x Repeats) String() string {
	text := fmt.Sprintf("failed again in %d of %d replays", x.Failed, x.Of)
	if x.Parted != "" {
		text += "; two of them " + x.Parted
	}
	return text
}

// Mostly reports whether the checker was violated in most of them.
func (x Repeats) Mostly() bool { return 2*x.Failed > x.Of }

// Always reports whether all of them went the same way, in which the checker was violated.
func (x Repeats) Always() bool { return x.Failed == x.Of && x.Parted == "" }

// mostAgain bounds how many replays a schedule may ask for.
const mostAgain = 1000

// set reads them as they are written in a schedule.
func (x *Repeats) set(text string) error {
	failed, of, ok := strings.Cut(text, "/")
	var err [2]error
	x.Failed, err[0] = strconv.Atoi(failed)
	x.Of, err[1] = strconv.Atoi(of)
	if !ok || errors.Join(err[:]...) != nil || x.Failed < 0 || x.Of < max(1, x.Failed) || x.Of > mostAgain {
		return fmt.Errorf("again is how many replays failed of how many, up to %d, as 9/10, not %q", mostAgain, clip(text))
	}
	return nil
}

// Loose reports whether runs of the schedule may part, so that it is run with those of its steps that are possible.
func (s *Schedule) Loose() bool { return s.Again.Of > 0 }

// shows reports whether a run violates what its schedule says.
func (r *Result) shows(s *Schedule) bool { return s.Shown(r.Verdict) }

// Shown reports whether a verdict is the violation that the schedule says.
func (s *Schedule) Shown(v checkers.Verdict) bool {
	return v.Level == checkers.Violated && v.Checker == s.Checker
}

// Repeat makes the choices of a schedule that many times, those of them that are possible.
func Repeat(s *Scenario, schedule Schedule, times int) (x Repeats, err error) {
	r := NewRunner()
	defer r.Close()
	var first Shown
	for i := range times {
		res, err := r.Explore(s, schedule, &sim.Replay{Names: schedule.Names, Loose: true})
		if err != nil {
			return x, err
		}
		x.Of++
		if res.shows(&schedule) {
			x.Failed++
		}
		if i == 0 {
			first = r.Shown()
		} else if x.Parted == "" {
			x.Parted = strings.TrimSuffix(Parts(first, r.Shown()), ": "+hint)
		}
	}
	return x, nil
}

// errBroken ends a run that is broken.
var errBroken = errors.New("broken")

// untilBroken ends a run of code outside of the simulator at the step in which the code says that it is broken. What it
// would do then tells nothing more, and need not be the same each time.
type untilBroken struct {
	sim.Chooser
	seen   int // events
	broken bool
}

// Choose implements [sim.Chooser].
func (u *untilBroken) Choose(w *sim.World) (sim.Transition, bool, error) {
	for list := w.History.Events; u.seen < len(list); u.seen++ {
		if e := &list[u.seen]; e.Kind == history.Told && e.Op == checkers.ToldBroken {
			u.broken = true
		}
	}
	if u.broken && w.Step() > 0 { // a run has a step
		return sim.Transition{}, false, errBroken
	}
	return u.Chooser.Choose(w)
}

// runUntilBroken is World.Run until then.
func runUntilBroken(w *sim.World, ch sim.Chooser) error {
	if err := w.Run(&untilBroken{Chooser: ch}); err != errBroken {
		return err
	}
	return nil
}
