package scenarios

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// What has come to a row of the index that no seeds have.
const (
	byProve = "prove"
	byHerd  = "herd"
	byFuzz  = "fuzz"
)

// record is what a test of a scenario leaves behind: a row of the index, and a page if it fails.
type record struct {
	t   T
	s   *Scenario
	row reports.Row

	told []string // checkers by which an input has failed, and was told in full
}

// newRecord begins a record, which says until it is told otherwise that the test has come to no end.
func newRecord(t T, s *Scenario, by string) *record {
	r := &record{t: t, s: s}
	r.is(pipeline.RowOf(s, engine.Inconclusive, "the test has come to no end"), by)
	return r
}

// begin has the folder say that the test has come to no end, until keep says what it came to: what is there may be of
// an earlier run, and this one may be killed. Where the folder cannot be written, keep tells.
func (r *record) begin() {
	dir, key := r.key()
	if dir == "" {
		return
	}
	if x, ok := kept.Load(key); !ok || rank(r.row) < rank(x.(reports.Row)) {
		_ = pipeline.KeepRow(dir, r.row)
	}
}

// is says what the test came to.
func (r *record) is(row reports.Row, by string) {
	r.row = row
	r.row.By = by
}

// to says what the test came to by what it came to until now.
func (r *record) to(status engine.Status, says string) {
	r.is(pipeline.RowOf(r.s, status, says), r.row.By)
}

// kept has the worst row of this process for each folder and row, so that a test which holds does not hide another one
// of the same scenario, or an earlier run of itself, that has failed.
var kept sync.Map

// keep writes the row into the folder of -zksim.out or -artifacts, if there is one, and the index of all that are
// there. It is to be called by Cleanup of the test: then what it logs has the position of the check, also when that has
// ended the test.
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

// key returns the folder for rows, "" if there is none, and what kept knows the row of the record by.
func (r *record) key() (dir string, key [2]string) {
	dir = resultsFolder(r.t)
	folder, _ := filepath.Abs(dir)
	return dir, [2]string{folder, r.row.ID()}
}

// rank is lower for worse rows.
func rank(row reports.Row) int { return slices.Index(reports.Statuses, row.Status) }

// folder returns the one for the page of a failure, and the page as the index names it. Where no folder is asked for,
// it is a temporary one, the same for all tests of a package.
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

// resultsFolder returns the folder for pages and their index; "": none is asked for.
func resultsFolder(t T) string {
	if dir := outFlag.String(); dir != "" {
		return dir
	}
	if x, ok := t.(interface{ ArtifactDir() string }); ok && flagOf("test.artifacts") == "true" {
		return x.ArtifactDir()
	}
	return ""
}
