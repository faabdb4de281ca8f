package simrun

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/internal/files"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// interrupt runs simrun, sends a signal after a while, and not before it is time,
// and waits for the end.
func interrupt(t *testing.T, binary string, after time.Duration, ready func() bool, signal os.Signal,
	args ...string) (result, time.Duration) {
	t.Helper()
	var out, errs strings.Builder
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(time.Minute); !ready() && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(after)
	began := time.Now()
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	c.Wait() // the exit status says it
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}, time.Since(began)
}

func always() bool { return true }

func TestSignalsEndEveryCommand(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	write(t, "first.txt", firstPiece)
	for _, x := range [][]string{
		{"check", "-run", "^lock/lock$", "-for", "1h"},
		{"why", "-futures", "1000000000", "first.txt"},
		{"museum", "-reps", "1000000"},
	} {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			r, took := interrupt(t, binary, 500*time.Millisecond, always, s, x...)
			// On a busy machine the command may not have come to the point from which it listens.
			for after := time.Second; r.code == -1 && after < 20*time.Second; after *= 2 {
				r, took = interrupt(t, binary, after, always, s, x...)
			}
			if r.code != exitInconclusive || !strings.HasPrefix(r.err, "simrun "+x[0]+": interrupted") ||
				strings.Count(r.err, "\n") != 1 || took > 30*time.Second {
				t.Errorf("%q, %v: %+v after %v", x, s, r, took)
			}
		}
	}
	// A command that does not wait for the signal does not swallow it.
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"replay", "shrink", "why"} {
		if r, took := interrupt(t, binary, 300*time.Millisecond, always, os.Interrupt, command, "pipe"); r.code != -1 ||
			took > 30*time.Second {
			t.Errorf("%s: %+v after %v", command, r, took)
		}
	}
	for args, why := range map[string]string{
		"check recorded:pipe": "simrun check: interrupted\n",
		"prove -verify pipe":  "simrun prove: interrupted; not done: pipe\n",
	} {
		r, took := interrupt(t, binary, time.Second, always, os.Interrupt, strings.Fields(args)...)
		if r.code != exitInconclusive || r.err != why || took > 30*time.Second {
			t.Errorf("%s: %+v after %v", args, r, took)
		}
	}
}

func TestAnInterruptedReplayOfRecordingsHasNoResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := filepath.Join("..", "..", "testdata")
	if r := simrunUntil(ctx, "conform", "-replay", folder); r.code != exitInconclusive ||
		r.err != "simrun conform: interrupted\n" || r.out != "" {
		t.Errorf("%+v", r)
	}
	r := simrunUntil(ctx, "check", "-backend", "zookeeper", "-servers", "localhost:1", "-run", "^lock/lock$")
	if r.code != exitInconclusive || r.err != "simrun check: interrupted; not done: lock/lock\n" {
		t.Errorf("%+v", r)
	}
	// Nor has one that is interrupted while servers start.
	for _, x := range []struct{ args, out, undone string }{
		{"check -backend zookeeper -run ^lock/lock$", "1 scenario: 1 not run, interrupted\n", "; not done: lock/lock"},
		{"conform", "", ""},
	} {
		args := strings.Fields(x.args)
		r := simrunUntil(ctx, args...)
		if r.code != exitInconclusive || r.err != "simrun "+args[0]+": interrupted"+x.undone+"\n" || r.out != x.out {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

// whole reports whether a folder has a report.json, and fails the test if it is
// there without the rest or anything in the folder is empty.
func whole(t *testing.T, dir string) bool {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "report.json")); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, name := range []string{"schedule.txt", "schedule.full.txt", "history.jsonl", "index.html", "report.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(text)),
			map[string]string{"index.html": "</html>", "report.json": "}"}[name]) {
			t.Errorf("%s/%s is not whole: %v", dir, name, err)
		}
	}
	return true
}

func TestAnInterruptedCheckLeavesNoHalfWrittenReport(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	reports := 0
	for i, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Kill, os.Interrupt, os.Kill} {
		out := fmt.Sprint("out", i)
		some := func() bool {
			found, err := filepath.Glob(filepath.Join(out, "*", "*", "report.json"))
			return err != nil || len(found) > i
		}
		interrupt(t, binary, time.Duration(7*i)*time.Millisecond, some, s, "check", "-v", "-run", "^lock/", "-o", out)
		dirs, err := filepath.Glob(filepath.Join(out, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			switch {
			case whole(t, dir):
				reports++
			case s != os.Kill:
				t.Errorf("%v left %s without report.json", s, dir)
			}
		}
	}
	if reports == 0 {
		t.Error("no report was written before the signals")
	}
}

func TestAFullDiskIsOneClearError(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	for _, command := range []string{"check -v -run plain-create", "check -v -run plain-create -json"} {
		r := shell(t, "ulimit -f 4; exec "+binary, "go run ./cmd/simrun "+command)
		if r.code != exitUsage || strings.Count(r.err, "\n") != 1 ||
			!strings.Contains(r.err, "no report can be written: writing out/lock.plain-create/") ||
			!strings.Contains(r.err, "file too large") {
			t.Errorf("%s: %+v", command, r)
		}
		const why = `"Output":"      no report  seed 2 of lock/plain-create fails (`
		if strings.HasSuffix(command, "-json") && !strings.Contains(r.out, why) {
			t.Errorf("the reader of the events does not hear why: %s", r.out)
		}
	}
	dirs, err := filepath.Glob("out/*/*")
	if err != nil || len(dirs) != 1 || whole(t, dirs[0]) {
		t.Fatalf("%q, %v", dirs, err)
	}
	if left, err := filepath.Glob("out/*/*/*.*[0-9]"); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	write(t, "first.txt", firstPiece)
	for _, command := range []string{"list", "list -short", "version", "replay first.txt", "shrink first.txt",
		"why -futures 1 first.txt", "diff first.txt first.txt",
		"help", "check -h", "check -run ^lock/lock$ -seeds 1"} {
		r := shell(t, binary, "go run ./cmd/simrun "+command+" >/dev/full")
		if r.code != exitUsage || !strings.Contains(r.err, "no space left on device") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

func TestAReportDoesNotOutliveItsFiles(t *testing.T) {
	_, dir := folder(t, "lock/plain-create")
	write(t, filepath.Join(dir, "porcupine.html"), "of another run")
	if err := os.Remove(filepath.Join(dir, "schedule.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "schedule.txt", "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	if r := simrun(t, "check", "-v", "-run", "^lock/plain-create$"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"report.json", "porcupine.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestFilesHaveTheModeThatTheUserAsksFor(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	dir := t.TempDir()
	if err := files.Save(dir, "a", firstPieceSchedule(t).Write); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func firstPieceSchedule(t *testing.T) *engine.Schedule {
	t.Helper()
	s, err := engine.ParseSchedule(strings.NewReader(firstPiece))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestAFailureThatDoesNotHappenAgainIsNondeterminism(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := 0
	add(t, holds, engine.Scenario{Name: "test/once", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			if runs++; runs == 90 { // not one of the strict runs, whose number depends on the machine
				p.Fail(errors.New("only once"))
			}
		}})
	r := simrun(t, "check", "-run", "^test/", "-seeds", "1-100", "-p", "1")
	if r.code != exitNondeterministic || !strings.Contains(r.out,
		"FAIL    test/once                nondeterministic: seed ") ||
		!strings.HasSuffix(r.out, "2 scenarios: 1 held, 1 nondeterministic\n") || r.err != "" {
		t.Errorf("%+v", r)
	}
	forks := 0
	add(t, engine.Scenario{Name: "test/fork", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			if forks++; forks > 1 {
				return
			}
			p.Step()
			p.Fail(errors.New("only once"))
		}})
	write(t, "fork.txt", "zksim schedule 1\nscenario test/fork\n\n")
	if r := simrun(t, "why", "fork.txt"); r.code != exitNondeterministic ||
		!strings.HasPrefix(r.out, "FAIL  test/fork  nondeterministic: ") || r.err != "" {
		t.Errorf("%+v", r)
	}
}

func TestAProofOfAProgramThatIsNotDeterministicIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := 0
	add(t, holds, engine.Scenario{Name: "test/moody", Clients: 2, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			runs++
			for k := range 6 {
				if uint32(runs)*2654435761>>k&1 == 0 {
					p.Conn.Children("/")
				} else {
					p.Conn.Get("/")
				}
			}
		}})
	r := simrun(t, "prove", "test/moody", "test/holds", "-p", "1", "-junit", "junit.xml")
	if r.code != exitNondeterministic || !strings.Contains(r.out, "FAIL    test/moody               nondeterministic: "+
		"test/moody: the same steps lead to another state") || !strings.HasSuffix(r.out,
		"2 scenarios: 1 held, 1 nondeterministic\n") || r.err != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile("junit.xml"); err != nil || !strings.Contains(string(text), `tests="2" errors="1"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestOddNumbersNeitherHangNorPanic(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, aimless)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for args, code := range map[string]int{
		"-for 1ns": exitInconclusive, "-p 9223372036854775807 -seeds 1-3": exitInconclusive,
		"-p 9223372036854775807 -seeds 0-9223372036854775807 -for 20ms": exitInconclusive,
		"-seeds 9223372036854775807":                                    exitInconclusive,
		"-seeds 0 -shard 100000/100000":                                 exitHeld, // only the whole can tell
		"-seeds 0 -shard 4294967295/4294967295":                         exitUsage,
		"-seeds 9223372036854775808":                                    exitUsage,
	} {
		r := simrunUntil(ctx, append([]string{"check", "-run", "^test/"}, strings.Fields(args)...)...)
		if r.code != code || strings.Contains(r.err, "interrupted") {
			t.Errorf("%s: %+v", args, r)
		}
		if args == "-for 1ns" && strings.Contains(r.out, "not judged") { // by whom, needs no saying where nothing was run
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestOddFilesGetOneShortLine(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = "zksim schedule 1\nscenario lock/lock\n"
	long := strings.Repeat("a", 60_000)
	write(t, "name.txt", head+"\n"+long+"\n")
	write(t, "scenario.txt", "zksim schedule 1\nscenario "+long+"\n")
	write(t, "line.txt", head+"# "+long+long+"\n")
	write(t, "long.jsonl", `{"kind":"`+strings.Repeat("a", reports.MaxHistoryLine))
	write(t, "many.txt", head+"\n"+strings.Repeat("tick\n", 1<<20+1))
	write(t, "twice.txt", head+"servers 1\nservers 3\n")
	write(t, "cut.jsonl", "{\"kind\":\"call\"}\n{\"kind\":\"re")
	write(t, "report.json", "{\n  \"format\": \"zksim report 1\"\n}\n")
	for _, x := range []struct{ args, want string }{
		{"replay name.txt", `simrun replay: name.txt: line 4: the schedule does not fit scenario lock/lock: step 1: "aaa`},
		{"replay scenario.txt", `simrun replay: scenario.txt: no scenario is called "aaa`},
		{"replay line.txt", `simrun replay: line.txt: line 3: no line of a schedule is longer than 65536 bytes`},
		{"replay many.txt", `simrun replay: many.txt: line 1048580: no schedule has more than 1048576 transitions`},
		{"replay twice.txt", `simrun replay: twice.txt: line 4: the header has servers twice`},
		{"diff cut.jsonl cut.jsonl", `simrun diff: cut.jsonl: line 2: a history has an object with a "kind" in each line, ` +
			`not "{\"kind\":\"re"`},
		{"diff report.json report.json", `simrun diff: report.json: line 1: a history has an object with a "kind" in each ` +
			`line, not "{"`},
		{"diff /dev/zero /dev/zero", `simrun diff: /dev/zero: line 1: no line of a schedule is longer than 65536 bytes`},
		{"judge long.jsonl", `simrun judge: long.jsonl: line 1: no line of a history is longer than 134217728 bytes`},
		{"diff long.jsonl long.jsonl", `simrun diff: long.jsonl: line 1: no line of a history is longer than ` +
			`134217728 bytes`},
		{"conform -replay long.jsonl", `simrun conform: long.jsonl: line 1: no line of a transcript is longer than ` +
			`16777216 bytes`},
		{"check -junit .", `simrun check: -junit: . is a folder, not a file`},
		{"check -junit new/", `simrun check: -junit: new/ is a folder, not a file`},
		{"check -backend zookeeper -servers a:1 -nodes 1", `simrun check: -servers and -nodes exclude each other`},
		{"why -futures 9223372036854775807 name.txt", `simrun why: -futures is a number from 1 to 1000000000, not ` +
			`9223372036854775807`},
		{"museum -reps 9223372036854775807", `simrun museum: -reps is a number from 1 to 1000000, not 9223372036854775807`},
	} {
		r := simrun(t, strings.Fields(x.args)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, x.want) || strings.Count(r.err, "\n") != 1 ||
			len(r.err) > 600 {
			t.Errorf("simrun %s: %+.700v\nwant %s", x.args, r, x.want)
		}
	}
	write(t, "edited.txt", strings.ReplaceAll("zksim schedule 1 # it is\nscenario\tlock/lock\n# no fault\n \n  run\tc1 "+
		"# first\n#\n\n", "\n", "\r\n"))
	if r := simrun(t, "replay", "edited.txt"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
}

func TestSchedulesMayComeFromAPipe(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	write(t, "first.txt", firstPiece)
	for command, code := range map[string]int{"replay /dev/stdin": exitViolation, "shrink /dev/stdin": exitHeld,
		"diff /dev/stdin first.txt": exitHeld} {
		if r := shell(t, "cat first.txt | "+binary, "go run ./cmd/simrun "+command); r.code != code || r.err != "" {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

func TestNamesOfScenariosThatNoFileCanCarryAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"", " ", ".", "..", "../..", " a", "a ", "a\nb", "a\tb", "a #b", "#a", "a\ufffd",
		"a\u2028b", strings.Repeat("x", 10_000), strings.Repeat("☃", 67)} {
		add(t, engine.Scenario{Name: name, Clients: 1, Program: fails.Program, Checkers: fails.Checkers})
		r := simrun(t, "check", "-run", "^\\Q"+name+"\\E$", "-seeds", "1")
		if r.code != exitUsage || !strings.Contains(r.err,
			"the name of a scenario is one line of visible characters, up to 200 bytes") || strings.Count(r.err, "\n") != 1 ||
			len(r.err) > 500 {
			t.Errorf("%.50q: %.300s %.300s", name, r.out, r.err)
		}
	}
}

// These commands run scenarios without what check and prove look at first.
func TestAScenarioThatIsNotValidIsNamedByEachCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	judges := []checkers.Checker{checkers.Steps{}}
	wrong := engine.Scenario{Name: "x/negative", Clients: -1, Program: idle, Checkers: judges, Caught: []string{"steps"}}
	judged := engine.Scenario{Name: "x/nil", Clients: 2, Program: idle, Checkers: []checkers.Checker{nil}}
	for _, x := range []struct{ args, want string }{
		{"museum -reps 1", "Clients of x/negative is -1, expected "},
		{"strategies -reps 1", "Clients of x/negative is -1, expected "},
		{"explore -run x/negative", "Clients of x/negative is -1, expected "},
		{"explore -run x/nil", "checker 1 of x/nil is nil\n"},
		{"check -backend zookeeper x/nil", "checker 1 of x/nil is nil\n"},
		{"check x/negative -clients 3", "Clients of x/negative is -1, expected "},
	} {
		var out, err strings.Builder
		a := &app{all: []engine.Scenario{wrong, judged}, command: "mine", in: strings.NewReader(""), out: &out, err: &err}
		code := a.main(context.Background(), strings.Fields(x.args))
		if code != exitUsage || out.String() != "" || !strings.Contains(err.String(), ": "+x.want) {
			t.Errorf("%s: status %d, %s%s", x.args, code, &out, &err)
		}
	}
	add(t, judged)
	if r := simrun(t, "list", "x/nil"); r.code != exitHeld || !strings.HasSuffix(r.out,
		"    not valid checker 1 of x/nil is nil\n") {
		t.Errorf("%+v", r)
	}
	if calls := callers(append(catalog.All[:1:1], judged)); len(calls) == 0 {
		t.Error("nobody calls anything")
	}
}

// The first ends its goroutine, as the FailNow of a test does, and the second has a checker that panics.
func TestCodeThatEndsItsGoroutineOrPanicsInAJudgeEndsEachCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, engine.Scenario{Name: "x/goner", Clients: 2, Program: func(*engine.Process) { runtime.Goexit() },
		Checkers: []checkers.Checker{checkers.Steps{}}},
		engine.Scenario{Name: "x/judge", Clients: 2, Program: func(p *engine.Process) { p.Conn.Exists("/") },
			Checkers: []checkers.Checker{panicking{}}})
	for _, x := range []struct{ name, want string }{
		{"x/goner", "the program, or what judges it, has ended its goroutine, as runtime.Goexit and the FailNow "},
		{"x/judge", "a checker, a monitor, a goal or a function of Register panics: boom"},
	} {
		write(t, "it.txt", "zksim schedule 1\nscenario "+x.name+"\n\nrun c1\n")
		write(t, "history.jsonl", `{"i":0,"step":1,"kind":"call","client":"c1","op":"exists","path":"/"}`+"\n"+
			`{"kind":"end","lines":1}`+"\n")
		for _, args := range []string{"explore it.txt", "explore -seed 1 -run " + x.name, "shrink it.txt", "why it.txt",
			"diff it.txt it.txt", "replay -stop 1 it.txt", "explain -runs 3 history.jsonl -run " + x.name} {
			r := simrun(t, strings.Fields(args)...)
			if r.code != exitUsage || !strings.Contains(r.err, x.want) {
				t.Errorf("%s of %s: %+v", args, x.name, r)
			}
		}
	}
}

// panicking is a checker.
type panicking struct{}

func (panicking) Name() string                            { return "panicking" }
func (panicking) Doc() string                             { return "it panics" }
func (panicking) Check(*history.History) checkers.Verdict { panic("boom") }

func TestWhateverAScenarioIsCalledItsReportCanBeReproduced(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"<script>alert(1)</script>", `it's/"quoted"`, "a]]>b", "a.*(b|c)$", "two words", "ü/é",
		strings.Repeat("x", 200)} {
		add(t, engine.Scenario{Name: name, Clients: 1, Checkers: fails.Checkers, Doc: name,
			Program: func(p *engine.Process) { p.Fail(errors.New(name + "\n\x1b[2J</script>]]>\u2028\xff")) }})
		r := simrun(t, "check", "-run", "^\\Q"+name+"\\E$", "-seeds", "1", "-junit", "j.xml")
		if r.code != exitViolation || r.err != "" || strings.ContainsAny(r.out, "\x1b\u2028") ||
			strings.Count(r.out, "\n") != 8 {
			t.Errorf("%q: %+v", name, r)
			continue
		}
		if text, err := os.ReadFile("j.xml"); err != nil || xml.Unmarshal(text, new(struct{})) != nil ||
			strings.ContainsAny(string(text), "\x1b\u2028") {
			t.Errorf("%q: %v, %s", name, err, text)
		}
		events := simrun(t, "check", "-run", "^\\Q"+name+"\\E$", "-seeds", "1", "-json")
		for line := range strings.Lines(events.out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: %s", name, line)
			}
		}
		dir := filepath.Join("out", strings.ReplaceAll(name, "/", "."), "1")
		if !whole(t, dir) {
			t.Errorf("%q has no report", name)
		}
		if !strings.Contains(r.out, "      or         go run ./cmd/simrun check -run '^") {
			t.Errorf("%q: %s", name, r.out)
		}
		if again := simrun(t, "replay", filepath.Join(dir, "schedule.txt")); again.code != exitViolation ||
			strings.ContainsAny(again.out, "\x1b\u2028") {
			t.Errorf("%q: %+v", name, again)
		}
	}
}
