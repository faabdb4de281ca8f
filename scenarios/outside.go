package scenarios

import (
	"fmt"
	"path/filepath"
	"strings"

	"zksim/internal/files"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

// repetitions is how often the choices of a failing run of code outside of the simulator are made again.
const repetitions = 10

// mostSteps is how many steps of a run are told that cannot be shrunk.
const mostSteps = 40

// repeats reports whether a failing run goes the same way each time. If not, which only code outside of the simulator
// may do, it fails the test with what there is to tell of that: how often the same choices fail again, where runs part,
// and the run's own steps, which nobody can make fewer.
func (r *record) repeats(t T, found *engine.Result, where string) bool {
	t.Helper()
	if r.s.Outside == nil {
		return true
	}
	schedule := found.Schedule
	schedule.Checker = found.Verdict.Checker
	again, err := engine.Repeat(r.s, schedule, repetitions)
	if err != nil {
		r.unrepeatable(t, err)
		return false
	}
	if again.Failed == again.Of && again.Parted == "" {
		return true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s: %s\n    repeated   %v\n", r.s.Name, where, found.Verdict.Checker, found.Verdict.Message,
		again)
	fmt.Fprintf(&b, "               the usual suspects: the order of a map, a select with several cases that are ready,\n"+
		"               unseeded random numbers, goroutines outside of the bubble, -race\n")
	names := schedule.Names
	if skipped := len(names) - mostSteps; skipped > 0 {
		fmt.Fprintf(&b, "    steps      the last %d of %d\n", mostSteps, len(names))
		names = names[skipped:]
	}
	for i, name := range names {
		fmt.Fprintf(&b, "        %5d %s\n", len(schedule.Names)-len(names)+i+1, name)
	}
	dir, _ := r.folder()
	if err := files.Save(dir, pipeline.ScheduleFile, schedule.Write); err != nil {
		fmt.Fprintf(&b, "    not written: %v\n", err)
	}
	fmt.Fprintf(&b, "    try again  %s", command(t.Name(), filepath.Join(dir, pipeline.ScheduleFile)))
	r.to(engine.Violation, found.Verdict.Message+"; "+again.String())
	t.Fatalf("%s", b.String())
	return false
}
