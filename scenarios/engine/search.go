package engine

import (
	"fmt"

	"zksim/sim"
)

// Turn is a step at which a [Search] does not take its usual choice. At is its number among the steps that have a
// choice. Pick is what it takes; faults come after all others. Before is the running hash of the run in which the turn
// was found, before that step.
type Turn struct {
	At, Pick int
	Before   uint64
}

// Width is how many choices such a step had, and which one is usual. Before is as in [Turn].
type Width struct {
	Normal, Faults, Usual int
	Before                uint64
}

// Search chooses fairly, each in turn, time last and no fault, except at the steps of Path. Widths then tells how to
// search all schedules that differ from the usual one at few steps, as in Emmi, Qadeer and Rakamarić, Delay-Bounded
// Scheduling (POPL 2011).
type Search struct {
	Path   []Turn // in order
	Widths []Width
	Missed bool // up to the last step of Path, the run is not the one that the path was found in
	Longer bool // the run went on after the step at which its faults end at the latest; its choices end there, too

	fair sim.Replay
}

// Choose implements [sim.Chooser].
func (s *Search) Choose(w *sim.World) (sim.Transition, bool, error) {
	if w.Calm() {
		s.Missed = s.Missed || len(s.Path) > 0
		return s.fair.Choose(w)
	}
	list := w.Normal()
	if len(list) == 0 {
		s.Missed = s.Missed || len(s.Path) > 0
		return sim.Transition{}, false, nil
	}
	s.Longer = s.Longer || w.Step() >= w.SafetySteps
	faults := w.Faults()
	if len(list)+len(faults) == 1 {
		return list[0], true, nil
	}
	at, actors := len(s.Widths), len(list)
	for actors > 1 && list[actors-1].Kind == sim.Tick {
		actors--
	}
	usual := at % actors
	s.Widths = append(s.Widths, Width{len(list), len(faults), usual, w.Hash()})
	pick := usual
	if len(s.Path) > 0 && s.Path[0].At == at {
		s.Missed = s.Missed || s.Path[0].Before != w.Hash()
		pick, s.Path = s.Path[0].Pick, s.Path[1:]
	}
	switch {
	case pick < len(list):
		return list[pick], true, nil
	case pick-len(list) < len(faults):
		return faults[pick-len(list)], true, nil
	}
	s.Missed = true
	return list[usual], true, nil
}

// Bounds limit an exhaustive search that runs the code again for each schedule and remembers no states. It covers all
// schedules that differ from a fair one by so many faults and delays. A delay is a step at which another transition
// happens than the one whose turn it is. Neither happens after the step at which faults end at the latest, see
// [Scenario.SafetySteps]. If a run was longer, the result says so.
type Bounds struct {
	Faults, Delays int
	Runs           int // after which the search ends, even if it is not closed; 0: 20,000
}

// valid returns an error if a number is negative.
func (b Bounds) valid() error {
	for _, x := range []struct {
		n    int
		what string
	}{{b.Faults, "faults"}, {b.Delays, "delays"}, {b.Runs, "runs"}} {
		if x.n < 0 {
			return fmt.Errorf("the bounds of a search are numbers from 0 on, not %d %s", x.n, x.what)
		}
	}
	return nil
}

// UsualRuns is how many runs a search makes at most if its bounds do not say.
const UsualRuns = 20_000

// branch is a path, and how many faults and delays it has.
type branch struct {
	path           []Turn
	faults, delays int
}

// children appends the branches that differ from b, whose run had these widths, at one later step.
func (b *branch) children(list []branch, widths []Width, limit Bounds) []branch {
	from := 0
	if n := len(b.path); n > 0 {
		from = b.path[n-1].At + 1
	}
	for at := from; at < len(widths); at++ {
		for pick := range widths[at].Normal + widths[at].Faults {
			c := branch{faults: b.faults, delays: b.delays}
			if pick < widths[at].Normal {
				c.delays++
			} else {
				c.faults++
			}
			if pick != widths[at].Usual && c.faults <= limit.Faults && c.delays <= limit.Delays {
				c.path = append(b.path[:len(b.path):len(b.path)], Turn{at, pick, widths[at].Before})
				list = append(list, c)
			}
		}
	}
	return list
}
