package scenarios

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
	"zksim/sim"
)

// Where rows of the index come from that have no seeds.
const (
	byProve = "prove"
	byHerd  = "herd"
	byFuzz  = "fuzz"
)

// record is what a test of a scenario leaves behind: a row of the index, and a page if the test fails.
type record struct {
	t   T
	s   *Scenario
	row reports.Row

	told []string // checkers that have failed an input that was told in full
}

// newRecord begins a record. Until it is told otherwise it says that the test has come to no end.
func newRecord(t T, s *Scenario, by string) *record {
	r := &record{t: t, s: s}
	r.is(pipeline.RowOf(s, engine.Inconclusive, "the test has come to no end"), by)
	return r
}

// begin writes into the folder that the test has come to no end; keep replaces that. The folder may have the row of an
// earlier run, and this run may be killed. If the folder cannot be written, keep reports that.
func (r *record) begin() {
	dir, key := r.key()
	if dir == "" {
		return
	}
	if x, ok := kept.Load(key); !ok || rank(r.row) < rank(x.(reports.Row)) {
		_ = pipeline.KeepRow(dir, r.row)
	}
}

// is sets what the test came to.
func (r *record) is(row reports.Row, by string) {
	r.row = row
	r.row.By = by
}

// to sets what the test came to, and keeps where the row comes from.
func (r *record) to(status engine.Status, says string) {
	r.is(pipeline.RowOf(r.s, status, says), r.row.By)
}

// kept has the worst row of this process for each folder and row. A test that holds must not hide a failure of another
// test of the same scenario, or of an earlier run of itself.
var kept sync.Map

// keep writes the row into the folder of -zksim.out or -artifacts, if there is one, and the index of all rows there. It
// must be called by Cleanup of the test: then its logs have the position of the check, even when the check has ended
// the test.
func (r *record) keep() {
	r.t.Helper()
	dir, key := r.key()
	if dir == "" {
		return
	}
	row := r.row
	if x, ok := kept.Load(key); ok && rank(x.(reports.Row)) < rank(row) {
		row = x.(reports.Row)
	}
	kept.Store(key, row)
	if err := pipeline.KeepRow(dir, row); err != nil {
		r.t.Fatalf("no index: %v", err)
	}
}

// key returns the folder for rows, "" if there is none, and the key of the record in kept.
func (r *record) key() (dir string, key [2]string) {
	dir = resultsFolder(r.t)
	folder, _ := filepath.Abs(dir)
	return dir, [2]string{folder, r.row.ID()}
}

// rank is lower for worse rows.
func rank(row reports.Row) int { return slices.Index(reports.Statuses, row.Status) }

// folder returns the folder for the page of a failure, and the page's name in the index. If no folder is asked for, it
// is a temporary one, the same for all tests of a package.
func (r *record) folder() (dir, page string, err error) {
	name := filepath.Join(pipeline.FileName(r.s), r.row.By)
	page = filepath.ToSlash(filepath.Join(name, "index.html"))
	dir = resultsFolder(r.t)
	if dir == "" {
		tested, err := os.Getwd()
		if err != nil {
			return "", "", err
		}
		if dir, err = files.Own(fmt.Sprintf("zksim-%d", os.Getuid())); err != nil {
			return "", "", err
		}
		sum := fnv.New32a()
		sum.Write([]byte(tested))
		dir = filepath.Join(dir, fmt.Sprintf("%s-%08x", filepath.Base(tested), sum.Sum32()))
	}
	return filepath.Join(dir, name), page, nil
}

// resultsFolder returns the folder for pages and their index; "" if none is asked for.
func resultsFolder(t T) string {
	if dir := outFlag.String(); dir != "" {
		return dir
	}
	if x, ok := t.(interface{ ArtifactDir() string }); ok && flagOf("test.artifacts") == "true" {
		return x.ArtifactDir()
	}
	return ""
}

// unfit sets what a test came to if the code makes no runs that say anything.
func (r *record) unfit(err error) {
	if m, ok := errors.AsType[*sim.Misuse](err); ok {
		r.to(engine.Misused, "misuse: "+m.Message)
	} else if _, ok := errors.AsType[*prove.Unstable](err); ok || errors.Is(err, engine.ErrNondeterministic) {
		r.to(engine.Nondeterministic, err.Error())
	} else {
		r.row.Says = err.Error()
	}
}

// named returns the text of an error, with the name of the scenario before it unless it begins with that.
func named(s *Scenario, err error) string {
	if text := err.Error(); strings.HasPrefix(text, s.Name) {
		return text
	}
	return s.Name + ": " + err.Error()
}
