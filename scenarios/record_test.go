package scenarios_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/herd"
)

// indexHas looks for texts in the index of a folder.
func indexHas(t *testing.T, dir string, texts ...string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range texts {
		if !strings.Contains(string(page), want) {
			t.Errorf("the index does not have %s\n%s", want, page)
		}
	}
}

// outFlag runs f with a value of -zksim.out, up to the end of the test that it is.
func outFlag(t *testing.T, dir string, f func(t *fakeT)) (x *fakeT) {
	t.Helper()
	x = &fakeT{}
	*scenarios.OutFlag = dir
	defer func() { *scenarios.OutFlag = "" }()
	x.run(func() { f(x) })
	return x
}

// gaveUp is a scenario that fails in every run.
func gaveUp() scenarios.Scenario {
	return scenarios.Scenario{Name: "my/leak", Clients: 2, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *scenarios.Process) { p.Fail(errors.New("enough")) }}
}

// What a proof finds has the page and the schedule that a check leaves, and rows of its own beside those of checks.
func TestProofsAreOnTheIndexOfChecks(t *testing.T) {
	t.Chdir(t.TempDir())
	held := scenarios.Scenario{Name: "my/lock", Clients: 2, Program: idle}
	both := func(t *fakeT) {
		scenarios.Check(t, held)
		scenarios.Prove(t, held, scenarios.Bounds{}, scenarios.Bounds{Order: 3})
		scenarios.Prove(t, *catalog.Named("lock/name-sort"))
		scenarios.Prove(t, gaveUp())
	}
	f := outFlag(t, "out", both)
	for _, want := range []string{"my/leak  exhaustive search  liveness: c", "\n    page       /",
		"/out/my.leak/prove/index.html\n    replayed   2 of 2 identical",
		"-zksim.schedule testdata/zksim/my.leak/liveness-"} {
		if !strings.Contains(f.fatal, want) {
			t.Errorf("no %q in %s", want, f.fatal)
		}
	}
	indexHas(t, "out", "4 results: 1 violated, 1 caught, 2 held", `<tr id="my/lock">`, `<tr id="my/lock:prove">`,
		"holds: my/lock with 2 clients, servers 1, faults none, at most 0, all reductions; ",
		"<p>holds: my/lock with 2 clients, servers 1, faults none, at most 0, order 3, ",
		`href="./my.leak/prove/index.html"`, "decided by no single step",
		"-zksim.schedule testdata/zksim/my.leak/liveness-", "violated: lock/name-sort with 2 clients, ")
	if _, err := os.Stat("out/my.leak/prove/index.html"); err != nil {
		t.Error(err)
	}
	outFlag(t, "out", func(t *fakeT) { scenarios.Prove(t, held, scenarios.Bounds{Clients: 65}) })
	indexHas(t, "out", "inconclusive</span><p>my/lock: the number of clients is from 2 to 64, not 65")
	broken := *catalog.Named("lock/plain-create")
	broken.Caught = nil
	few := scenarios.Bounds{Checkers: []string{"quiescence"}, Faults: "lose-reply=1"}
	outFlag(t, "out", func(t *fakeT) { scenarios.Prove(t, broken, few) })
	indexHas(t, "out", `"./lock.plain-create/prove/index.html"`, "</span> quiescence, decided by lose-reply")
}

// A test that is killed leaves no result of an earlier run, but the one of another test of the same scenario that has
// failed.
func TestUntilATestEndsItsFolderSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	file, while := "", ""
	held := scenarios.Scenario{Name: "my/lock", Clients: 2, Program: idle}
	held.Finally = func(*history.History) error {
		text, err := os.ReadFile(file)
		while = string(text)
		return err
	}
	tests := map[string]func(t *fakeT){
		"scenario.json":        func(t *fakeT) { scenarios.Check(t, held) },
		"scenario.prove.json":  func(t *fakeT) { scenarios.Prove(t, held) },
		"scenario.search.json": func(t *fakeT) { scenarios.Exhaust(t, held, scenarios.SearchBounds{}) },
	}
	for name, f := range tests {
		file = "out/my.lock/" + name
		for range 2 {
			scenarios.ForgetRows()
			if x := outFlag(t, "out", f); x.fatal != "" {
				t.Error(x.fatal)
			}
			if want := "the test has come to no end"; !strings.Contains(while, want) {
				t.Errorf("%s while the test runs: %s", name, while)
			}
		}
	}
	indexHas(t, "out", "3 results: 3 held")
	failing := gaveUp()
	failing.Name = held.Name
	outFlag(t, "out", func(t *fakeT) { scenarios.Check(t, failing) })
	file = "out/my.lock/scenario.json"
	if outFlag(t, "out", tests["scenario.json"]); !strings.Contains(while, `"violated"`) {
		t.Errorf("after a test that has failed: %s", while)
	}
}

// fakeF is a fuzz test that never gets as far as an input.
type fakeF struct{ *fakeT }

func (fakeF) Add(...any) {}

func (fakeF) Fuzz(any) {}

// A search that says nothing, because of what the code is, has a row of its own kind.
func TestTheIndexTellsWhySearchesSayNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	napper := scenarios.Scenario{Name: "my/napper", Clients: 2, Program: func(*scenarios.Process) {
		time.Sleep(time.Hour) //zksim:ignore this is to be found
	}}
	turns := 0
	fickle := scenarios.Scenario{Name: "my/fickle", Clients: 2, Program: func(p *scenarios.Process) {
		turns++
		p.Conn.Exists(fmt.Sprintf("/%d", turns))
	}}
	for _, x := range []struct {
		s          scenarios.Scenario
		fatal, row string
	}{
		{napper, "my/napper, seed 1: c", "misused</span><p>misuse: c"},
		{fickle, "my/fickle: ", "nondeterministic</span><p>"},
	} {
		for name, f := range map[string]func(t *fakeT){
			"prove":  func(t *fakeT) { scenarios.Prove(t, x.s) },
			"search": func(t *fakeT) { scenarios.Exhaust(t, x.s, scenarios.SearchBounds{Delays: 1}) },
			"fuzz":   func(t *fakeT) { scenarios.Fuzz(fakeF{t}, x.s) },
		} {
			if f := outFlag(t, "out", f); !strings.HasPrefix(f.fatal, x.fatal) || strings.Count(f.fatal, x.s.Name) != 1 {
				t.Errorf("%s: %+v", name, f)
			}
			indexHas(t, "out", fmt.Sprintf("<tr id=%q>", x.s.Name+":"+name), x.row)
		}
	}
}

func TestAMeasurementOfCodeThatLeavesTheSimulatorSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range []struct {
		name  string
		wrong func()
		row   string
	}{
		{"my/napper", func() { time.Sleep(time.Hour) }, "misused</span><p>misuse: c"}, //zksim:ignore this is to be found
		{"my/leaver", runtime.Goexit, "inconclusive</span><p>the program, or what judges it, has ended its goroutine"},
	} {
		v := variants.All[0]
		v.Name, v.Program = x.name, func(*herd.Process) { x.wrong() }
		f := outFlag(t, "out", func(t *fakeT) { scenarios.Herd(t, v, herd.PerEvent(1)) })
		if !strings.HasPrefix(f.fatal, x.name+": ") {
			t.Errorf("%+v", f)
		}
		indexHas(t, "out", fmt.Sprintf("<tr id=%q>", x.name+":herd"), x.row)
	}
}

func TestMeasurementsAreOnTheIndexOfChecks(t *testing.T) {
	t.Chdir(t.TempDir())
	var v herd.Variant
	for _, x := range variants.All {
		if x.Name == "lock/sequential" {
			v = x
		}
	}
	if f := outFlag(t, "out", func(t *fakeT) { scenarios.Herd(t, v, herd.PerEvent(1)) }); f.fatal != "" ||
		!strings.HasPrefix(f.logs, "lock/sequential: measured with 2 to 320 clients; ") {
		t.Errorf("%+v", f)
	}
	indexHas(t, "out", "1 result: 1 held", `id="lock/sequential:herd"`,
		"measured with 2 to 320 clients; with 320 there are ")
	f := outFlag(t, "out", func(t *fakeT) { scenarios.Herd(t, v, herd.PerEvent(0.5)) })
	if !strings.HasPrefix(f.fatal, "lock/sequential: ") {
		t.Error(f.fatal)
	}
	indexHas(t, "out", "1 result: 1 violated", " notifications for each client that goes on, with ",
		"at most 0.5 may be; measured with 2 to 320 clients")
	v.Most = 1
	f = outFlag(t, "out", func(t *fakeT) { scenarios.Herd(t, v) })
	if want := "lock/sequential is for 1 client at most, expected 2 or more"; f.fatal != want {
		t.Error(f.fatal)
	}
}

// FuzzIndexed is run by the next test in a process of its own; by itself it holds.
func FuzzIndexed(f *testing.F) {
	s := gaveUp()
	switch os.Getenv("ZKSIM_TEST_FUZZ") {
	case "fails":
	case "mutant":
		s.Caught = []string{"liveness"}
	default:
		s.Program = idle
	}
	scenarios.Fuzz(f, s)
}

func TestWhatIsFuzzedIsOnTheIndexOfChecks(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		mode string
		args []string
		want []string
	}{
		{"", nil, []string{"1 result: 1 held", `id="my/leak:fuzz"`, "<p>21 inputs</p>"}},
		{"", []string{"-test.fuzz=FuzzIndexed", "-test.fuzztime=5x"},
			[]string{"1 result: 1 held", "fuzzed, and no input has failed"}},
		{"fails", nil, []string{"1 result: 1 violated", `href="./my.leak/fuzz/index.html"`, "fuzzed bytes"}},
		{"fails", []string{"-test.fuzz=FuzzIndexed", "-test.fuzztime=5x"},
			[]string{"1 result: 1 violated", `href="./my.leak/fuzz/index.html"`, "/testdata/zksim/my.leak/"}},
		{"mutant", nil, []string{"1 result: 1 caught", "by liveness in "}},
	} {
		c := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^FuzzIndexed$", "-zksim.out=out",
			"-test.fuzzcachedir=" + dir, "-test.parallel=1"}, x.args...)...)
		c.Env, c.Dir = append(os.Environ(), "ZKSIM_TEST_FUZZ="+x.mode), dir
		if out, err := c.CombinedOutput(); (err == nil) != (x.mode == "") {
			t.Fatalf("%+v: %v\n%s", x, err, out)
		}
		indexHas(t, filepath.Join(dir, "out"), x.want...)
	}
}

// With -artifacts there is an index as well.
func TestTheFolderOfArtifactsHasAnIndex(t *testing.T) {
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckOfAMutant$", "-test.artifacts",
		"-test.outputdir="+dir, "-zksim.seeds=1-200")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "_artifacts", "*", "index.html"))
	if err != nil || len(found) != 1 {
		all, _ := filepath.Glob(filepath.Join(dir, "_artifacts", "*", "*"))
		t.Fatalf("%q, %v", all, err)
	}
	indexHas(t, filepath.Dir(found[0]), "1 result: 1 caught")
}

// Two tests check scenarios of one name, and the second one holds.
func TestATestThatHoldsDoesNotHideOneThatFailed(t *testing.T) {
	t.Chdir(t.TempDir())
	good := gaveUp()
	good.Program = idle
	for _, s := range []scenarios.Scenario{good, gaveUp(), good} {
		outFlag(t, "two", func(t *fakeT) { scenarios.Check(t, s) })
	}
	indexHas(t, "two", "1 result: 1 violated", `<tr id="my/leak">`, `href="./my.leak/index.html"`)
}

func TestACheckThatHoldsFailsWhereItsResultCannotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	f := outFlag(t, "file", func(t *fakeT) { scenarios.Check(t, s) })
	if want := "no index: writing file/my.lock/scenario.json: mkdir file: not a directory"; f.fatal != want ||
		!strings.HasPrefix(f.logs, "my/lock held in ") {
		t.Errorf("%+v, want %s", f, want)
	}
}

func TestAWrongVariableOfTheEnvironmentIsNamed(t *testing.T) {
	for variable, want := range map[string]string{
		"ZKSIM_SEEDS": `ZKSIM_SEEDS: seeds are a number or a range as 1-500, not "x"`,
		"ZKSIM_FOR":   `ZKSIM_FOR is a time above 0, as 30s, not "x"`,
		"ZKSIM_SHARD": `ZKSIM_SHARD: a shard is i/n with i from 1 to n, as 2/4, or auto, not "x"`,
	} {
		t.Setenv(variable, "x")
		if f := check(t, scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}, "", ""); f.fatal != want {
			t.Errorf("%s, want %s", f.fatal, want)
		}
		os.Unsetenv(variable)
	}
}
