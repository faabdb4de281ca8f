package pipeline

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/internal/files"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// The files of an index: the page, and the rows of a scenario in its folder.
const (
	indexFile = "index.html"      // also the page of a failure
	rowFile   = "scenario%s.json" // "", or the By of the row
)

// Words are the names of the statuses.
var Words = [...]string{engine.Held: "held", engine.Caught: "caught", engine.Violation: "violated",
	engine.Escaped: "escaped", engine.Inconclusive: "inconclusive", engine.Nondeterministic: "nondeterministic",
	engine.Misused: "misused"}

// RowOf is the row of a scenario of which only the status and its meaning are known.
func RowOf(s *engine.Scenario, status engine.Status, says string) reports.Row {
	return reports.Row{Format: reports.RowFormat, Scenario: s.Name, Doc: s.Doc, Source: s.Notes().Source,
		Status: Words[status], Says: says}
}

// StatusOf is the status of a row that RowOf has made.
func StatusOf(row reports.Row) engine.Status {
	return engine.Status(slices.Index(Words[:], row.Status))
}

// Proved is the row for the result of an exhaustive search, with the text of the certificate. For a failure that is not
// explained it has the checker.
func Proved(s *engine.Scenario, r *prove.Result) reports.Row {
	row := RowOf(s, proofStatus(s, r), r.Certificate.String())
	if len(r.Never) > 0 {
		row.Says += "; no schedule that was explored reaches: " + strings.Join(r.Never, "; ")
	}
	if r.Outcome == prove.Violated {
		row.Failure = &reports.RowFailure{Checker: r.Checker, Message: r.Message, Where: BySearch}
	}
	return row
}

// proofStatus is what the outcome of a search means for a scenario: a mutant should be refuted.
func proofStatus(s *engine.Scenario, r *prove.Result) engine.Status {
	switch {
	case r.Outcome == prove.Violated && s.Broken():
		return engine.Caught
	case r.Outcome == prove.Violated:
		return engine.Violation
	case r.Outcome == prove.Holds && s.Broken():
		return engine.Escaped
	case r.Outcome == prove.Holds && len(r.Never) == 0:
		return engine.Held
	}
	return engine.Inconclusive
}

// NotRun is the row of a scenario that was not run, with the reason.
func NotRun(s *engine.Scenario, why string) reports.Row {
	row := RowOf(s, engine.Held, why)
	row.Status = "not run"
	return row
}

// Row is the row of a scenario's outcome, with faults and goals and, for a failure that is not explained, where it is.
func (x *Outcome) Row(s *engine.Scenario, says string) reports.Row {
	row := RowOf(s, x.Status, says)
	failed := x.Status == engine.Caught || x.Status == engine.Violation
	if row.Holders = x.Holders; !failed { // what the first runs have not done means nothing
		row.Quiet = x.Quiet
	}
	for _, r := range x.Rules {
		if r.Strikes > 0 {
			row.Struck = append(row.Struck, reports.Count{Name: aimed(r.Rule), Times: r.Strikes, Runs: r.Hit, Of: r.On})
		}
	}
	for i, g := range s.Goals {
		if i < len(x.Reached) && (x.Reached[i] > 0 || !failed) {
			row.Goals = append(row.Goals, reports.Count{Name: g.Name, Runs: x.Reached[i]})
		}
	}
	if failed {
		row.Failure = &reports.RowFailure{Checker: x.Failure.Verdict.Checker, Where: x.Where()}
	}
	return row
}

// Says is the outcome of the scenario, in one line.
func (x *Outcome) Says() string {
	at := "at " + x.Where()
	if x.Searched {
		at = "in " + x.Where()
	}
	switch x.Status {
	case engine.Held:
		return fmt.Sprintf("%s, %s%s%s", history.Counted(x.Runs, "run"), history.Counted(x.Steps, "step"),
			x.Scenario.Like.Clause(), x.Certain())
	case engine.Caught:
		return fmt.Sprintf("by %s %s in %s", x.Failure.Verdict.Checker, at, history.Counted(x.Failure.Steps, "step"))
	case engine.Violation:
		return fmt.Sprintf("%s %s in %s", x.Failure.Verdict.Checker, at, history.Counted(x.Failure.Steps, "step"))
	case engine.Escaped:
		must := strings.Join(x.Scenario.Caught, " or ")
		text := fmt.Sprintf("escaped: %s%s, and it was not caught by %s", history.Counted(x.Runs, "run"),
			x.Scenario.Like.Clause(), must)
		if x.Why != "" {
			text += "; " + reports.Printable(x.Why)
		}
		return text
	case engine.Nondeterministic:
		return "nondeterministic: " + reports.Printable(x.Why)
	}
	return fmt.Sprintf("%s (%s%s)", reports.Printable(x.Why), history.Counted(x.Runs, "run"), x.Scenario.Like.Clause())
}

// aimed is the fault of a rule and its aim, without the budget.
func aimed(r faults.Rule) string {
	r.Budget = 1
	head, aim, ok := strings.Cut(r.String(), "@")
	head, _, _ = strings.Cut(head, "=")
	if ok {
		return head + "@" + aim
	}
	return head
}

// WithdrawIndex removes the index of an earlier run from a folder.
func WithdrawIndex(dir string) error { return remove(dir, indexFile) }

// WriteIndex writes the index of a run of many scenarios into a folder, and returns the name of the file.
func WriteIndex(dir string, x *reports.Index) (string, error) {
	err := files.Save(dir, indexFile, func(w io.Writer) error { return reports.WriteIndex(w, x) })
	return filepath.Join(dir, indexFile), err
}

// KeepRow writes a row into the folder of its scenario below dir, and an index of all rows there, by name. So several
// processes that each know a few scenarios can share a folder: the last one to end leaves an index of all.
func KeepRow(dir string, row reports.Row) error {
	by := row.By
	if by != "" {
		by = "." + by
	}
	err := files.Save(filepath.Join(dir, fileName(row.Scenario)), fmt.Sprintf(rowFile, by), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(row)
	})
	if err != nil {
		return err
	}
	x := reports.Index{Title: "zksim"}
	if x.Rows, err = readRows(dir); err != nil {
		return err
	}
	counts := map[string]int{}
	for i := range x.Rows {
		counts[x.Rows[i].Status]++
	}
	var parts []string
	for _, status := range reports.Statuses {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
		}
	}
	x.Summary = fmt.Sprintf("%s: %s", history.Counted(len(x.Rows), "result"), strings.Join(parts, ", "))
	_, err = WriteIndex(dir, &x)
	return err
}

// readRows reads the rows that are in the folders of a folder.
func readRows(dir string) (rows []reports.Row, err error) {
	names, err := fs.Glob(os.DirFS(dir), "*/"+fmt.Sprintf(rowFile, "*")) // the name of dir is no pattern
	for _, name := range names {
		name = filepath.Join(dir, filepath.FromSlash(name))
		text, err := files.Read(name)
		if err != nil {
			return nil, err
		}
		var row reports.Row
		if err := json.Unmarshal(text, &row); err != nil || row.Format != reports.RowFormat {
			return nil, fmt.Errorf("%s is not a %s", name, reports.RowFormat)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b reports.Row) int { return strings.Compare(a.ID(), b.ID()) })
	return rows, err
}
