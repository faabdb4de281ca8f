package simrun

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/engine"
)

// build makes the real simrun, for the tests of a whole process.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "simrun")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/simrun").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// shell executes a printed command line with a shell, as a reader would.
func shell(t *testing.T, binary, line string) result {
	t.Helper()
	command, ok := strings.CutPrefix(line, "go run ./cmd/simrun ")
	if !ok {
		t.Fatalf("%q", line)
	}
	var out, errs strings.Builder
	c := exec.Command("sh", "-c", binary+" "+command)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

func TestThePrintedLinesReproduceTheFailure(t *testing.T) {
	binary := build(t)
	first, dir := folder(t, "lock/plain-create")
	m := block.FindStringSubmatch(first.out)
	if m == nil {
		t.Fatalf("%+v", first)
	}
	seed, checker, hash := m[1], m[2], m[4]
	if m[3] == "none" || m[5] != filepath.Join(dir, "index.html") {
		t.Errorf("%q", m)
	}
	replayed := shell(t, binary, m[6])
	if replayed.code != exitViolation || !strings.Contains(replayed.out, "hash "+hash) ||
		!strings.Contains(replayed.out, "\nFAIL  "+checker+": ") || replayed.err != "" {
		t.Errorf("%s:\n%+v", m[6], replayed)
	}
	again := shell(t, binary, m[7])
	n := block.FindStringSubmatch(again.out)
	if n == nil || again.code != exitHeld || n[1] != seed || n[2] != checker || n[4] != hash || again.err != "" {
		t.Errorf("%s:\n%+v", m[7], again)
	}
	told := shell(t, binary, strings.Replace(m[6], "replay ", "replay -v ", 1))
	if told.code != exitViolation || !strings.HasSuffix(told.out, replayed.out) || !strings.Contains(told.out, "    1 ") {
		t.Errorf("%+v", told)
	}
}

func TestAShrunkScheduleFailsAsTheWholeOne(t *testing.T) {
	r, dir := folder(t, "lock/wedged")
	small := simrun(t, "shrink", filepath.Join(dir, "schedule.full.txt"))
	file, err := os.ReadFile(filepath.Join(dir, "schedule.txt"))
	if err != nil || small.code != exitHeld || small.out != string(file) || small.err != "" {
		t.Errorf("%v, %+v, want\n%s", err, small, file)
	}
	for _, name := range []string{"schedule.txt", "schedule.full.txt"} {
		if r := simrun(t, "replay", filepath.Join(dir, name)); r.code != exitViolation ||
			!strings.Contains(r.out, "\nFAIL  liveness: ") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if !strings.Contains(r.out, "1 scenario: 1 caught\n") {
		t.Errorf("%+v", r)
	}
}

func TestTheLinesOfARunOfAnotherSizeAndPlanReproduceIt(t *testing.T) {
	binary := build(t)
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-v", "-run", "^lock/plain-create$", "-o", "my out", "-faults",
		"lose-reply=1@op=create,client=c2", "-clients", "4", "-rounds", "1")
	m := block.FindStringSubmatch(strings.ReplaceAll(r.out, "my out", "my_out"))
	if m == nil {
		t.Fatalf("%+v", r)
	}
	for _, line := range m[6:8] {
		line = strings.ReplaceAll(line, "my_out", "my out")
		if again := shell(t, binary, line); !strings.Contains(again.out, "hash "+m[4]) {
			t.Errorf("%s:\n%+v", line, again)
		}
	}
	if !strings.Contains(r.out, ", 2 of 4 clients, 1 round, ") {
		t.Errorf("%+v", r)
	}
	files, err := filepath.Glob("my out/*/*/report.json")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	report, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(report), "\"clients\": 2,\n  \"rounds\": 1,\n") {
		t.Errorf("%v\n%s", err, report)
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "index.html"))
	if err != nil || !strings.Contains(string(page), ", 2 clients, 1 round each<") {
		t.Errorf("the page does not tell the size: %v", err)
	}
}

func TestAnUnreachableEnsembleIsNamed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r := simrunUntil(ctx, "check", "-backend", "zookeeper", "-servers", "127.0.0.1:1", "-run", "^lock/lock$")
	if r.code != exitUsage || !strings.HasPrefix(r.err, "simrun check: ") || !strings.Contains(r.err, "127.0.0.1:1") ||
		!strings.Contains(r.err, "connection refused") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestWithoutAServerTheReasonIsGiven(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nonexistent")
	t.Setenv(zkserver.EnvZooKeeper, missing)
	r := simrun(t, "check", "-backend", "zookeeper", "-run", "^lock/lock$")
	if r.code != exitUsage || !strings.Contains(r.err, missing) ||
		!strings.HasSuffix(r.err, "; or give -servers host:port,... of a running one\n") ||
		strings.Count(r.err, "\n") != 1 || r.out != "" {
		t.Errorf("%+v", r)
	}
}

func TestLocksHoldOnARealServer(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	t.Chdir(t.TempDir())
	clients := "10"
	if testing.Short() {
		clients = "4"
	}
	r := simrun(t, "check", "-backend", "zookeeper", "-servers", server.ConnectString(), "-clients", clients, "-run",
		"^lock/(lock|workers|fan-out|single-node|wedged)$")
	if r.code != exitHeld || strings.Count(r.out, "\nheld ")+1 != 4 ||
		!strings.HasSuffix(r.out, "4 scenarios: 4 held\n") ||
		!strings.Contains(r.out, "skipped 1 mutant") || r.err != "" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a run that holds has made a folder")
	}
}

func TestAViolationOnARealServerHasItsPage(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	t.Chdir(t.TempDir())
	add(t, engine.Scenario{Name: "test/real", Clients: 2, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			o := p.Register(nil)
			o.Invoke("look")
			_, _, err := p.Conn.Get(p.Path("/<nothing>"))
			o.Return("look", err)
			p.Fail(err)
		}})
	args := []string{"check", "-backend", "zookeeper", "-servers", server.ConnectString(), "-clients", "3", "-run",
		"^test/real$", "-o", "my"}
	r := simrun(t, args...)
	if r.code != exitViolation || r.err != "" ||
		!strings.HasPrefix(r.out, "FAIL    test/real                on ZooKeeper  liveness: c1 gave up: zk: node does not "+
			"exist\n        report     my/test.real/zookeeper/index.html\n") {
		t.Fatalf("%+v", r)
	}
	page, err := os.ReadFile("my/test.real/zookeeper/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>test/real, on ZooKeeper: liveness</title>", "1 server, 3 clients",
		"c1 begins look", "× here liveness is violated", ">c3</text>", "Showing all 16 steps"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, no := range []string{`id="state"`, ">s1</text>", "simrun replay", "seed"} {
		if strings.Contains(string(page), no) {
			t.Errorf("the page has %q, which there is not on a real ensemble", no)
		}
	}
	report, err := os.ReadFile("my/test.real/zookeeper/report.json")
	if err != nil || !strings.Contains(string(report), `"backend": "zookeeper"`) ||
		!strings.Contains(string(report), `"checker": "liveness"`) {
		t.Errorf("%v: %s", err, report)
	}
	t.Run("in a browser", func(t *testing.T) {
		b := newBrowser(t)
		path, err := filepath.Abs("my/test.real/zookeeper/index.html")
		if err != nil {
			t.Fatal(err)
		}
		b.open(path, "")
		b.is(inView, "true")
		place := b.text("data.place")
		b.press("k")
		b.press("e")
		b.is(current, "step "+place+" s"+place)
		b.quiet()
	})
	write(t, "file", "")
	args[len(args)-1] = "file"
	if r := simrun(t, args...); r.code != exitUsage || r.err != "simrun check: -o: mkdir file: not a directory\n" {
		t.Errorf("%+v", r)
	}
}

// TestAFaultOfTheStartIsNamed has numbers that end from the beginning: no step of the run says so.
func TestAFaultOfTheStartIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-v", "-run", "^lock/string-sequence$")
	if !strings.Contains(r.out, " rounds, faults: sequence=2@path=/lock\n") ||
		!strings.Contains(r.out, " of all random runs with no more faults fail\n") {
		t.Errorf("%s", r.out)
	}
	pages, _ := filepath.Glob("out/lock.string-sequence/*/index.html")
	if page, err := os.ReadFile(pages[0]); err != nil || strings.Count(string(page), "sequence=2@path=/lock") != 2 {
		t.Errorf("the page does not say that it struck, %v", err)
	}
}
