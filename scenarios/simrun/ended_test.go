package simrun

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
)

// suiteFile is a JUnit file as a reader sees it: what became of each case, by its name.
type suiteFile struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Name    string   `xml:"name,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
		Skipped *problem `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func readSuite(t *testing.T, text []byte) *suiteFile {
	t.Helper()
	var doc suiteFile
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &doc
}

// String says what became of each case.
func (s *suiteFile) String() string {
	var all []string
	for _, c := range s.Cases {
		what := "pass"
		switch {
		case c.Failure != nil:
			what = "failure " + c.Failure.Type
		case c.Error != nil:
			what = "error " + c.Error.Type
		case c.Skipped != nil:
			what = "skipped " + c.Skipped.Message
		}
		all = append(all, c.Name+": "+what)
	}
	return strings.Join(all, ", ")
}

// actions are the ends of tests among the events that check -json prints.
func actions(t *testing.T, out string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(out) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			all = append(all, e.Action+" "+e.Test)
		}
	}
	return strings.Join(all, ", ")
}

// interruptible returns a context, and a function by which client code has it canceled before it goes on. A goroutine
// of the test cancels it, since that starts others, which client code must not do.
//
//zksim:ignore nothing in the run depends on when the context is canceled
func interruptible(t *testing.T) (context.Context, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	asked, canceled := make(chan struct{}), make(chan struct{})
	var over atomic.Bool
	ask := sync.OnceFunc(func() { close(asked) })
	go func() {
		defer close(canceled)
		<-asked
		cancel()
		over.Store(true)
	}()
	t.Cleanup(func() {
		ask()
		<-canceled
	})
	return ctx, func() {
		ask()
		for !over.Load() {
			runtime.Gosched()
		}
	}
}

// stoppingSeeds is how many seeds of test/stops are run: more than those that are run strictly before the others.
const stoppingSeeds = 20

// stopping is a scenario that has the command interrupted in the last of stoppingSeeds seeds. It tells seeds apart by
// what is drawn in them.
func stopping(stop func()) engine.Scenario {
	drawn := map[string]bool{}
	return engine.Scenario{Name: "test/stops", Clients: 1, Program: func(p *engine.Process) {
		drawn[p.Env.UUID()] = true
		if len(drawn) == stoppingSeeds {
			stop()
		}
		p.Step()
	}}
}

func TestWhatAnInterruptedCheckHasNotFinishedIsNoPass(t *testing.T) {
	for _, x := range []struct {
		first                 engine.Scenario
		code                  int
		verdict, suite, seeds string
	}{
		{holds, exitInconclusive, "pass", "pass", "1-50"},
		{fails, exitViolation, "fail", "failure violation", "1-9000000000"},
	} {
		t.Run(x.first.Name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			ctx, stop := interruptible(t)
			add(t, x.first, stopping(stop), engine.Scenario{Name: "test/later", Clients: 1, Program: idle})
			r := simrunUntil(ctx, "check", "-json", "-junit", "j.xml", "-run", "^test/", "-seeds", x.seeds, "-p", "1")
			want := x.verdict + " check/" + x.first.Name +
				", fail check/test/stops, skip check/test/later, fail check, fail "
			if got := actions(t, r.out); r.code != x.code || got != want ||
				r.err != "simrun check: interrupted; not done: test/stops, test/later\n" {
				t.Errorf("%d, %s\ngot  %s\nwant %s", r.code, r.err, got, want)
			}
			for _, line := range []string{`"Output":"inconclusive test/stops               interrupted (20 runs)\n"`,
				`"Output":"not run: interrupted\n"`, `1 inconclusive, 1 not run, interrupted\n"`} {
				if !strings.Contains(r.out, line) {
					t.Errorf("no %s in\n%s", line, r.out)
				}
			}
			text, err := os.ReadFile("j.xml")
			if err != nil {
				t.Fatal(err)
			}
			doc := readSuite(t, text)
			want = "check: error interrupted, " + x.first.Name + ": " + x.suite +
				", test/stops: error interrupted, test/later: skipped interrupted"
			if doc.String() != want || doc.Errors != 2 || doc.Skipped != 1 || doc.Tests != 4 {
				t.Errorf("got  %s\nwant %s", doc, want)
			}
		})
	}
}

func TestWhatFailfastLeavesOutIsSkipped(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails, holds)
	r := simrun(t, "check", "-json", "-junit", "j.xml", "-failfast", "-run", "^test/", "-seeds", "1-3")
	const want = "fail check/test/fails, skip check/test/holds, fail check, fail "
	if got := actions(t, r.out); r.code != exitViolation || got != want {
		t.Errorf("%d, %s", r.code, got)
	}
	text, err := os.ReadFile("j.xml")
	doc := readSuite(t, text)
	if err != nil || doc.String() != "test/fails: failure violation, test/holds: skipped -failfast" {
		t.Errorf("%s, %v", doc, err)
	}
}

// With -seeds, -for is a limit and not the amount of work.
func TestSeedsThatAreNotDoneInTimeAreInconclusive(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, aimless)
	r := simrun(t, "check", "-json", "-junit", "j.xml", "-run", "^test/", "-seeds", "1-9000000000", "-for", "40ms")
	if got := actions(t, r.out); r.code != exitInconclusive || r.err != "" ||
		got != "fail check/test/holds, fail check/test/aimless, fail check, fail " {
		t.Errorf("%d, %s, %s", r.code, got, r.err)
	}
	text, err := os.ReadFile("j.xml")
	doc := readSuite(t, text)
	if err != nil || doc.String() != "test/holds: error inconclusive, test/aimless: error inconclusive" ||
		!strings.Contains(doc.Cases[0].Error.Message, "the time was up before all was done (") {
		t.Errorf("%s, %v", doc, err)
	}
}

// Another process is killed: by signals that it hears, and by one that it does not.
func TestAKilledCheckLeavesNoGreenJUnitFile(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Kill} {
		const old = `<testsuites><testsuite><testcase name="lock/lock"></testcase></testsuite></testsuites>`
		write(t, "j.xml", old)
		begun := func() bool {
			text, err := os.ReadFile("j.xml")
			return err == nil && bytes.Contains(text, []byte(notEnded))
		}
		r, took := interrupt(t, binary, 100*time.Millisecond, begun, s,
			"check", "-json", "-junit", "j.xml", "-run", "^lock/(lock|workers)$", "-seeds", "1-9000000000")
		text, err := os.ReadFile("j.xml")
		if err != nil {
			t.Fatal(err)
		}
		doc := readSuite(t, text)
		code, want := exitInconclusive, "check: error interrupted, "+
			"lock/lock: error interrupted, lock/workers: skipped interrupted"
		if s == os.Kill {
			code, want = -1, "check: error interrupted, "+
				"lock/lock: skipped "+notEnded+", lock/workers: skipped "+notEnded
		} else if got := actions(t, r.out); got != "fail check/lock/lock, skip check/lock/workers, fail check, fail " {
			t.Errorf("%v: %s", s, got)
		}
		if r.code != code || doc.String() != want || doc.Errors == 0 || took > 20*time.Second {
			t.Errorf("%v: %+v after %v\n%s, want\n%s", s, r, took, doc, want)
		}
	}
}

func TestAnInterruptedProofSaysWhatIsNotDone(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := interruptible(t)
	stops := engine.Scenario{Name: "test/stops", Clients: 1, Program: func(p *engine.Process) {
		stop()
		p.Step()
	}}
	later := engine.Scenario{Name: "test/later", Clients: 1, Program: idle}
	last := engine.Scenario{Name: "test/last", Clients: 1, Program: idle}
	add(t, holds, stops, later, last)
	r := simrunUntil(ctx, "prove", "-run", "^test/", "-clients", "0")
	if r.code != exitInconclusive || !strings.HasPrefix(r.out, "holds: test/holds with ") ||
		!strings.HasPrefix(r.err, "simrun prove: interrupted; not done: ") ||
		!strings.HasSuffix(r.err, "test/later, test/last\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "prove", "-run", "^lock/name-sort$", "-clients", "2", "-cert", "c.json"); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	r = simrunUntil(ctx, "prove", "-verify", "c.json")
	if r.code != exitInconclusive || r.err != "simrun prove: interrupted; not done: c.json\n" {
		t.Errorf("%+v", r)
	}
	// Not to have tried every scope of a mutant is no verdict on it.
	r = simrunUntil(ctx, "prove", "-run", "^lock/watch-first$")
	if r.code != exitInconclusive || !strings.Contains(r.out, "scopes not tried in time\n") ||
		r.err != "simrun prove: interrupted; not done: lock/watch-first\n" {
		t.Errorf("%+v", r)
	}
}

func TestShrinkingCanBeCutShort(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "first.txt", firstPiece)
	whole := simrun(t, "shrink", "first.txt")
	if whole.code != exitHeld || whole.err != "" || strings.Contains(whole.out, "may not be minimal") {
		t.Fatalf("%+v", whole)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for why, r := range map[string]result{
		"given up after 3 runs": simrun(t, "shrink", "-attempts", "3", "first.txt"),
		"interrupted":           simrunUntil(stopped, "shrink", "first.txt"),
	} {
		if r.code != exitInconclusive || r.err != "simrun shrink: the schedule may not be minimal: "+why+"\n" ||
			!strings.HasSuffix(r.out, "\n# may not be minimal: "+why+"\n") {
			t.Errorf("%+v", r)
		}
		write(t, "some.txt", r.out)
		if again := simrun(t, "replay", "some.txt"); again.code != exitViolation {
			t.Errorf("%s: %+v", why, again)
		}
	}
	var out, err bytes.Buffer
	code := (&app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &err,
		terminal: true}).main(t.Context(), []string{"shrink", "first.txt"})
	if code != exitHeld || !strings.Contains(err.String(), "shrinking, ") || out.String() != whole.out {
		t.Errorf("%d %q", code, &err)
	}
	r := simrun(t, "shrink", "-attempts", "-1", "first.txt")
	if r.code != exitUsage || r.err != "simrun shrink: -attempts cannot be negative, as -1 is\n" {
		t.Errorf("%+v", r)
	}
}

// The verdict is there, and the schedule as small as it had become.
func TestACheckThatIsInterruptedWhileItShrinksReportsTheFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := interruptible(t)
	add(t, engine.Scenario{Name: "test/slow", Clients: 3, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			if p.Clients < 3 { // only when it shrinks
				stop()
			}
			if p.ID == 1 {
				p.Fail(errors.New("enough"))
			}
			for range 20 {
				p.Step()
			}
		}})
	r := simrunUntil(ctx, "check", "-run", "^test/slow$", "-seeds", "1-4", "-p", "1")
	const head = "FAIL  test/slow  seed 1  liveness: c1 gave up: enough\n      smaller    "
	if r.code != exitViolation || !strings.HasPrefix(r.out, head) ||
		!strings.Contains(r.out, "; may not be minimal: interrupted\n") || r.err != "simrun check: interrupted\n" {
		t.Errorf("%+v", r)
	}
	for file, want := range map[string]string{
		"report.json": `"not_minimal": "interrupted"`, "index.html": ", not minimal: interrupted;",
	} {
		text, err := os.ReadFile(filepath.Join("out", "test.slow", "1", file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v: %s", file, err, text)
		}
	}
}
