package simrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/engine"
)

// result is what a command line came to.
type result struct {
	code     int
	out, err string
}

func simrun(t *testing.T, args ...string) result {
	t.Helper()
	return simrunUntil(t.Context(), args...)
}

func simrunUntil(ctx context.Context, args ...string) result {
	var out, err bytes.Buffer
	code := (&app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out,
		err: &err}).main(ctx, args)
	return result{code, out.String(), err.String()}
}

// add puts scenarios into the list until the test ends.
func add(t *testing.T, more ...engine.Scenario) {
	t.Helper()
	old := catalog.All
	catalog.All = append(old[:len(old):len(old)], more...)
	t.Cleanup(func() { catalog.All = old })
}

func TestNoTwoScenariosHaveOneName(t *testing.T) {
	add(t, engine.Scenario{Name: "lock/lock", Clients: 2, Program: idle})
	want := "simrun: two scenarios, or variants, are called \"lock/lock\", expected a name of its own for each\n"
	if r := simrun(t, "list"); r.code != exitUsage || r.err != want {
		t.Errorf("%+v", r)
	}
}

func TestNoTwoScenariosHaveOneFolder(t *testing.T) {
	add(t, engine.Scenario{Name: "test/a.b", Clients: 2, Program: idle},
		engine.Scenario{Name: "test.a/b", Clients: 2, Program: idle})
	want := `simrun: "test/a.b" and "test.a/b" both have the folder "test.a.b", expected a folder of its own for each`
	if r := simrun(t, "list"); r.code != exitUsage || r.err != want+"\n" {
		t.Errorf("%+v", r)
	}
}

func idle(p *engine.Process) {
	p.Conn.State()
	p.Step()
}

// doubt is a checker that can never tell.
type doubt struct{}

func (doubt) Name() string { return "doubt" }
func (doubt) Doc() string  { return "a blue moon" }
func (doubt) Check(*history.History) checkers.Verdict {
	return checkers.Verdict{Level: checkers.Unknown, Checker: "doubt", Message: "no run had a blue moon"}
}

// forgotten says that it forgets what it returns.
func forgotten(p *engine.Process) bool {
	defer recipes.Forget(p.Env)()
	there, _, _ := p.Conn.Exists("/a")
	return there
}

// These make up one scenario for each exit status.
var (
	holds = engine.Scenario{Name: "test/holds", Clients: 1, Program: idle}
	fails = engine.Scenario{Name: "test/fails", Clients: 1, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) { p.Fail(fmt.Errorf("enough & <done>")) }}
	escapes = engine.Scenario{Name: "test/escapes", Clients: 1, Program: idle, Caught: []string{"liveness", "steps"}}
	aimless = engine.Scenario{Name: "test/aimless", Clients: 1, Program: idle, Checkers: []checkers.Checker{doubt{}},
		Goals: []engine.Goal{{Name: "a blue moon", Reached: func(*history.History) bool { return false }}}}
	forgetful = engine.Scenario{Name: "test/forgetful", Clients: 2, Program: func(p *engine.Process) {
		if p.ID == 1 {
			p.Conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
			return
		}
		there := forgotten(p)
		p.Conn.Exists("/b")
		if there {
			p.Conn.Exists("/c")
		}
	}}
	calls  = 0
	fickle = engine.Scenario{Name: "test/fickle", Clients: 1, Program: func(p *engine.Process) {
		calls++
		for range calls {
			p.Step()
		}
	}}
	// late fails by a fault that strikes after SafetySteps, where runs of seeds have none.
	late = engine.Scenario{Name: "test/late", Clients: 2, SafetySteps: 5, Faults: faults.MustParse("lose-reply=1"),
		Checkers: []checkers.Checker{checkers.Liveness{}}, Program: func(p *engine.Process) {
			for range 4 {
				p.Conn.Exists("/a")
			}
			if _, err := p.Conn.Create(fmt.Sprint("/", p.ID), nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				p.Fail(err)
			}
		}}
	stuck = engine.Scenario{Name: "test/panics", Clients: 1, Program: func(p *engine.Process) { panic("oops\nmore") }}
	naps  = engine.Scenario{Name: "test/naps", Clients: 1, Program: func(p *engine.Process) {
		if p.Step(); p.ID == 1 { // which of several is found first, only the clock decides
			time.Sleep(50 * time.Millisecond) //zksim:ignore that it sleeps is what is to be found
		}
	}}
)

func TestExitStatuses(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails, escapes, aimless, fickle, stuck, naps)
	for _, x := range []struct {
		run, code, line string
	}{
		{"holds", "0", "held    test/holds               5 runs, "},
		{"fails", "1", "FAIL  test/fails  seed 1  liveness: c1 gave up: enough & <done>\n"},
		{"panics", "1", "FAIL  test/panics  seed 1  panic: oops\n          zksim/scenarios/simrun.init.func"},
		{"naps", "2",
			"FAIL    test/naps                misuse: c1 waits otherwise than by its Conn and Env (sleep)\n" +
				"          time.Sleep runtime/time.go:"},
		{"naps", "2", "\n          zksim/scenarios/simrun.init.func"},
		{"(naps|holds|fails)", "2", "3 scenarios: 1 held, 1 violated, 1 misused\n"},
		{"escapes", "1", "FAIL    test/escapes             escaped: 5 runs, and it was not caught by liveness or steps\n"},
		{"aimless", "3", "inconclusive test/aimless             seed 1: doubt: no run had a blue moon (5 runs)\n"},
		{"fickle", "4", "FAIL    test/fickle              nondeterministic: seed 1: two runs part at step "},
		{"(holds|aimless)", "3", "2 scenarios: 1 held, 1 inconclusive\n"},
		{"(aimless|fails|holds)", "1", "3 scenarios: 1 held, 1 violated, 1 inconclusive\n"},
		{"(aimless|escapes)", "1", "2 scenarios: 1 escaped, 1 inconclusive\n"},
		{".*", "4", "7 scenarios: 1 held, 2 violated, 1 escaped, 1 inconclusive, 1 nondeterministic, 1 misused\n"},
	} {
		r := simrun(t, "check", "-run", "^test/"+x.run+"$", "-seeds", "1-5", "-p", "1")
		if fmt.Sprint(r.code) != x.code || !strings.Contains(r.out, x.line) || r.err != "" {
			t.Errorf("%s: %+v, want %s and %q", x.run, r, x.code, x.line)
		}
	}
}

func TestReplayHasTheSameExitStatuses(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails, fickle, stuck, naps)
	for _, x := range []struct {
		name, line string
		code       int
	}{
		{"test/panics", "FAIL  panic: oops\n          zksim/scenarios/simrun.init.func", exitViolation},
		{"test/naps",
			"FAIL    test/naps                misuse: c1 waits otherwise than by its Conn and Env (sleep)\n",
			exitUsage},
		{"test/holds", "ok  everything held\n", exitHeld},
		{"test/holds\nchecker steps", "ok  everything held, and the file says that it violates steps: the code was mended, " +
			"or the file changed\n", exitHeld},
		{"test/fails", "FAIL  liveness: c1 gave up: enough & <done>\n", exitViolation},
		{"test/fickle", "FAIL  test/fickle  nondeterministic: two runs of the schedule part at step ", exitNondeterministic},
	} {
		write(t, "s.txt", "zksim schedule 1\nscenario "+x.name+"\n\n")
		r := simrun(t, "replay", "s.txt")
		if r.code != x.code || !strings.Contains(r.out, x.line) || r.err != "" {
			t.Errorf("%+v, want %+v", r, x)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

var wrongInput = []struct{ args, want string }{
	{"chekc", `simrun: no command "chekc"; there are list, check, prove, merge, serve, replay`},
	{"check -run lock/nothing", `simrun check: -run: no scenario matches "lock/nothing"; "go run ` +
		`./cmd/simrun list" shows them`},
	{"check -run (", "simrun check: -run: error parsing regexp: missing closing ): `(`"},
	{"list -run lock/nothing", `simrun list: -run: no scenario matches "lock/nothing"`},
	{"check -seeds 9-1", "simrun check: -seeds: seeds are a range whose first is no larger than its last, as 1-500, " +
		`not "9-1"`},
	{"check -seeds 18446744073709551615", "simrun check: -seeds: seeds are numbers up to 9223372036854775807, not " +
		`"18446744073709551615"`},
	{"check -seeds ten", `simrun check: -seeds: seeds are a number or a range as 1-500, not "ten"`},
	{"check -faults lose-replies=2", `simrun check: -faults: fault plan: "lose-replies=2": no such fault; there are ` +
		`lose-request, `},
	{"check -faults lose-reply=many", `simrun check: -faults: fault plan: "lose-reply=many": the budget must be a ` +
		`number from 0 to 2147483647, not "many"`},
	{"check -faults sequence=1@path=/none",
		`simrun check: -faults: fault plan: sequence=1@path=/none: there is no znode /none ` +
			`when lock/lock begins`},
	{"check -shard 5/4", `simrun check: -shard: a shard is i/n with i from 1 to n, as 2/4, or auto, not "5/4"`},
	{"check -shard 0/4", `simrun check: -shard: a shard is i/n with i from 1 to n, as 2/4, or auto, not "0/4"`},
	{"prove -shard 900/900", "simrun prove: -shard: there is nothing to prove in part 900/900 of "},
	{"check -shard 1", `simrun check: -shard: a shard is i/n with i from 1 to n, as 2/4, or auto, not "1"`},
	{"check -p -1", `simrun check: -p and -for cannot be negative`},
	{"check -for -1s", `simrun check: -p and -for cannot be negative`},
	{"check -for soon", `simrun check: -for: "soon" is not a time with its unit, as 30s, 10m or 1h30m`},
	{"check -for 5", `simrun check: -for: "5" is not a time with its unit`},
	{"check -p many", `simrun check: -p: "many" is not a number`},
	{"check -p 99999999999999999999", `simrun check: -p: "99999999999999999999" is too large or too small, expected a ` +
		`number of 64 bits`},
	{"check -v=5", `simrun check: -v: "5" is not true or false`},
	{"conform -seed -1", `simrun conform: -seed: "-1" is not a number from 0 on`},
	{"check -strategy best", `simrun check: -strategy is random, pct or portfolio, not "best"`},
	{"check -backend paper", `simrun check: -backend is sim or zookeeper, not "paper"`},
	{"check -servers a:1", `simrun check: -servers goes with -backend zookeeper only`},
	{"check -backend zookeeper -seeds 1-2", `simrun check: -seeds goes with -faults on a real ensemble: without them ` +
		`there is one run`},
	{"check -backend zookeeper -v", `simrun check: -v goes with -faults on a real ensemble: without faults there is ` +
		`nothing more to say`},
	{"check -backend zookeeper -shard 1/2", `simrun check: -shard goes with -backend sim only: runs on a real ensemble ` +
		`come one after the other`},
	{"check -backend zookeeper -faults zombie", `simrun check: -faults: fault plan: "zombie": zombie cannot be brought ` +
		`about on a real ensemble; what leads to it is part=1@follower with a short -session-timeout`},
	{"check -backend zookeeper -faults depose", `simrun check: -faults: depose=1 needs three servers, -nodes 3`},
	{"check -backend zookeeper -servers a:1 -faults kill", `simrun check: -faults: kill=1 happens to servers, and is ` +
		`for those that are started here, not for -servers`},
	{"check -backend zookeeper -faults kill@s2", `simrun check: -faults: kill=1@s2: there is no s2, only s1; -nodes 3 ` +
		`starts three`},
	{"check -backend zookeeper -faults expire -seeds 5-1", `simrun check: -seeds: `},
	{"check -backend zookeeper -session-timeout 2h", `simrun check: -session-timeout is from 1ms to 1h, not 2h0m0s`},
	{"check -backend zookeeper -session-timeout 0s", `simrun check: -session-timeout is from 1ms to 1h, not 0s`},
	{"check -session-timeout 2s", `simrun check: -session-timeout goes with -backend zookeeper only`},
	{"check -faults kill", `simrun check: -faults: fault plan: "kill": kill is for real ensembles (-backend zookeeper); ` +
		`what the simulator has for it is elect`},
	{"check -backend zookeeper -nodes 2", `simrun check: -nodes is 1 or 3, not 2`},
	{"check -backend zookeeper -clients -1", `simrun check: -clients cannot be negative, as -1 is`},
	{"check -clients 1", `simrun check: the number of clients is from 2 to 64, not 1`},
	{"check -run election -rounds 2", `simrun check: the program of election/fan-out has no rounds`},
	{"check -backend zookeeper -run rwlock -rounds 2", `simrun check: the program of rwlock/fan-out has no rounds`},
	{"check -backend zookeeper -servers nowhere", `simrun check: -servers is host:port,..., not "nowhere"`},
	{"check -backend zookeeper -run plain-create", `simrun check: only mutants are selected: they need -faults, ` +
		`as their scenarios have them, or none`},
	{"check -seeds", `simrun check: flag needs an argument: -seeds`},
	{"check -o file/out -run lock/lock -seeds 1", `simrun check: -o: mkdir file: not a directory`},
	{"check -o /proc/self -run lock/lock -seeds 1", `simrun check: -o: /proc/self cannot be written to: `},
	{"check -o file -run lock/lock -seeds 1", `simrun check: -o: mkdir file: not a directory`},
	{"prove -verify=", `simrun prove: -verify is empty, expected the name of a file or folder`},
	{"check -shard= lock/lock", `simrun check: -shard is empty, expected i/n or auto`},
	{"check -seeds= -for 1ns lock/lock", `simrun check: -seeds is empty, expected a number or a range, as 1-500`},
	{"check -faults= -seeds 1 lock/lock", `simrun check: -faults is empty, expected a fault plan, ` +
		`as lose-reply=1, or none`},
	{"check -backend zookeeper -servers= lock/lock", `simrun check: -servers is empty, expected host:port,...`},
	{"conform -ops 1 -servers=", `simrun conform: -servers is empty, expected host:port,...`},
	{"serve -listen 127.0.0.1:0 -for 1ms -control=", `simrun serve: -control is empty, expected host:port`},
	{"serve -listen 127.0.0.1:0 -for 1ms -control 127.0.0.1:0 -token=",
		`simrun serve: -token is empty, expected a secret`},
	{"herd -clients=", `simrun herd: -clients is empty, expected numbers, as 1,10,100`},
	{"prove -checkers= lock/lock -most 0", `simrun prove: -checkers is empty, expected names of checkers, or state`},
	{"prove -without= lock/lock -most 0", `simrun prove: -without is empty, expected reductions, as zxids,idle`},
	{"prove -every 1s lock/lock", `simrun prove: -every goes with -checkpoint only`},
	{"check -junit= -run lock/lock -seeds 1", `simrun check: -junit is empty, expected the name of a file or folder`},
	{"explore stale.txt", `simrun explore: stale.txt: line 5: the schedule does not fit scenario lock/lock: step 2: `},
	{"shrink stale.txt", `simrun shrink: stale.txt: line 5: the schedule does not fit scenario lock/lock: step 2: `},
	{"shrink fine.txt", `simrun shrink: fine.txt: nothing to shrink: the schedule violates nothing`},
	{"replay", `simrun replay: an argument is missing, expected FILE`},
	{"replay a b", `simrun replay: unexpected argument "b"`},
	{"replay missing.txt", `simrun replay: open missing.txt: no such file or directory`},
	{"replay .", `simrun replay: . is a folder without schedule.txt, expected that of a failure, or a file`},
	{"judge .", `simrun judge: . is a folder without history.jsonl, expected that of a failure, or a file`},
	{"replay file", `simrun replay: file: line 1: a schedule begins with "zksim schedule 1"; the file is empty`},
	{"replay binary.txt", `simrun replay: binary.txt: line 1: a schedule begins with "zksim schedule 1", not ` +
		`"\x7fELF\x00\x01"`},
	{"replay broken.txt", `simrun replay: broken.txt: line 3: servers is a number from 1 to 9, not "many"`},
	{"replay counter.txt", `simrun replay: counter.txt: fault plan: sequence=1@path=/none: there is no znode /none ` +
		`when lock/lock begins`},
	{"replay foreign.txt", `simrun replay: foreign.txt: no scenario is called "no/such"; "go run ` +
		`./cmd/simrun list" shows them`},
	{"replay stale.txt", `simrun replay: stale.txt: line 5: the schedule does not fit scenario lock/lock: step 2: ` +
		`"serve c3" is not possible here; possible: connect c1 s1, `},
	{"merge parts -obligations list -junit ./list", `simrun merge: -obligations and -junit are both ./list, expected ` +
		`a file for each`},
	{"version please", `simrun version: unexpected argument "please"`},
}

func TestWrongInputGetsOneLineAndStatus2(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails)
	const head = "zksim schedule 1\nscenario lock/lock\n"
	write(t, "file", "")
	write(t, "stale.txt", head+"\nrun c1\nserve c3\n")
	write(t, "fine.txt", head)
	write(t, "foreign.txt", "zksim schedule 1\nscenario no/such\n\nrun c1\n")
	write(t, "broken.txt", head+"servers many\n")
	write(t, "counter.txt", head+"faults sequence=1@path=/none\n\n")
	write(t, "binary.txt", "\x7fELF\x00\x01\r\n\x1b[2J")
	for _, x := range wrongInput {
		r := simrun(t, strings.Fields(x.args)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, x.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("simrun %s: %+v\nwant %s", x.args, r, x.want)
		}
	}
	// Without -o the folder is needed only when there is something to report.
	write(t, "out", "")
	r := simrun(t, "check", "-run", "test/fails")
	if r.code != exitUsage || r.err != "simrun check: seed 1 of test/fails fails (liveness), but no report can be "+
		"written: writing out/test.fails/1/schedule.full.txt: mkdir out: not a directory\n" {
		t.Errorf("%+v", r)
	}
}

func TestHelpIsOnStandardOutput(t *testing.T) {
	for _, args := range []string{"help", "-h", "--help", "check -h", "list -h", "replay -h"} {
		if r := simrun(t, strings.Fields(args)...); r.code != exitHeld || !strings.HasPrefix(r.out,
			"Usage: go run ./cmd/simrun ") && !strings.Contains(r.out, "\nUsage:\n") || r.err != "" {
			t.Errorf("simrun %s: %+v", args, r)
		}
	}
	if r := simrun(t); r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "Usage:") {
		t.Errorf("simrun: %+v", r)
	}
}

func TestListAndVersion(t *testing.T) {
	r := simrun(t, "list", "-short")
	if r.code != exitHeld || strings.Count(r.out, "\n") != len(catalog.All) || r.err != "" {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "list", "-run", "^lock/cancel-leak$")
	if !strings.Contains(r.out, "must be caught by tree)") ||
		!strings.Contains(r.out, "    recipe    lock\n    clients   3, 2 rounds each, on 1 or 3 servers\n    faults    "+
			"cancel=2 lose-reply=2\n") ||
		!strings.Contains(r.out, "source    CURATOR-79, Vitess PR 15757\n") {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "list", "lock/foreign-delete")
	if !strings.Contains(r.out, "clients   3, 5 rounds each, on 1 server\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "version"); r.code != exitHeld || !strings.HasPrefix(r.out, "simrun ") ||
		!strings.Contains(r.out, " go1.") {
		t.Errorf("%+v", r)
	}
}

func TestShardsAndFailfastAndTimeLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails, holds)
	for shard, runs := range map[string]string{"1/3": "34 runs", "2/3": "33 runs", "3/3": "33 runs", "1/1": "100 runs",
		"7/200": "1 run"} {
		if r := simrun(t, "check", "-run", "test/holds", "-seeds", "1-100", "-shard", shard); r.code != exitHeld ||
			!strings.Contains(r.out, runs) {
			t.Errorf("-shard %s: %+v", shard, r)
		}
	}
	if r := simrun(t, "check", "-run", "test/holds", "-seeds", "1-100", "-shard", "150/200"); r.code != exitHeld ||
		!strings.Contains(r.out, "no seed was run") || !strings.Contains(r.out, "only the merge of all parts can tell") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("out/shard.json"); err != nil { // merge finds it there without -o as well
		t.Error(err)
	}
	if r := simrun(t, "check", "-run", "test/", "-failfast"); r.code != exitViolation ||
		!strings.HasSuffix(r.out, "2 scenarios: 1 violated, 1 not run\n") {
		t.Errorf("%+v", r)
	}
	began := time.Now()
	r := simrun(t, "check", "-run", "test/holds", "-for", "200ms", "-p", "2")
	counted := regexp.MustCompile(`held    test/holds +(\d+) runs, \d+ steps(?:; every schedule of 1 client with no ` +
		`fault)?; the time was up after (\d+) seeds \(1-(\d+)\), -for 200ms in all\n`)
	if m := counted.FindStringSubmatch(r.out); m == nil || m[1] != m[2] || m[2] != m[3] {
		t.Errorf("%+v", r)
	}
	if d := time.Since(began); r.code != exitHeld || d < 200*time.Millisecond || d > 30*time.Second {
		t.Errorf("%+v after %v", r, d)
	}
	var a, b result
	a = simrun(t, "check", "-p", "1", "-seeds", "1-50", "-run", "^lock/(lock|workers|wedged|plain-create)$")
	b = simrun(t, "check", "-p", "7", "-seeds", "1-50", "-run", "^lock/(lock|workers|wedged|plain-create)$")
	if a != b {
		t.Errorf("-p changes the output:\n%+v\n%+v", a, b)
	}
}

func TestAnInterruptedCheckIsNotHeld(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r := simrunUntil(ctx, "check", "-run", "test/holds", "-seeds", "1-9000000000")
	if r.code != exitInconclusive || r.err != "simrun check: interrupted; not done: test/holds\n" ||
		!strings.HasPrefix(r.out, "inconclusive test/holds               interrupted (") || strings.Contains(r.out, "held") {
		t.Errorf("%+v", r)
	}
	// A violation that was found before stays one.
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	add(t, engine.Scenario{Name: "test/then", Clients: 1, Program: idle})
	r = simrunUntil(ctx, "check", "-run", "test/(fails|then)", "-seeds", "1-9000000000")
	if r.code != exitViolation || !strings.HasPrefix(r.out, "FAIL  test/fails  seed 1 ") ||
		r.err != "simrun check: interrupted; not done: test/then\n" {
		t.Errorf("%+v", r)
	}
}

func TestProgressIsForTerminalsOnly(t *testing.T) {
	add(t, holds)
	var out, err bytes.Buffer
	code := (&app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &err,
		terminal: true}).main(t.Context(), []string{"check", "-run", "test/holds", "-seeds", "1-500"})
	if code != exitHeld || !strings.Contains(err.String(), "test/holds") || strings.Contains(out.String(), "\r") {
		t.Errorf("%d %q %q", code, &out, &err)
	}
	// The whole range of seeds is more than a progress bar can count, and not done in time.
	code = (&app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &out, err: &err,
		terminal: true}).main(t.Context(),
		[]string{"check", "-run", "test/holds", "-seeds", "0-9223372036854775807", "-for", "20ms"})
	if code != exitInconclusive || !strings.Contains(out.String(), "the time was up before all was done (") {
		t.Errorf("%d %q", code, &err)
	}
	if r := simrun(t, "check", "-run", "test/holds", "-seeds", "1-500"); r.err != "" {
		t.Errorf("%+v", r)
	}
}

// folder runs check on a mutant in a temporary folder of its own and returns the
// output and the report's folder.
func folder(t *testing.T, name string) (result, string) {
	t.Helper()
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-v", "-run", "^"+name+"$")
	dirs, err := filepath.Glob(filepath.Join("out", strings.ReplaceAll(name, "/", "."), "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v, %v\n%+v", dirs, err, r)
	}
	return r, dirs[0]
}

func TestReportFilesAreTheSameForTheSameRun(t *testing.T) {
	read := func() map[string]string {
		_, dir := folder(t, "lock/closed-spin")
		files := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(text)
		}
		return files
	}
	a, b := read(), read()
	if len(a) != 6 || len(b) != 6 {
		t.Fatalf("%d and %d files, want schedule.txt, schedule.full.txt, history.jsonl, report.json, index.html and "+
			"porcupine.html, and nothing left over", len(a), len(b))
	}
	for name, text := range a {
		if text == "" || text != b[name] && name != "porcupine.html" {
			t.Errorf("%s is empty or differs", name)
		}
	}
}

func TestTheReportOfAMutantIsJSON(t *testing.T) {
	r, dir := folder(t, "lock/no-token")
	var report struct {
		Format, Scenario, Verdict, Checker, Message, Hash string
		Seed                                              uint64
		Steps, Clients                                    int
		Struck, Reproduce                                 []string
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if report.Format != "zksim report 1" || report.Scenario != "lock/no-token" || report.Verdict != "violated" ||
		report.Checker != "fenced" ||
		report.Clients != 2 || len(report.Struck) == 0 || fmt.Sprint(report.Seed) != filepath.Base(dir) {
		t.Errorf("%+v", report)
	}
	for _, want := range append(report.Reproduce, report.Message, "hash "+report.Hash, strings.Join(report.Struck, ", ")) {
		if !strings.Contains(r.out, want) {
			t.Errorf("the block does not have %q:\n%s", want, r.out)
		}
	}
	lines, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(lines)) {
		var x map[string]any
		if err := json.Unmarshal([]byte(line), &x); err != nil || x["kind"] == "" {
			t.Fatalf("%v: %s", err, line)
		}
		n++
	}
	if n < 30 {
		t.Errorf("only %d lines", n)
	}
}

var block = regexp.MustCompile(`(?m)^      lock/plain-create  seed (\d+)  (\w+): .*\n` +
	`(?:      also       .*\n)*` +
	`(?:      waits      .*\n)*` +
	`      minimal    \d+ of \d+ steps, (?:\d+ of )?\d clients, (?:\d+ of )?\d rounds?, faults: (.*)\n` +
	`      decided    step \d+, after .* fail, before it .*\n` +
	`      replayed   2 of 2 identical, hash ([0-9a-f]{16})\n` +
	`      report     (\S+)\n` +
	`      reproduce  (.*)\n` +
	`      or         (.*)\n`)

func TestAnErrorOfAScenarioDoesNotEndTheOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := engine.Scenario{Name: "test/broken", Clients: 1, Program: idle, MaxSteps: -1}
	add(t, broken, holds)
	const why = "error: MaxSteps of test/broken is -1, expected a number from 0 to "
	for command, last := range map[string]string{"check -seeds 1-5": "2 scenarios: 1 held, 1 not run\n",
		"prove -most 0 -clients 0": "2 scenarios: 1 held, 1 not run\n"} {
		r := simrun(t, append(strings.Fields(command), "-run", "^test/", "-o", "out", "-junit", "junit.xml")...)
		if r.code != exitUsage || !strings.HasSuffix(r.out, last) || !strings.Contains(r.out, "FAIL    test/broken   ") ||
			!strings.Contains(r.out, why) || strings.Count(r.err, "\n") != 1 ||
			!strings.Contains(r.err, ": test/broken: MaxSteps of test/broken is -1") {
			t.Errorf("%s: %+v", command, r)
		}
		if page := readIndex(t, "out"); !strings.Contains(page, "MaxSteps of test/broken is -1") {
			t.Errorf("%s: %s", command, page)
		}
	}
}

func TestTheFolderOfAFailureStandsForItsSchedule(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails)
	simrun(t, "check", "test/fails")
	for _, command := range []string{"replay", "why", "shrink"} {
		file, folder := simrun(t, command, "out/test.fails/1/schedule.txt"), simrun(t, command, "out/test.fails/1")
		if file.out == "" || file.out != folder.out || file.code != folder.code || folder.err != "" {
			t.Errorf("%s: %+v, and %+v", command, file, folder)
		}
	}
}

func TestTheUsageHasAColumnAsWideAsItsCommands(t *testing.T) {
	r := simrun(t, "help")
	at := strings.Index(regexp.MustCompile(`(?m)^  list .*$`).FindString(r.out), commandNamed("list").doc)
	for _, c := range commands() {
		line := regexp.MustCompile(`(?m)^  ` + c.name + `\b.*$`).FindString(r.out)
		if len(line) <= at || line[at:] != c.doc {
			t.Errorf("%q, expected %q at column %d", line, c.doc, at)
		}
	}
}
