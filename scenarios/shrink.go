package scenarios

import (
	"slices"

	"zksim/checkers"
	"zksim/sim"
)

// shrinkRuns bounds the runs of one Shrink.
const shrinkRuns = 20_000

// Shrink looks for a short schedule that the same checker finds violated: it
// leaves out parts, from halves down to single transitions, until no single one
// can go any more (or the number of runs is up). What a shortened schedule leaves
// open happens fairly and without faults, so the faults and the order that remain
// are those that matter.
func (r *Runner) Shrink(s *Scenario, from Schedule) (Result, error) {
	best, err := r.Replay(s, from)
	if err != nil || best.Verdict.Level != checkers.Violated {
		return best, err
	}
	best.History = nil
	x := shrinker{Runner: r, scenario: s, schedule: best.Schedule, checker: best.Verdict.Checker}
	x.schedule.Checker = x.checker
	x.names = from.Names
	x.leaveOut()
	x.schedule.Names = x.names
	best, err = r.Replay(s, x.schedule)
	best.Schedule.Names = x.names
	return best, err
}

type shrinker struct {
	*Runner
	scenario *Scenario
	schedule Schedule
	checker  string
	names    []string // the shortest so far that fails
	runs     int
}

// leaveOut tries without each part, with smaller and smaller parts, and ends
// after a pass over single names that finds nothing to leave out.
func (x *shrinker) leaveOut() {
	for size := max(1, len(x.names)/2); ; {
		shorter := false
		for at := 0; at < len(x.names) && x.runs < shrinkRuns; {
			if x.try(slices.Delete(slices.Clone(x.names), at, min(at+size, len(x.names)))) {
				shorter = true
			} else {
				at += size
			}
		}
		if size == 1 && !shorter || x.runs >= shrinkRuns {
			return
		}
		size = max(1, size/2)
	}
}

// try runs with other names, passing over those that have become impossible,
// and keeps what happened of them if that is shorter and fails in the same way.
func (x *shrinker) try(names []string) bool {
	x.runs++
	ch := &sim.Replay{Names: names, Loose: true}
	p := x.schedule
	p.Names = names
	res, err := x.run(x.scenario, p, ch)
	if err != nil || res.Verdict.Level != checkers.Violated || res.Verdict.Checker != x.checker {
		return false
	}
	happened := x.world.Schedule()[:ch.Taken]
	if len(happened) >= len(x.names) {
		return false
	}
	x.names = happened
	return true
}
