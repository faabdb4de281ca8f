package simrun

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/internal/zkserver/zkservertest"
	"zksim/reports"
	"zksim/scenarios/engine"
)

func TestAMutantThatIsCaughtOnARealServerLeavesAFolderAndASimulatedSchedule(t *testing.T) {
	zkservertest.ForTest(t, 1).Stop() // or skip
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults",
		"lose-reply=1@op=create,nth=1", "-seeds", "1-3", "-v", "lock/plain-create")
	if r.code != exitHeld || r.err != "" || !strings.HasPrefix(r.out, "caught  lock/plain-create        on ZooKeeper 3.") {
		t.Fatalf("%+v", r)
	}
	const dir = "out/lock.plain-create/zookeeper/"
	for _, want := range []string{"  report     " + dir + "index.html\n", "  simulated  " + dir + "simulated/index.html: ",
		" check -backend zookeeper -nodes 1 -session-timeout 1.5s -faults 'lose-reply=1@op=create,nth=1' -seeds ",
		"lose-reply=1@op=create,nth=1 struck 1 time, in 1 of 1 run\n", "1 scenario: 1 caught\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
	diary, err := os.ReadFile(dir + diaryFile)
	if err != nil || !strings.Contains(string(diary), "s lose-reply c") || !strings.Contains(string(diary), "s calm\n") {
		t.Errorf("%v\n%s", err, diary)
	}
	if _, err := os.Stat(dir + serversFile); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile(dir + "index.html")
	if err != nil || !strings.Contains(string(page), diaryFile) || !strings.Contains(string(page), serversFile) {
		t.Errorf("the page does not lead to the logs: %v", err)
	}
	text, err := os.ReadFile(dir + "report.json")
	if err != nil {
		t.Fatal(err)
	}
	var report reports.Report
	if err := json.Unmarshal(text, &report); err != nil || report.Faults != "lose-reply=1@op=create,nth=1" ||
		len(report.Struck) != 1 || report.Seed == 0 || len(report.Reproduce) != 1 {
		t.Errorf("%v: %+v", err, report)
	}
	if again := "go run ./cmd/simrun check -backend zookeeper -nodes 1 -session-timeout 1.5s -faults "; len(
		report.Reproduce) != 1 || !strings.HasPrefix(report.Reproduce[0], again) ||
		!strings.Contains(string(page), again) {
		t.Errorf("neither the page nor the report has the whole command: %q", report.Reproduce)
	}
	r = simrun(t, "replay", dir+"simulated/schedule.txt")
	if r.code != exitViolation {
		t.Errorf("%+v", r)
	}
}

// Without faults a seed still decides what programs draw and when their timers fire.
func TestARunWithoutFaultsCanBeRepeatedByItsSeed(t *testing.T) {
	zkservertest.ForTest(t, 1).Stop() // or skip
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults", "none", "-seeds", "2",
		"lock/watch-first")
	const again = " check -backend zookeeper -nodes 1 -session-timeout 1.5s -faults none -seeds 2 lock/watch-first"
	if r.code != exitHeld || !strings.Contains(r.out, again) || !strings.Contains(r.out, " at seed 2  herd: ") {
		t.Fatalf("%+v", r)
	}
	const dir = "out/lock.watch-first/zookeeper/"
	text, err := os.ReadFile(dir + "report.json")
	if err != nil {
		t.Fatal(err)
	}
	var report reports.Report
	if err := json.Unmarshal(text, &report); err != nil || report.Seed != 2 || report.Faults != "none" ||
		len(report.Reproduce) != 1 || !strings.HasSuffix(report.Reproduce[0], again) {
		t.Errorf("%v: %+v", err, report)
	}
	diary, err := os.ReadFile(dir + diaryFile)
	if err != nil || !strings.Contains(string(diary), "plan none\n") || !strings.Contains(string(diary), "s calm\n") {
		t.Errorf("%v\n%s", err, diary)
	}
}

// One whose program never uses the connection has no fault that strikes, and one that hangs is given up.
func TestOneAbortedScenarioDoesNotEndTheCheck(t *testing.T) {
	zkservertest.ForTest(t, 1).Stop() // or skip
	t.Chdir(t.TempDir())
	add(t, engine.Scenario{Name: "test/first", Clients: 2, Checkers: []checkers.Checker{checkers.Liveness{}},
		Program: func(p *engine.Process) {
			p.Conn.Get(p.Path("/nothing"))
			if p.ID == 1 {
				panic("this is the program's own fault")
			}
		}})
	r := simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults", "disconnect=1@nth=1",
		"-seeds", "1", "test/first", "counter/counter")
	if r.code != exitViolation || !strings.Contains(r.out, "FAIL    test/first") ||
		!strings.Contains(r.out, "this is the program's own fault") || !strings.Contains(r.out, "held    counter/counter") ||
		!strings.Contains(r.out, "  simulated  out/test.first/zookeeper/simulated/index.html: panic, ") {
		t.Errorf("%+v", r)
	}
}

func TestAPlanThatStrikesNothingIsInconclusive(t *testing.T) {
	zkservertest.ForTest(t, 1).Stop() // or skip
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults", "disconnect=1@op=getACL",
		"-seeds", "1-2", "counter/counter")
	if r.code != exitInconclusive || !strings.Contains(r.out, "nothing of the plan has struck in 2 runs") {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults", "disconnect=0", "-seeds", "1",
		"counter/counter")
	if r.code != exitHeld || !strings.HasPrefix(r.out, "held ") {
		t.Errorf("%+v, expected what -faults none gives", r)
	}
}

func TestAnAimAtAClientThatThereIsNotIsRefusedBeforeServersStart(t *testing.T) {
	const want = "fault plan: expire=1@client=c9: there is no c9, lock/lock has 3 clients"
	for _, backend := range []string{"sim", "zookeeper"} {
		r := simrun(t, "check", "-backend", backend, "-faults", "expire=1@client=c9", "-seeds", "1", "lock/lock")
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", backend, r)
		}
	}
}

func TestOfAnOwnPlanOneServerHasWhatItCan(t *testing.T) {
	zkservertest.ForTest(t, 1).Stop() // or skip
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-backend", "zookeeper", "-session-timeout", "1500ms", "-faults", "own", "-seeds", "1-2", "-v",
		"counter/counter")
	if r.code != exitHeld || !strings.Contains(r.out, "held    counter/counter") || !strings.Contains(r.out,
		"      left out: stale-read=2 failover=2 depose=2 elect=2 part=1: these servers cannot have them") ||
		!strings.Contains(r.out, "lose-reply=2             struck") {
		t.Errorf("%+v", r)
	}
}

func TestTheServersLogIsSearchedAndBounded(t *testing.T) {
	var l serverLog
	for range 2 * logLines {
		l.Write([]byte("server 1: WARN nothing\n"))
	}
	l.Write([]byte("server 2: WARN Learner - Truncating log to get in sync with the leader 0x100000002\n"))
	if len(l.lines) > logLines {
		t.Errorf("%d lines", len(l.lines))
	}
	if found := l.about(time.Time{}, "Truncating log"); len(found) != 1 || !strings.HasSuffix(found[0], "0x100000002") {
		t.Errorf("%q", found)
	}
	if found := l.about(time.Time{}, "nothing"); len(found) != aboutLines {
		t.Errorf("%d lines are shown", len(found))
	}
	begun := time.Now()
	l.Write([]byte("server 2: WARN Learner - Exception when following the leader\n"))
	if found := l.about(begun, "nothing", "Truncating log", "Exception"); len(found) != 1 {
		t.Errorf("of the latest run: %q", found)
	}
}

func TestClientsOfSomebodyElsesServersAreStruckAsWell(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-backend", "zookeeper", "-servers", server.ConnectString(), "-session-timeout", "2s",
		"-faults", "lose-reply=2 disconnect=1 expire=1", "-seeds", "1-2", "-v", "lock/lock")
	if r.code != exitHeld || !strings.Contains(r.out, "held    lock/lock") || !strings.Contains(r.out,
		"      not judged: ownership, claim, belief, linearizability: they need txns, and nobody has the logs of these "+
			"servers\n") {
		t.Errorf("%+v", r)
	}
}

func TestSomebodyElsesServersMayBeGivenByName(t *testing.T) {
	server := zkservertest.ForTest(t, 1)
	t.Chdir(t.TempDir())
	_, port, _ := strings.Cut(server.ConnectString(), ":")
	r := simrun(t, "check", "-backend", "zookeeper", "-servers", "localhost:"+port, "-session-timeout", "2s",
		"-faults", "disconnect=1", "-seeds", "1", "-v", "counter/counter")
	if r.code != exitHeld || !strings.Contains(r.out, "3 clients on ZooKeeper, 1 seed\n") ||
		!strings.Contains(r.out, "disconnect=1             struck 1 time, in 1 of 1 run\n") {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "check", "-backend", "zookeeper", "-servers", "nobody.invalid:"+port, "counter/counter")
	if r.code != exitUsage || !strings.Contains(r.err, "-servers: lookup nobody.invalid") {
		t.Errorf("%+v", r)
	}
}

func TestServersOfWhichNoneListensAreToldAtOnce(t *testing.T) {
	r := simrun(t, "check", "-backend", "zookeeper", "-servers", "127.0.0.1:1", "-o", t.TempDir(), "counter/counter")
	const want = "simrun check: -servers: dial tcp 127.0.0.1:1: connect: connection refused\n"
	if r.code != exitUsage || r.err != want {
		t.Errorf("%+v, expected %s", r, want)
	}
}
