package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"zksim/faults"
	"zksim/internal/files"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// The files of an index: the page, and the row of a scenario in its folder.
const (
	indexFile = "index.html"
	rowFile   = "scenario.json"
)

// Words are what statuses are called.
var words = map[engine.Status]string{engine.Held: "held", engine.Caught: "caught", engine.Violation: "violated",
	engine.Escaped: "escaped", engine.Inconclusive: "inconclusive", engine.Nondeterministic: "nondeterministic",
	engine.Misused: "misused"}

// RowOf is the row of a scenario, of which no more is known than its status and what that means.
func RowOf(s *engine.Scenario, status engine.Status, says string) reports.Row {
	return reports.Row{Format: reports.RowFormat, Scenario: s.Name, Doc: s.Doc, Source: s.Source,
		Status: words[status], Says: says}
}

// NotRun is the row of a scenario that was not run, for a reason.
func NotRun(s *engine.Scenario, why string) reports.Row {
	row := RowOf(s, engine.Held, why)
	row.Status = "not run"
	return row
}

// Row is the row of what a scenario came to: with faults, goals, and, of a failure that is not explained, where it is.
func (x *Outcome) Row(s *engine.Scenario, says string) reports.Row {
	row := RowOf(s, x.Status, says)
	row.Holders, row.Quiet = x.Holders, x.Quiet
	for _, r := range x.Rules {
		if r.Strikes > 0 {
			row.Struck = append(row.Struck, reports.Count{Name: aimed(r.Rule), Times: r.Strikes, Runs: r.Hit, Of: r.On})
		}
	}
	for i, g := range s.Goals {
		if i < len(x.Reached) {
			row.Goals = append(row.Goals, reports.Count{Name: g.Name, Runs: x.Reached[i]})
		}
	}
	if x.Status == engine.Caught || x.Status == engine.Violation {
		row.Failure = &reports.RowFailure{Checker: x.Failure.Verdict.Checker, Where: x.Where()}
	}
	return row
}

// Says is what the scenario came to, in a line.
func (x *Outcome) Says() string {
	at := "at " + x.Where()
	if x.Searched {
		at = "in " + x.Where()
	}
	switch x.Status {
	case engine.Held:
		return fmt.Sprintf("%d runs, %d steps%s", x.Runs, x.Steps, x.Certain())
	case engine.Caught:
		return fmt.Sprintf("by %s %s in %d steps", x.Failure.Verdict.Checker, at, x.Failure.Steps)
	case engine.Violation:
		return fmt.Sprintf("%s %s in %d steps", x.Failure.Verdict.Checker, at, x.Failure.Steps)
	case engine.Escaped:
		must := strings.Join(x.Scenario.Caught, " or ")
		return fmt.Sprintf("escaped: %d runs, and it was not caught by %s", x.Runs, must)
	case engine.Nondeterministic:
		return "nondeterministic: " + reports.Printable(x.Why)
	}
	return fmt.Sprintf("%s (%d runs)", reports.Printable(x.Why), x.Runs)
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
func WithdrawIndex(dir string) error {
	err := os.Remove(filepath.Join(dir, indexFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("writing %s: %w", filepath.Join(dir, indexFile), err)
	}
	return nil
}

// WriteIndex writes the index of a run of many scenarios into a folder, and returns the name of the file.
func WriteIndex(dir string, x *reports.Index) (string, error) {
	err := files.Save(dir, indexFile, func(w io.Writer) error { return reports.WriteIndex(w, x) })
	return filepath.Join(dir, indexFile), err
}

// KeepRow writes the row of a scenario into its folder below dir, and an index of all rows that are there, by their
// names. So several processes, each of which knows a few scenarios, can share a folder: the last one that ends leaves
// an index of all.
func KeepRow(dir string, s *engine.Scenario, row reports.Row) error {
	err := files.Save(filepath.Join(dir, FileName(s)), rowFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(row)
	})
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", rowFile))
	if err != nil {
		return err
	}
	x := reports.Index{Title: "zksim"}
	counts := map[string]int{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var row reports.Row
		if err := json.Unmarshal(text, &row); err != nil || row.Format != reports.RowFormat {
			return fmt.Errorf("%s is not a %s", name, reports.RowFormat)
		}
		x.Rows = append(x.Rows, row)
		counts[row.Status]++
	}
	slices.SortFunc(x.Rows, func(a, b reports.Row) int { return strings.Compare(a.Scenario, b.Scenario) })
	var parts []string
	for _, status := range reports.Statuses {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], status))
		}
	}
	x.Summary = fmt.Sprintf("%d scenarios: %s", len(x.Rows), strings.Join(parts, ", "))
	_, err = WriteIndex(dir, &x)
	return err
}
