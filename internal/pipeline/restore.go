package pipeline

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// Restore returns the failure that [Failure.Write] has left in a folder, so that it can be written into another one. It
// runs the schedule again; if the run does not show what the folder says, it returns an [*Unrepeatable].
func Restore(s *engine.Scenario, dir, where string) (*Failure, error) {
	var told reports.Report
	file := filepath.Join(dir, "report.json")
	text, err := files.Read(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &told); err != nil || told.Format != reports.Format {
		return nil, fmt.Errorf("%s is not a %s", file, reports.Format)
	}
	f := &Failure{Scenario: s}
	// Whoever has copied the folder may have left anything, such as a pipe, there: only regular files are opened.
	if f.Full, err = readSchedule(filepath.Join(dir, fullFile), files.Open); err != nil {
		return nil, err
	}
	small, err := readSchedule(filepath.Join(dir, ScheduleFile), files.Open)
	if err != nil {
		return nil, err
	}
	r := engine.NewRunner()
	defer r.Close()
	if f.Small.Result, err = r.Replay(s, small); err != nil {
		return nil, &Unrepeatable{where, err.Error()}
	}
	f.Small.Schedule.Names, f.Small.Schedule.Again = small.Names, small.Again
	f.Small.Schedule.Checker, f.Small.Schedule.Seed = small.Checker, small.Seed
	if v := f.Small.Verdict; v.Level != checkers.Violated || v.Checker != told.Checker ||
		fmt.Sprintf("%016x", f.Small.Hash) != told.Hash && !small.Loose() {
		return nil, &Unrepeatable{where, "the schedule in " + dir + " does not repeat the failure"}
	}
	if f.Failure, err = Trace(s, f.Small.Schedule); err != nil {
		return nil, &Unrepeatable{where, err.Error()}
	}
	f.Where = where
	f.Report.Why, f.Report.Steps, f.Report.Cut, f.Report.Again = told.Why, len(f.Full.Names), told.Cut, told.Again
	f.Small.Cut = told.Cut
	f.Small.Schedule.Notes = reports.Notes(f.Failure)
	return f, nil
}
