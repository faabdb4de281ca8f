package scenarios

import (
	"fmt"
	"path/filepath"
	"strings"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// mostSteps is how many steps, or lines of the story, of a run that cannot be shrunk are told.
const mostSteps = 40

// repeats reports whether a failing run fails again in most replays, and how often if not all go the same way, as may
// happen with code outside of the simulator. If most replays hold, it fails the test with what is known: how often the
// same choices fail again, where runs part, and the story of a replay that fails, or else the run's own steps. Runs of
// code that does not come to rest take too long to be repeated.
func (r *record) repeats(t T, found *engine.Result, where string) (again engine.Repeats, repeats bool) {
	t.Helper()
	if r.s.Outside == nil {
		return again, true
	}
	schedule := found.Schedule
	schedule.Checker = found.Verdict.Checker
	if found.Hung {
		r.untold(t, found, where, &schedule, "not repeated and not made shorter, since each run takes long")
		return again, false
	}
	again, err := engine.Repeat(r.s, schedule, engine.Repetitions)
	switch {
	case err != nil && timeIsUp(t):
		r.untold(t, found, where, &schedule, "not repeated and not made shorter, as the time is up")
		return again, false
	case err != nil:
		r.unrepeatable(t, err)
		return again, false
	case again.Always():
		return engine.Repeats{}, true
	case again.Mostly():
		return again, true
	}
	r.untold(t, found, where, &schedule, suspects(again))
	return again, false
}

// timeIsUp reports whether a test has no time for more runs.
func timeIsUp(t T) bool {
	ctx, cancel := within(t, 0)
	defer cancel()
	return ctx.Err() != nil
}

// suspects says how often a run failed again, and likely reasons if not all replays go the same way.
func suspects(again engine.Repeats) string {
	text := "repeated   " + again.String()
	if again.Always() {
		return text
	}
	const margin = "               "
	return text + "\n" +
		margin + "the usual suspects: the order of a map, a select with several cases that are ready,\n" +
		margin + "unseeded random numbers, goroutines outside of the bubble, -race; with\n" +
		margin + engine.ExactCommand + " all but those outside repeat"
}

// untold fails a test with a run that is not made shorter, and says why.
func (r *record) untold(t T, found *engine.Result, where string, schedule *engine.Schedule, why string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s: %s\n    %s\n", r.s.Name, where, found.Verdict.Checker, found.Verdict.Message, why)
	if story := r.replayed(found, *schedule); story != "" {
		b.WriteString(story)
	} else {
		writeNames(&b, schedule.Names)
	}
	dir, _, err := r.folder()
	if err == nil {
		err = pipeline.WriteSchedule(dir, schedule)
	}
	if err != nil {
		fmt.Fprintf(&b, "    not written: %v\n", err)
	}
	fmt.Fprintf(&b, "    try again  %s", command(t.Name(), filepath.Join(dir, pipeline.ScheduleFile)))
	short, _, _ := strings.Cut(why, "\n")
	r.to(engine.Violation, found.Verdict.Message+"; "+strings.TrimPrefix(short, "repeated   "))
	t.Fatalf("%s", b.String())
}

// replayed tells a run with the violation that was found, if one of several replays has it, else "". Nothing can be
// told of a run whose code ends its process even where the run stops before that.
func (r *record) replayed(found *engine.Result, schedule engine.Schedule) string {
	if found.Hung {
		return ""
	}
	schedule.Again = engine.Repeats{Of: engine.Repetitions} // tries
	f, err := pipeline.Trace(r.s, schedule)
	var b strings.Builder
	if err != nil || !schedule.Shown(f.Verdict) || len(f.Trace.Steps) == 0 || reports.WriteGist(&b, f) != nil {
		return ""
	}
	lines := strings.SplitAfter(b.String(), "\n")
	if n := len(lines) - mostSteps; n > 0 {
		lines = lines[n:]
	}
	return fmt.Sprintf("    story      of a replay that has failed again, of %d steps\n", len(f.Trace.Steps)) +
		strings.Join(lines, "")
}

// writeNames writes the last steps of a run.
func writeNames(b *strings.Builder, names []string) {
	first := max(0, len(names)-mostSteps)
	if first > 0 {
		fmt.Fprintf(b, "    steps      the last %d of %d\n", mostSteps, len(names))
	}
	for i, name := range names[first:] {
		fmt.Fprintf(b, "        %5d %s\n", first+i+1, name)
	}
}
