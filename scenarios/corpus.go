package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"zksim/checkers"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Corpus is the folder of schedules that Check replays first, below the folder of the test. Those of scenario my/lock
// are the files *.txt in testdata/zksim/my.lock. A check that fails writes its schedule there; commit it to keep the
// bug from coming back. If a schedule no longer fits the code, only the steps that fit are run, and the log says so. A
// file with a line that is no step at all, such as one left by a merge, fails the check.
const Corpus = "testdata/zksim"

// replayCorpus replays the schedules that are committed for a scenario, and reports whether none of them failed.
func replayCorpus(t T, r *record) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Corpus, pipeline.FileName(r.s), "*.txt"))
	if err != nil {
		t.Fatalf("%v", err)
		return false
	}
	slices.Sort(names)
	for _, file := range names {
		schedule, err := pipeline.ReadSchedule(file)
		if err != nil {
			t.Fatalf("%v", err)
			return false
		}
		if !replayed(t, r, file, schedule) {
			return false
		}
	}
	return true
}

// replayed replays one committed schedule, and reports whether all held.
func replayed(t T, rec *record, file string, schedule engine.Schedule) bool {
	t.Helper()
	s := rec.s
	if err := schedule.Unknown(); err != nil { // no change of code turns such a line into a step
		t.Fatalf("%s: %v", file, err)
		return false
	}
	res, err := strictly(s, schedule)
	res.Schedule.Names = schedule.Names // and the steps that follow by themselves
	if stale, ok := errors.AsType[*sim.NotEnabledError](err); ok {
		t.Logf("%s fits no more, from step %d on, and is run without the steps that do not fit", file, stale.Index+1)
		r := engine.NewRunner()
		defer r.Close()
		if res, err = r.Explore(s, schedule, &sim.Replay{Names: schedule.Names, Loose: true}); err == nil {
			r.Names(&res)
		}
	}
	switch {
	case err != nil:
		t.Fatalf("%s: %v", file, err)
		return false
	case res.Verdict.Level == checkers.Violated && !s.Catches(res.Verdict):
		rec.to(engine.Violation, "the schedule in "+file+" fails")
		rec.fail(t, &res, file, file)
		return false
	}
	t.Logf("%s: %s", file, res.Verdict.Level)
	return true
}

// Replay runs the schedule in a file, and returns the verdict on that run. It fails if the schedule does not fit the
// scenario.
func Replay(s Scenario, file string) (checkers.Verdict, error) {
	schedule, err := pipeline.ReadSchedule(file)
	if err != nil {
		return checkers.Verdict{}, err
	}
	res, err := strictly(&s, schedule)
	if err != nil {
		return checkers.Verdict{}, fmt.Errorf("%s: %w", file, err)
	}
	return res.Verdict, nil
}

// strictly replays a schedule, and looks for code that leaves the simulator and for words that no checker knows.
func strictly(s *Scenario, schedule engine.Schedule) (engine.Result, error) {
	r := engine.NewRunner()
	defer r.Close()
	how := r.ReplayStrictly
	if s.Outside != nil {
		how = r.Replay
	}
	res, err := how(s, schedule)
	if err == nil {
		err = r.Unfit(s, &res)
	}
	return res, err
}

// taken has the files of -zksim.schedule that some check has replayed.
var taken sync.Map

// passesOver reports whether a schedule is of another scenario, perhaps that of another check of the test. If no check
// takes it, the test fails in the end.
func passesOver(t T, s *Scenario, file string, schedule engine.Schedule) bool {
	t.Helper()
	if schedule.Scenario == s.Name {
		taken.Store(file, true)
		return false
	}
	_, err := strictly(s, schedule)
	t.Cleanup(func() {
		t.Helper()
		say := t.Fatalf
		if _, ok := taken.Load(file); ok {
			say = t.Logf
		}
		say("%s: %v", file, err)
	})
	return true
}

// replay replays the schedule of -zksim.schedule.
func replay(t T, s *Scenario, file string) {
	t.Helper()
	schedule, err := pipeline.ReadSchedule(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s: %v", scheduleFlag.name(), err)
		return
	}
	if err != nil {
		t.Fatalf("%v", err) // it names the file
		return
	}
	if passesOver(t, s, file, schedule) {
		return
	}
	if unknown := schedule.Unknown(); s.Outside != nil && unknown != nil { // else skipped, like one that does not fit
		t.Fatalf("%s: %v", file, unknown)
		return
	}
	res, err := strictly(s, schedule)
	if stale, ok := errors.AsType[*sim.NotEnabledError](err); ok && s.Outside != nil {
		t.Logf("%s does not fit at step %d, and is run up to %s with the steps that fit", file, stale.Index+1,
			history.Counted(engine.Repetitions, "time"))
		schedule.Again = engine.Repeats{Of: engine.Repetitions}
		res, err = strictly(s, schedule)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
		return
	}
	if res.Verdict.Level != checkers.OK && !s.Catches(res.Verdict) {
		told(t, s, &res)
		return
	}
	t.Logf("%s: %s after %s, hash %016x", s.Name, res.Verdict.Level, history.Counted(res.Steps, "step"), res.Hash)
}
