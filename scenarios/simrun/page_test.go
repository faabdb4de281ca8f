package simrun

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/catalog"
)

// firstPiece is a schedule of the first museum piece, of which the tests know what
// happens in it.
const firstPiece = `zksim schedule 1
scenario lock/plain-create
servers 1
order 0x4fc446b53f17fb29
faults lose-reply=2
seed 2

connect c1 s1
run c1
lose-reply c1
`

// replayed makes the report of the first museum piece and returns its folder.
func replayed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "schedule.txt")
	if err := os.WriteFile(file, []byte(firstPiece), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := simrun(t, "replay", "-o", dir, file); r.code != exitViolation || !strings.Contains(r.out, "46 steps") {
		t.Fatalf("%+v", r)
	}
	return dir
}

// failureOf returns the shrunk failure of a mutant.
func failureOf(t *testing.T, name string) *reports.Failure {
	t.Helper()
	_, dir := folder(t, name)
	schedule, s, err := (&app{all: catalog.All}).load(filepath.Join(dir, "schedule.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := pipeline.Trace(s, schedule)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestThePageOfEveryMutantTellsItsStory: the verdict, the faults, each step and the
// violation are in the text, without any script. It takes every second one, and all with ZKSIM_WHOLE=1.
func TestThePageOfEveryMutantTellsItsStory(t *testing.T) {
	t.Chdir(t.TempDir())
	var mutants []string
	for i := range catalog.All {
		if s := &catalog.All[i]; s.Broken() && (everyMutant || i%2 == 0) {
			mutants = append(mutants, regexp.QuoteMeta(s.Name))
		}
	}
	if r := simrun(t, "check", "-v", "-run", "^("+strings.Join(mutants, "|")+")$", "-o", "out"); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	pages, err := filepath.Glob("out/*/*/index.html")
	if err != nil || len(pages) != len(mutants) || len(pages) < 36 {
		t.Fatalf("%d pages of %d mutants, %v", len(pages), len(mutants), err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		schedule, s, err := (&app{all: catalog.All}).load(filepath.Join(filepath.Dir(path), "schedule.txt"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := pipeline.Trace(s, schedule)
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		for _, want := range append(reports.Struck(f.History), s.Name, f.Verdict.Checker+" violated", "× here "+
			f.Verdict.Checker+" is violated",
			"violation of "+f.Verdict.Checker, `<rect class="violation"`, "replay out/") {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not have %q", path, want)
			}
		}
		if n := strings.Count(page, "<script"); n != 2 {
			t.Errorf("%s has %d scripts", path, n)
		}
		if len(page) > 300_000 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
	t.Run("in a browser", func(t *testing.T) {
		var some []string
		for i, path := range pages {
			if everyMutant || i%3 == 0 {
				some = append(some, path)
			}
		}
		lives(t, some)
	})
}

// TestTheStoryOfTheFirstMuseumPiece: what a stranger has to understand of it is
// there, in its order, on the page and on the terminal.
func TestTheStoryOfTheFirstMuseumPiece(t *testing.T) {
	dir := replayed(t)
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	told := simrun(t, "replay", "-v", filepath.Join(dir, "schedule.txt"))
	story := []string{"c1 begins lock", "lose-reply c1: the request is executed and the connection is cut before the " +
		"reply: create /lock/_c_",
		"lock#0 now exists", "c1&#39;s create /lock/_c_", "it cannot know whether it was executed", "lock#3 now exists",
		"made as lock#3", "c3 gets the answer to children /lock: lock#0, lock#2", "c3 calls existsW lock#0",
		"c3 still waits for lock#0", "violation of quiescence: c3 waits for lock#0, which no recipe object knows of"}
	_, rest, _ := strings.Cut(string(page), `id="story"`)
	for _, want := range story {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("the page does not tell %q in its place", want)
		}
		rest = after
	}
	rest = told.out
	for _, want := range story {
		_, after, ok := strings.Cut(rest, strings.ReplaceAll(want, "&#39;", "'"))
		if !ok {
			t.Fatalf("replay -v does not tell %q in its place:\n%s", want, told.out)
		}
		rest = after
	}
	notes := simrun(t, "shrink", filepath.Join(dir, "schedule.txt"))
	if !regexp.MustCompile(`(?m)^lose-reply c1 +# lose-reply c1: the request is executed .*; lock#0 now exists`).
		MatchString(notes.out) {
		t.Errorf("the shrunk schedule says\n%s", notes.out)
	}
}

// TestAPageThatCannotBeSavedLeavesNothingHalfWritten: there is one clear error,
// and no report.json, which says that a folder is whole.
func TestAPageThatCannotBeSavedLeavesNothingHalfWritten(t *testing.T) {
	_, dir := folder(t, "lock/plain-create")
	page := filepath.Join(dir, "index.html")
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(page, "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "-v", "-run", "^lock/plain-create$", "-o", filepath.Dir(filepath.Dir(dir))},
		{"replay", "-o", dir, filepath.Join(dir, "schedule.txt")},
	} {
		r := simrun(t, args...)
		if r.code != exitUsage || !strings.Contains(r.err, "writing "+page+": ") || strings.Count(r.err, "\n") != 1 ||
			strings.Contains(r.out, "      report     ") {
			t.Errorf("%q: %+v", args, r)
		}
	}
	entries, err := os.ReadDir(dir)
	_, missing := os.Stat(filepath.Join(dir, "report.json"))
	if err != nil || len(entries) != 5 || !errors.Is(missing, fs.ErrNotExist) {
		t.Errorf("%v, %d files: something is left over", err, len(entries))
	}
}

func TestReplayWritesTheReportOfAViolation(t *testing.T) {
	file := filepath.Join(replayed(t), "schedule.txt")
	out := filepath.Join(t.TempDir(), "a", "b")
	r := simrun(t, "replay", "-o", out, file)
	if r.code != exitViolation || !strings.HasSuffix(r.out, "\n      report     "+filepath.Join(out, "index.html")+"\n") ||
		r.err != "" {
		t.Errorf("%+v", r)
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || !strings.Contains(string(page), "replay "+pipeline.Quote(file)) ||
		!strings.Contains(string(page), "3 steps prescribed; the run has 46 steps") {
		t.Errorf("%v, %.300s", err, page)
	}
}
