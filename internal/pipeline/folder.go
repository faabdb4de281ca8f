package pipeline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// The schedules of a folder: the shortest one, and the one of the run that failed first.
const (
	ScheduleFile = "schedule.txt"
	fullFile     = "schedule.full.txt"
)

// The other files to which the page links.
const (
	HistoryFile = "history.jsonl"
	searchFile  = "porcupine.html"
)

// Write writes the folder of a failure: the schedules, then the rest, with the commands that reproduce the failure. It
// writes the rest only if the schedule in the file gives the same run twice; otherwise it returns an [*Unrepeatable].
func (f *Failure) Write(dir string, reproduce ...string) error {
	if err := withdraw(dir); err != nil {
		return err
	}
	err := files.Save(dir, fullFile, f.Full.Write)
	if err == nil {
		err = files.Save(dir, ScheduleFile, f.Small.Schedule.Write)
	}
	if err != nil {
		return err
	}
	if err := f.Verify(filepath.Join(dir, ScheduleFile)); err != nil {
		return err
	}
	f.Report.Reproduce = reproduce
	f.Files = []reports.File{{Name: ScheduleFile, What: "the minimal schedule"},
		{Name: fullFile, What: "that of the run that failed first"}}
	return WriteReport(dir, f.Failure)
}

// Verify replays the schedule in a file twice in new worlds. If that does not show the failure, in whatever words, it
// returns an [*Unrepeatable].
func (f *Failure) Verify(file string) error {
	schedule, err := ReadSchedule(file)
	if err != nil {
		return err
	}
	if schedule.Loose() {
		return f.verifyLoosely(schedule, file)
	}
	again, err := ReplayTwice(f.Scenario, schedule)
	if _, misused := errors.AsType[*sim.Misuse](err); misused {
		return err
	}
	was := f.Small.Verdict
	was.Message = again.Verdict.Message // code may print an address, which no two runs share
	if err != nil || again.Parted != "" || again.Hash != f.Small.Hash || again.Verdict != was {
		return &Unrepeatable{f.Where, "the schedule in " + file + " does not repeat the failure"}
	}
	return nil
}

// verifyLoosely is Verify for runs that may differ: one of them must show the failure.
func (f *Failure) verifyLoosely(schedule engine.Schedule, file string) error {
	r := engine.NewRunner()
	defer r.Close()
	res, err := r.Replay(f.Scenario, schedule)
	if err == nil && res.Verdict.Level == checkers.Violated && res.Verdict.Checker == f.Small.Verdict.Checker {
		return nil
	}
	return &Unrepeatable{f.Where, "no run of the schedule in " + file + " repeats the failure"}
}

// WriteSchedule writes the schedule of a failure of which nothing else is known into its folder.
func WriteSchedule(dir string, s *engine.Schedule) error {
	if err := withdraw(dir, fullFile); err != nil {
		return err
	}
	return files.Save(dir, ScheduleFile, s.Write)
}

// withdraw removes from a folder what an earlier run wrote about another schedule, and the files in more.
func withdraw(dir string, more ...string) error {
	return remove(dir, append(more, "report.json", indexFile, searchFile, HistoryFile)...)
}

// remove removes those of some files of a folder that there are.
func remove(dir string, names ...string) error {
	for _, name := range names {
		if err := files.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("writing %s: %w", filepath.Join(dir, name), err)
		}
	}
	return nil
}

// WriteReport writes the report of a failure beside its schedule. report.json comes last, and exists only if all other
// files do.
func WriteReport(dir string, f *reports.Failure) error {
	if err := withdraw(dir); err != nil {
		return err
	}
	page := *f
	page.Files = slices.Concat(f.Files, []reports.File{{Name: HistoryFile, What: "all that the judges saw"}})
	if len(f.Search) > 0 {
		page.Files = append(page.Files, reports.File{Name: searchFile, What: "the search for a linearizable order"})
	}
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{HistoryFile, func(w io.Writer) error { return reports.WriteHistory(w, f.History) }},
		{searchFile, func(w io.Writer) error { _, err := w.Write(f.Search); return err }},
		{indexFile, func(w io.Writer) error { return reports.WritePage(w, &page) }},
		{"report.json", f.Report.Write},
	} {
		if x.name == searchFile && len(f.Search) == 0 {
			continue
		}
		if err := files.Save(dir, x.name, x.write); err != nil {
			return err
		}
	}
	return nil
}

// ReadSchedule reads a schedule from a file. Its errors name the file.
func ReadSchedule(file string) (engine.Schedule, error) { return readSchedule(file, os.Open) }

func readSchedule(file string, open func(string) (*os.File, error)) (engine.Schedule, error) {
	in, err := open(file)
	if err != nil {
		return engine.Schedule{}, err
	}
	defer in.Close()
	s, err := engine.ParseSchedule(in)
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Repeated is the result of two replays of a schedule.
type Repeated struct {
	Parted  string // how they differ; "": not at all
	Hash    uint64
	Verdict checkers.Verdict
	Names   []string
	Stack   []string // of a panic
	History *history.History
}

// ReplayTwice runs a schedule in two fresh worlds, strictly.
func ReplayTwice(s *engine.Scenario, schedule engine.Schedule) (Repeated, error) {
	var runs [2]engine.Shown
	var res engine.Result
	for i := range runs {
		r := engine.NewRunner()
		defer r.Close()
		var err error
		if res, err = r.ReplayStrictly(s, schedule); err != nil {
			return Repeated{}, err
		}
		runs[i] = r.Shown()
	}
	return Repeated{engine.Parts(runs[0], runs[1]), res.Hash, res.Verdict, res.Schedule.Names,
		Calls(res.History.PanicStack()), res.History}, nil
}

// FileName is the name of a scenario as the name of a file or folder.
func FileName(s *engine.Scenario) string { return fileName(s.Name) }

func fileName(scenario string) string { return strings.ReplaceAll(scenario, "/", ".") }
