package simrun

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"zksim/faults"
	"zksim/internal/ensemble"
	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// evidence is what a run leaves if the ensemble has failed, not the recipe.
type evidence struct {
	lines []string // of the servers' log
	files []string // what was written
	err   error    // of what was to be written
}

// stored writes the evidence of a run whose store is wrong.
func (x *liveCheck) stored(s *engine.Scenario, run *ensemble.LiveRun) *evidence {
	dir := filepath.Join(x.out, pipeline.FileName(s), "store")
	f := x.evidence(dir, run.Plan, run.Diary)
	if len(run.Txns) > 0 {
		f.add(dir, txnsFile, text(strings.Join(run.Txns, "\n")+"\n"))
	}
	f.add(dir, pipeline.HistoryFile, func(w io.Writer) error { return reports.WriteHistory(w, run.History) })
	f.lines = x.log.about(x.since, "Truncating log", "SNAP", "Exception when following", "igest mismatch",
		"extra paths under session")
	return f
}

// aborted writes the evidence of a run that was aborted.
func (x *liveCheck) aborted(s *engine.Scenario, run *ensemble.Aborted) *evidence {
	dir := filepath.Join(x.out, pipeline.FileName(s), "aborted")
	f := x.evidence(dir, run.Plan, run.Diary)
	if run.Stacks != "" {
		f.add(dir, stacksFile, text(run.Stacks))
	}
	return f
}

// text returns a function that writes a text.
func text(s string) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// add writes one more file.
func (f *evidence) add(dir, name string, write func(w io.Writer) error) {
	f.files = append(f.files, filepath.Join(dir, name))
	f.err = errors.Join(f.err, files.Save(dir, name, write))
}

// evidence writes the diary and the log of the servers, as long as there is nothing else in that.
func (x *liveCheck) evidence(dir string, plan faults.Plan, diary []string) *evidence {
	f := &evidence{files: []string{filepath.Join(dir, diaryFile)}, err: x.leave(dir, plan, diary)}
	if x.ours != nil {
		f.files = append(f.files, filepath.Join(dir, serversFile))
	}
	return f
}

// tellEvidence prints the evidence of a failure of the ensemble.
func (x *liveCheck) tellEvidence(a *app, f *evidence) {
	fmt.Fprintf(a.out, "        version    ZooKeeper %s\n", cmp.Or(x.version, "of somebody else"))
	for _, line := range f.lines {
		fmt.Fprintf(a.out, "        server     %s\n", reports.Printable(line))
	}
	if f.err != nil {
		x.noReport(a, f.err)
		return
	}
	for _, name := range f.files {
		fmt.Fprintf(a.out, "        left       %s\n", name)
	}
}
