package scenarios_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
)

// fakeT records what Check says. Fatalf ends the test, as with a *testing.T.
type fakeT struct {
	logs, fatal string
	ends        []func()
}

type fatal struct{}

// run runs a test to its end.
func (f *fakeT) run(test func()) {
	defer func() {
		if r := recover(); r != nil && r != (fatal{}) {
			panic(r)
		}
		ends := f.ends
		f.ends = nil
		for _, end := range ends {
			f.run(end)
		}
	}()
	test()
}

func (*fakeT) Helper()                          {}
func (*fakeT) Name() string                     { return "TestMine/a+b" }
func (f *fakeT) Cleanup(end func())             { f.ends = append(f.ends, end) }
func (f *fakeT) Logf(format string, a ...any)   { f.logs += fmt.Sprintf(format, a...) }
func (f *fakeT) Fatalf(format string, a ...any) { f.fatal += fmt.Sprintf(format, a...); panic(fatal{}) }

// check runs Check with flags as given, in a folder of its own.
func check(t *testing.T, s scenarios.Scenario, seeds, schedule string) (f *fakeT) {
	t.Helper()
	t.Chdir(t.TempDir())
	return checkHere(t, s, seeds, schedule)
}

// checkHere is check in the present folder.
func checkHere(t *testing.T, s scenarios.Scenario, seeds, schedule string) (f *fakeT) {
	t.Helper()
	f = &fakeT{}
	oldSeeds, oldSchedule := *scenarios.SeedsFlag, *scenarios.ScheduleFlag
	*scenarios.SeedsFlag, *scenarios.ScheduleFlag, *scenarios.OutFlag = seeds, schedule, "out"
	defer func() { *scenarios.SeedsFlag, *scenarios.ScheduleFlag, *scenarios.OutFlag = oldSeeds, oldSchedule, "" }()
	f.run(func() { scenarios.Check(f, s) })
	return f
}

func TestCheckPassesWhatHoldsAndWhatIsCaught(t *testing.T) {
	if f := check(t, *catalog.Named("lock/fan-out"), "1-20", ""); f.fatal != "" ||
		f.logs != "lock/fan-out held in 20 runs; every schedule of 2 clients with no fault\n    checkers   ownership, "+
			"claim, belief, fenced, liveness, linearizability, quiescence, tree, steps, herd, watches, leftover"+
			"\n    struck     times (in runs, of those with it): sequence@path=/lock 21 (7 of 7)"+
			"\n    holders    1 at once, at most, by what their code knew" {
		t.Errorf("%+v", f)
	}
	if f := check(t, *catalog.Named("lock/watch-first"), "7-20", ""); f.fatal != "" ||
		f.logs != "lock/watch-first caught by herd, seed 7\n    holders    1 at once, at most, by what their code knew" {
		t.Errorf("%+v", f)
	}
}

func TestCheckFailsWhatDoesNotHold(t *testing.T) {
	good := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	never := scenarios.Goal{Name: "a miracle", Reached: func(*history.History) bool { return false }}
	for _, x := range []struct {
		change func(s *scenarios.Scenario)
		seeds  string
		want   string
	}{
		{func(s *scenarios.Scenario) {}, "0-", `-zksim.seeds: seeds are a number or a range as 1-500, not "0-"`},
		{func(s *scenarios.Scenario) { s.Caught = []string{"steps", "liveness"} }, "1-3",
			"my/lock: escaped: 3 runs, and it was not caught by steps or liveness"},
		{func(s *scenarios.Scenario) {
			s.Caught = []string{"steps"}
			s.Program = func(p *scenarios.Process) { p.Fail(errors.New("odd")) }
		}, "2-4", "my/lock: escaped: 3 runs, and it was not caught by steps; seed 2 violates liveness"},
		{func(s *scenarios.Scenario) { s.Goals = []scenarios.Goal{never} }, "1-500", "my/lock: no run had a miracle\n" +
			"    goals      a miracle in 0 runs"},
		{func(s *scenarios.Scenario) { s.Faults = faults.MustParse("watch-delay=1 disconnect=1") },
			"1-500", "my/lock: watch-delay=1 never struck in 500 runs, of which 266 had it in their plans: watch-delay " +
				"needs a watch event on its way\n" +
				"    if this code can never meet them, say so by Plan.Except(\"watch-delay\")\n" +
				"    struck     times (in runs, of those with it): disconnect 70 (70 of 253)"},
		{func(s *scenarios.Scenario) { s.Faults = faults.MustParse("lose-reply=1@op=set") }, "1-500",
			"my/lock: lose-reply=1@op=set never struck in 500 runs, of which 266 had it in their plans: lose-reply " +
				"needs a request on its way, and its aim must fit before the faults are over"},
		{func(s *scenarios.Scenario) { s.Checkers = []checkers.Checker{checkers.Belief{}} }, "1-500",
			"my/lock: belief judged nothing in 500 runs: it needs Acquired events; record them with Object.Acquired"},
		{func(s *scenarios.Scenario) {
			s.Program = func(p *scenarios.Process) {
				p.Register(nil).Invoke("tryacquire")
			}
			s.Checkers = []checkers.Checker{checkers.Linearizability{}}
		}, "1-3",
			`my/lock, seed 1: no checker knows the operation "tryacquire"; they know lock, trylock, unlock, the ` +
				`nearest being "trylock"; ` +
				`a word that nobody is to judge belongs in Scenario.Words`},
		{func(s *scenarios.Scenario) { s.Checkers = []checkers.Checker{doubtful{}} }, "1-3",
			"my/lock: seed 1: doubtful: who knows"},
		{func(s *scenarios.Scenario) { s.Faults = faults.MustParse("sequence=1@path=/x") }, "1-3",
			"fault plan: sequence=1@path=/x: there is no znode /x when my/lock begins"},
		{func(s *scenarios.Scenario) {}, "1-3", ""},
	} {
		s := good
		x.change(&s)
		if f := check(t, s, x.seeds, ""); f.fatal != x.want {
			t.Errorf("got  %s\nwant %s", f.fatal, x.want)
		}
	}
}

func TestAPartOfACheckLeavesToTheWholeWhatOnlyItCanTell(t *testing.T) {
	good := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	escaped, missed, doubted := good, good, good
	escaped.Caught = []string{"steps", "quiescence"}
	missed.Goals = []scenarios.Goal{{Name: "a miracle", Reached: func(*history.History) bool { return false }}}
	doubted.Checkers = []checkers.Checker{doubtful{}}
	defer func() { *scenarios.ShardFlag = "" }()
	*scenarios.ShardFlag = "1/2"
	const left = " in one of 2 parts: only all seeds can tell, as those of a check without -zksim.shard"
	if f := check(t, escaped, "1-4", ""); f.fatal != "" ||
		f.logs != "my/lock: escaped: 2 runs, and it was not caught by steps or quiescence"+left {
		t.Errorf("%+v", f)
	}
	if f := check(t, missed, "1-1000", ""); f.fatal != "" ||
		f.logs != "my/lock: no run had a miracle"+left+"\n    goals      a miracle in 0 runs" {
		t.Errorf("%+v", f)
	}
	if f := check(t, doubted, "1-4", ""); f.fatal != "my/lock: seed 1: doubtful: who knows" {
		t.Errorf("what is wrong with one run is passed: %+v", f)
	}
	*scenarios.ShardFlag = "1/1"
	if f := check(t, missed, "1-1000", ""); f.fatal == "" {
		t.Errorf("one part of one is all: %+v", f)
	}
}

// rules_go runs each test in one shard only, so that shard must not leave seeds to others.
func TestNoSeedIsLeftToAShardOfBazelThatDoesNotRunTheTest(t *testing.T) {
	good := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	defer func() { *scenarios.ShardFlag = "" }()
	*scenarios.ShardFlag = "auto"
	t.Setenv("TEST_SHARD_INDEX", "1")
	t.Setenv("TEST_TOTAL_SHARDS", "2")
	if f := check(t, good, "1-4", ""); f.fatal != "-zksim.shard: auto cannot divide seeds where Bazel divides tests "+
		"(TEST_TOTAL_SHARDS=2), expected no -zksim.shard, or i/n" {
		t.Errorf("%+v", f)
	}
	*scenarios.ShardFlag = "2/2"
	if f := check(t, good, "1-4", ""); f.fatal != "" || !strings.Contains(f.logs, "my/lock held in 2 runs") {
		t.Errorf("%+v", f)
	}
	*scenarios.ShardFlag = "auto"
	t.Setenv("TEST_SHARD_INDEX", "0")
	t.Setenv("TEST_TOTAL_SHARDS", "1")
	if f := check(t, good, "1-4", ""); f.fatal != "" || !strings.Contains(f.logs, "my/lock held in 4 runs") {
		t.Errorf("%+v", f)
	}
}

func TestCheckPrintsTheCommandThatRunsTheTests(t *testing.T) {
	t.Setenv("ZKSIM_TEST_COMMAND", "go run ./cmd/simrun test")
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	f := check(t, s, "1-100", "")
	if !strings.Contains(f.fatal, "    reproduce  go run ./cmd/simrun test ") {
		t.Errorf("%s", f.fatal)
	}
	os.Unsetenv("ZKSIM_TEST_COMMAND") // until the test ends

	for exact, want := range map[bool]string{true: "go tool simrun test", false: "go test"} { // order-free: a call each
		if got := scenarios.TestCommand(exact); got != want {
			t.Errorf("with the overlay %v: got %q, expected %q", exact, got, want)
		}
	}
}

// TestTheCommandBuildsTheSameTest has what changes which code there is in the command that repeats a failure.
func TestTheCommandBuildsTheSameTest(t *testing.T) {
	for _, x := range []struct{ key, value, want string }{
		{"-race", "false", ""},
		{"-race", "true", "-race"},
		{"-asan", "true", "-asan"},
		{"-tags", "slow", "-tags=slow"},
		{"-tags", "slow,zksim_exact,a_b,c", "-tags='slow,a_b,c'"},
		{"-tags", "zksim_exact", ""},
		{"-compiler", "gc", ""},
	} {
		flags := scenarios.BuildFlags([]debug.BuildSetting{{Key: x.key, Value: x.value}})
		if got := strings.Join(flags, " "); got != x.want {
			t.Errorf("%s=%s: got %q, expected %q", x.key, x.value, got, x.want)
		}
	}
	defer flag.Set("test.short", strconv.FormatBool(testing.Short()))
	flag.Set("test.short", "true")
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	if f := check(t, s, "1-100", ""); !strings.Contains(f.fatal, "zksim/scenarios -short -run ") {
		t.Errorf("%s", f.fatal)
	}
}

// TestTheCommandNamesThePackage has a test of files that were named, which the go command gives a path of its own, and
// tests of package main, whose paths have no suffix.
func TestTheCommandNamesThePackage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{ // order-free: a call each
		"example.com/mine.test":       "example.com/mine",
		"example.com/mine/cmd/mine":   "example.com/mine/cmd/mine",
		"command-line-arguments.test": "'" + dir + "'",
		"command-line-arguments":      "'" + dir + "'",
	} {
		if got := scenarios.Tested(path); got != want {
			t.Errorf("%s: got %s, expected %s", path, got, want)
		}
	}
}

// TestTheCommandFindsTheScheduleOfATestThatRunsElsewhere has a test that "go test" has built and does not run.
func TestTheCommandFindsTheScheduleOfATestThatRunsElsewhere(t *testing.T) {
	const byGoTest = "test.paniconexit0"
	defer flag.Set(byGoTest, flag.Lookup(byGoTest).Value.String())
	flag.Set(byGoTest, "false")
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	f := check(t, s, "1-100", "")
	here, err := os.Getwd()
	if want := "-zksim.schedule " + here + "/testdata/zksim/lock.plain-create/"; err != nil ||
		!strings.Contains(f.fatal, want) {
		t.Errorf("expected %s, %v:\n%s", want, err, f.fatal)
	}
}

func TestCheckPrintsHowToRepeatAFailure(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	f := check(t, s, "1-100", "")
	m := regexp.MustCompile(`^lock/plain-create  seed \d+  quiescence: c\d waits for .*
    also       tree: .*
    waits      c\d in .*Lock.wait, mutants/lock.go:\d+
    minimal    (\d+) of \d+ steps, .*, faults: lose-reply c\d
    decided    step \d+, after lose-reply c\d, .*
(?: +(?:\d+ )?.*\n)* +violation of quiescence: .*
(?: .*\n)*    page       (/.*/out/lock.plain-create/index.html)
    replayed   2 of 2 identical, hash ([0-9a-f]{16})
    reproduce  go test .*zksim/scenarios .*-run '\^TestMine\$/\^a\\\+b\$' -zksim.schedule (testdata/zksim/lock.plain-create/quiescence-[0-9a-f]{8}.txt)$`).
		FindStringSubmatch(f.fatal)
	if m == nil {
		t.Fatalf("%s", f.fatal)
	}
	for _, file := range []string{m[2], m[4], "out/lock.plain-create/schedule.full.txt"} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	// The schedule fails in the same way, and every later check fails with it.
	file, err := filepath.Abs(m[4])
	if err != nil {
		t.Fatal(err)
	}
	again := checkHere(t, s, "", m[4])
	if !strings.HasPrefix(again.fatal, "lock/plain-create: quiescence in ") || !strings.Contains(again.fatal, m[3]) {
		t.Errorf("%+v", again)
	}
	again = checkHere(t, s, "1-1", "")
	if !strings.HasPrefix(again.fatal, "lock/plain-create  "+m[4]+"  quiescence: ") ||
		!strings.HasSuffix(again.fatal, " -zksim.schedule "+m[4]) {
		t.Errorf("%+v", again)
	}
	if v, err := scenarios.Replay(s, m[4]); err != nil || v.Checker != "quiescence" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := scenarios.Replay(*catalog.Named("lock/lock"), m[4]); err == nil || !strings.HasPrefix(err.Error(), m[4]) {
		t.Error(err)
	}
	good := *catalog.Named("lock/lock")
	good.Name = s.Name
	again = checkHere(t, good, "1-1", "")
	if !strings.Contains(again.logs, m[4]+": ok") ||
		strings.Contains(again.fatal, "quiescence") {
		t.Errorf("%+v", again)
	}
	s.Caught = []string{"quiescence"} // then it is as it should be
	if again := check(t, s, "", file); again.fatal != "" || !strings.Contains(again.logs, "violated after ") {
		t.Errorf("%+v", again)
	}
}

// What cannot be written is said, and the line that is printed has been tried out all the same.
func TestCheckFailsAsWellWhereNothingCanBeWritten(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	for blocked, want := range map[string][]string{
		"out": {"not written: writing out/", "replayed ",
			"-zksim.schedule testdata/zksim/lock.plain-create/quiescence-"},
		"testdata": {"not written: writing testdata/", "replayed ", "-zksim.schedule out/lock.plain-create/schedule.txt"},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(blocked, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		f := checkHere(t, s, "1-100", "")
		for _, x := range want {
			if !strings.Contains(f.fatal, x) {
				t.Errorf("%s is a file: no %q in\n%s", blocked, x, f.fatal)
			}
		}
	}
}

// A command is printed only if the file that it names is there. An older schedule in the folder is not that of the run.
func TestCheckPrintsNoCommandWhereNoScheduleCanBeWritten(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	for _, older := range []bool{false, true} {
		t.Chdir(t.TempDir())
		files := map[string]string{"testdata": "", "out": ""}
		if older { // the report is a folder, so nothing in this folder is removed or replaced
			files = map[string]string{"testdata": "", "out/lock.plain-create/report.json/x": "",
				"out/lock.plain-create/schedule.txt": "zksim schedule 1\nscenario lock/plain-create\n"}
		}
		for name, text := range files {
			err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666))
			if err != nil {
				t.Fatal(err)
			}
		}
		f := checkHere(t, s, "1-100", "")
		if !strings.HasPrefix(f.fatal, "lock/plain-create  seed ") || strings.Count(f.fatal, "    not written: ") != 2 ||
			strings.Contains(f.fatal, "reproduce") || strings.Contains(f.fatal, "replayed") {
			t.Errorf("older %v:\n%s", older, f.fatal)
		}
	}
}

func TestCheckRefusesSchedulesThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	files := 0 // each has its own: of one that a check has replayed others only log that it is not theirs
	write := func(text string) string {
		files++
		file := filepath.Join(dir, fmt.Sprintf("schedule-%d.txt", files))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	for text, want := range map[string]string{
		"nonsense\n": `line 1: a schedule begins with "zksim schedule 1", not ` +
			`"nonsense"`,
		"zksim schedule 1\nscenario your/lock\n": `the schedule is one of scenario your/lock, not of my/lock`,
		"zksim schedule 1\nscenario my/lock\n\nserve c1\n": `line 4: the schedule does not fit scenario my/lock: step 1: ` +
			`"serve c1" is not possible here; possible: run c1, connect c1 s1`,
		"zksim schedule 1\nscenario my/lock\n\ncalm\nrun c1": "",
	} {
		file := write(text)
		if want != "" {
			want = file + ": " + want
		}
		if f := check(t, s, "", file); f.fatal != want {
			t.Errorf("got  %s\nwant %s", f.fatal, want)
		}
	}
	missing := filepath.Join(dir, "missing")
	if f := check(t, s, "", missing); !strings.HasPrefix(f.fatal, "-zksim.schedule: open "+missing) {
		t.Errorf("%+v", f)
	}
}

var mustHold = flag.Bool("must-hold", false, "let TestCheckOfAMutant fail")

// TestCheckOfAMutant is run by the next test in a process of its own; by itself it
// is a use of Check as any.
func TestCheckOfAMutant(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	if *mustHold {
		s.Caught = nil
	}
	scenarios.Check(t, s)
}

func TestTheFlagsOfATestBinaryReachCheck(t *testing.T) {
	dir := t.TempDir()
	command := func(args ...string) (string, error) {
		c := exec.Command(os.Args[0], append([]string{"-test.run", "^TestCheckOfAMutant$", "-test.v"}, args...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := command("-must-hold", "-zksim.seeds", "1-200")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	// Without -must-hold the schedule would be that of a mutant, which passes.
	m := regexp.MustCompile(`go test zksim/scenarios -must-hold=true -run '(\S+)' -zksim.schedule (\S+)`).
		FindStringSubmatch(out)
	if m == nil || m[1] != "^TestCheckOfAMutant$" {
		t.Fatal(out)
	}
	again, err := command("-must-hold", "-zksim.schedule", m[2])
	if err == nil || !strings.Contains(again, "lock/plain-create: quiescence in ") {
		t.Errorf("%v\n%s", err, again)
	}
	file, err := filepath.Abs(filepath.Join("catalog", "testdata", "schedules", "lock.plain-create.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command("-must-hold", "-zksim.schedule", file); err == nil ||
		!strings.Contains(out, "lock/plain-create: quiescence in ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := command("-zksim.schedule", file); err != nil ||
		!strings.Contains(out, "violated after ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := command("-zksim.seeds", "nine"); err == nil ||
		!strings.Contains(out, `-zksim.seeds: seeds are a number or a range as 1-500, not "nine"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// idle is a program that does next to nothing.
func idle(p *scenarios.Process) {
	p.Conn.State()
	p.Step()
}

// doubtful is a checker that cannot decide.
type doubtful struct{}

func (doubtful) Name() string { return "doubtful" }
func (doubtful) Doc() string  { return "nobody knows" }
func (doubtful) Check(*history.History) checkers.Verdict {
	return checkers.Verdict{Level: checkers.Unknown, Message: "who knows"}
}

// leaving is a scenario in which clients leave the simulator.
func leaving(clients int, program func(p *scenarios.Process)) scenarios.Scenario {
	return scenarios.Scenario{Name: "test/leaves", Clients: clients, Program: func(p *scenarios.Process) {
		p.Step()
		program(p)
		p.Step()
	}}
}

func TestAPanicComesWithTheCallsOfClientCode(t *testing.T) {
	for name, program := range map[string]func(p *scenarios.Process){
		"a nil map":                func(p *scenarios.Process) { map[string]int(nil)["x"]++ },
		"in a goroutine of Env.Go": func(p *scenarios.Process) { p.Env.Go("x", func() { panic("oops") }); p.Step() },
		"no function":              func(p *scenarios.Process) { p.Env.Go("x", nil) },
		"a kind of servers": func(p *scenarios.Process) {
			p.Register(nil).Record(history.Event{Kind: history.Deleted, Path: "/x"})
		},
		"an error of several paragraphs": func(p *scenarios.Process) { panic("oops\n\nno") },
	} {
		f := check(t, leaving(1, program), "1-500", "")
		_, text, _ := strings.Cut(f.fatal, "test/leaves  seed 1  panic: ")
		_, calls, _ := strings.Cut(text, "\n")
		if !regexp.MustCompile(`^( {10}zksim/(sim\.Env\.Go|scenarios/engine\.Object\.Record) .*\n)?`+
			` {10}zksim/scenarios_test\.TestAPanicComesWithTheCallsOfClientCode\.func.* scenarios/check_test\.go:`).
			MatchString(calls) || strings.Contains(text, "0x0") {
			t.Errorf("%s: %s", name, f.fatal)
		}
	}
}

func TestCheckFailsOfMisuseWithTheStack(t *testing.T) {
	//zksim:ignore that it sleeps is what is to be found
	s := leaving(1, func(p *scenarios.Process) { time.Sleep(20 * time.Millisecond) })
	want := regexp.MustCompile(`^test/leaves, seed \d+: c1 waits otherwise than by its Conn and Env \(sleep\)\n` +
		`    time\.Sleep runtime/time\.go:\d+\n    zksim/scenarios_test\.\S+ scenarios/check_test\.go:\d+\n`)
	for _, caught := range [][]string{nil, {"steps"}} {
		s.Caught = caught
		if f := check(t, s, "1-500", ""); !want.MatchString(f.fatal) {
			t.Error(f)
		}
	}
	file := filepath.Join(t.TempDir(), "schedule.txt")
	if err := os.WriteFile(file, []byte("zksim schedule 1\nscenario test/leaves\n\nrun c1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if f := check(t, s, "", file); !strings.HasPrefix(f.fatal,
		file+": c1 waits otherwise than by its Conn and Env (sleep)\n    time.Sleep ") {
		t.Error(f)
	}
}

// A committed schedule that does not fit changed code is run with the steps that do; but no code has a step of these.
func TestCheckRefusesCommittedSchedulesOfWhatIsNoStep(t *testing.T) {
	s := scenarios.Scenario{Name: "my/lock", Clients: 1, Program: idle}
	for step, want := range map[string]string{"serve c1": "", "<<<<<<< HEAD": `testdata/zksim/my.lock/x.txt: line 4: ` +
		`no step is called "<<<<<<< HEAD"`} {
		t.Chdir(t.TempDir())
		folder := filepath.Join(scenarios.Corpus, "my.lock")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		text := "zksim schedule 1\nscenario my/lock\n\n" + step + "\nrun c1\n"
		if err := os.WriteFile(filepath.Join(folder, "x.txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if f := checkHere(t, s, "1-2", ""); f.fatal != want || want == "" && !strings.Contains(f.logs, "fits no more") {
			t.Errorf("%+v, want %s", f, want)
		}
	}
}

// What is told of a committed schedule that fails is its run: the file that is named gives it again. If a shorter one
// fails in the same way, that is told, and written beside it.
func TestACommittedScheduleThatFailsIsToldAsItsFileReplays(t *testing.T) {
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	named := regexp.MustCompile(`(?s)identical, hash (\w{8})\w{8}\n.*-zksim.schedule (\S+/quiescence-(\w{8}).txt)`)
	file := func(f *fakeT) string {
		t.Helper()
		m := named.FindStringSubmatch(f.fatal)
		if m == nil || m[1] != m[3] {
			t.Fatal(f.fatal)
		}
		return m[2]
	}
	first := file(check(t, s, "1-10", ""))
	whole, err := os.ReadFile("out/lock.plain-create/schedule.full.txt")
	if err != nil {
		t.Fatal(err)
	}
	committed := func() (names []string) {
		names, _ = filepath.Glob("testdata/zksim/lock.plain-create/*")
		return names
	}
	if again := file(checkHere(t, s, "1-10", "")); again != first || len(committed()) != 1 {
		t.Errorf("%s, not %s; %q", again, first, committed())
	}
	const longer = "testdata/zksim/lock.plain-create/whole.txt"
	if err := errors.Join(os.WriteFile(longer, whole, 0o666), os.Remove(first)); err != nil {
		t.Fatal(err)
	}
	*scenarios.OutFlag = longer + "/none" // no folder
	f := &fakeT{}
	f.run(func() { scenarios.Check(f, s) })
	*scenarios.OutFlag = ""
	if !strings.Contains(f.fatal, "    not written: ") || file(f) != first || len(committed()) != 2 {
		t.Errorf("%q: %s", committed(), f.fatal)
	}
}

// With -zksim.out the checks of all tests, of several processes too, are on one page.
func TestChecksLeaveAnIndexInTheFolderOfTheFlag(t *testing.T) {
	good := scenarios.Scenario{Name: "my/lock", Doc: "a <lock>", Clients: 1, Program: idle}
	bad := scenarios.Scenario{Name: "my/leak", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *scenarios.Process) { p.Fail(errors.New("enough")) }}
	if f := check(t, good, "1-5", ""); f.fatal != "" {
		t.Fatalf("%+v", f)
	}
	if f := checkHere(t, bad, "1-5", ""); !strings.Contains(f.fatal, "liveness: c1 gave up: enough") {
		t.Fatalf("%+v", f)
	}
	index := func() string {
		text, err := os.ReadFile("out/index.html")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := index()
	for _, want := range []string{"2 results: 1 violated, 1 held", `href="./my.leak/index.html"`,
		"a &lt;lock&gt;", "5 runs, 25 steps",
		"violated</span> liveness, decided by no single step"} {
		if !strings.Contains(first, want) {
			t.Errorf("the index does not have %s\n%s", want, first)
		}
	}
	// The schedule that is committed now fails first, and the row says so; what is repaired is so there as well.
	if checkHere(t, bad, "1-5", ""); !strings.Contains(index(), "</abbr> in testdata/zksim/my.leak/") {
		t.Error(index())
	}
	bad.Program = idle
	scenarios.ForgetRows() // of the process that it was
	if checkHere(t, bad, "1-5", ""); !strings.Contains(index(), "2 results: 2 held") {
		t.Error(index())
	}
	if err := os.WriteFile("out/my.lock/scenario.json", []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if f := checkHere(t, bad, "1-5", ""); f.fatal !=
		"no index: out/my.lock/scenario.json is not a zksim scenario 1" {
		t.Errorf("%+v", f)
	}
}
