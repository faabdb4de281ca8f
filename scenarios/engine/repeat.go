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

// ExactTest replaces go test, in a module that uses this one, so that even what Go's runtime decides repeats.
// ExactCommand is the same with what must be done first.
const (
	ExactTest    = "go tool simrun test"
	ExactCommand = `"` + ExactTest + `" (first "go get -tool zksim/cmd/simrun") in place of "go test"`
)

// CommandVariable is the environment variable by which a command that runs "go test" its own way, such as "simrun
// test", tells tests its name. They print it in the commands that repeat their failures.
const CommandVariable = "ZKSIM_TEST_COMMAND"

// Repetitions is how often the choices of a failing run are repeated if its code is outside of the simulator.
const Repetitions = 10

// Repeats says what came of repeating the choices of a failing run. Code outside of the simulator need not answer them
// in the same way.
type Repeats struct {
	Of, Failed int    // how many runs there were, and in how many the same checker was violated
	Parted     string // as of [Parts], where two of them first differ; "": all are the same
}

// String returns it as in "failed again in 9 of 10 replays".
func (x Repeats) String() string {
	text := fmt.Sprintf("failed again in %d of %d replays", x.Failed, x.Of)
	if x.Parted != "" {
		text += "; two of them " + x.Parted
	}
	return text
}

// Mostly reports whether the checker was violated in most replays.
func (x Repeats) Mostly() bool { return 2*x.Failed > x.Of }

// Always reports whether all replays went the same way and violated the checker.
func (x Repeats) Always() bool { return x.Failed == x.Of && x.Parted == "" }

// mostAgain bounds how many replays a schedule may ask for.
const mostAgain = 1000

// set reads them as a schedule writes them.
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

// Loose reports whether runs of the schedule may part. If so, a run takes those of its steps that are possible.
func (s *Schedule) Loose() bool { return s.Again.Of > 0 }

// Shown reports whether a verdict is the violation that the schedule names.
func (s *Schedule) Shown(v checkers.Verdict) bool {
	return v.Level == checkers.Violated && v.Checker == s.Checker
}

// Repeat repeats the choices of a schedule that many times, those that are possible.
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
		if schedule.Shown(res.Verdict) {
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

// errBroken ends a run whose code has said that it is broken.
var errBroken = errors.New("broken")

// untilBroken ends a run of code outside of the simulator at the step in which the code says that it is broken. What
// the code does after that tells nothing more, and need not be the same each time.
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
	if u.broken && w.Step() > 0 { // a run has at least one step
		return sim.Transition{}, false, errBroken
	}
	return u.Chooser.Choose(w)
}

// runUntilBroken is World.Run, except that the run may end like this.
func runUntilBroken(w *sim.World, ch sim.Chooser) error {
	if err := w.Run(&untilBroken{Chooser: ch}); err != errBroken {
		return err
	}
	return nil
}
