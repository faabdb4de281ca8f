package engine

import (
	"fmt"

	"zksim/checkers"
	"zksim/sim"
)

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
		if res.Verdict.Level == checkers.Violated && res.Verdict.Checker == schedule.Checker {
			x.Failed++
		}
		if i == 0 {
			first = r.Shown()
		} else if x.Parted == "" {
			x.Parted = Parts(first, r.Shown())
		}
	}
	return x, nil
}
