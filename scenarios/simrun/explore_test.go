package simrun

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
)

// shortRun is a schedule of a few steps that violates something.
const shortRun = `zksim schedule 1
scenario lock/plain-create
servers 3
order 0xba450a33ef6ff86c
faults lose-reply=1
clients 2
rounds 1
seed 2
checker quiescence

run c1
connect c1 s2
lose-reply c1
`

// inShortRun makes a folder with that schedule.
func inShortRun(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "schedule.txt", shortRun)
}

// typing runs a command line with a standard input.
func typing(t *testing.T, in string, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	code := (&app{all: catalog.All, command: "go run ./cmd/simrun", in: strings.NewReader(in), out: &out,
		err: &err}).main(t.Context(), args)
	return result{code, out.String(), err.String()}
}

func TestARunIsExploredAndItsScheduleReplayed(t *testing.T) {
	inShortRun(t)
	r := typing(t, "b\nlose-reply c1\nw walked.txt\n", "explore", "schedule.txt")
	if r.code != exitHeld || r.err != "" || !strings.Contains(r.out, "written: 3 steps, walked.txt") {
		t.Fatalf("%+v", r)
	}
	if again := simrun(t, "replay", "walked.txt"); again != simrun(t, "replay", "schedule.txt") ||
		again.code != exitViolation {
		t.Errorf("%+v", again)
	}
	if r := typing(t, "r\n", "explore", "-run", "lock/lock", "-seed", "3"); r.code != exitHeld ||
		!strings.HasPrefix(r.out, "lock/lock   step 0 of ") ||
		!strings.HasSuffix(r.out, "everything held\nThe run is over.\n") {
		t.Errorf("%+v", r)
	}
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ args, in, want string }{
		{"explore", "", "simrun explore: an argument is missing, expected FILE, or -run NAME -seed N\n"},
		{"explore -", "", "simrun explore: the standard input is for what to do, expected a schedule in a file\n"},
		{"explore -seed 5 schedule.txt", "", "simrun explore: -seed is for -run, and there is the file \"schedule.txt\": " +
			"expected one of them\n"},
		{"explore -run lock/lock schedule.txt", "", "simrun explore: there is -run, and also the file \"schedule.txt\": " +
			"expected one of them\n"},
		{"explore a b", "", "simrun explore: unexpected argument \"b\"\n"},
		{"explore nothing.txt", "", "simrun explore: open nothing.txt: no such file or directory\n"},
		{"explore -run lock/lokc", "", "simrun explore: no scenario is called \"lock/lokc\"; \"go run ./cmd/simrun list\" " +
			"shows them; did you mean lock/lock?\n"},
		{"explore schedule.txt", "w folder\n", "simrun explore: line 1: -w: folder is a folder, not a file\n"},
		{"explore schedule.txt", "g 0\nw x.txt\n", "simrun explore: line 2: no transition was taken yet, expected at " +
			"least one\n"},
	} {
		if r := typing(t, x.in, strings.Fields(x.args)...); r.code != exitUsage || r.err != x.want {
			t.Errorf("%s: %+v, want %s", x.args, r, x.want)
		}
	}
}

func TestARunWithoutASetupIsExploredFromItsBeginning(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, keys := range []string{"", "l\n", "run c1\nb\n"} {
		r := typing(t, keys, "explore", "-run", "barrier/barrier", "-seed", "1")
		if r.code != exitHeld || r.err != "" || !strings.HasPrefix(r.out, "barrier/barrier   step 0 of ") {
			t.Errorf("%q: %+v", keys, r)
		}
	}
}

func TestARunAsColumns(t *testing.T) {
	inShortRun(t)
	r := simrun(t, "replay", "-columns", "schedule.txt")
	table, rest, _ := strings.Cut(r.out, "lock/plain-create  ")
	if r.code != exitViolation || !strings.HasPrefix(rest, "40 steps, replayed") {
		t.Fatalf("%+v", r)
	}
	for line := range strings.Lines(table) {
		if utf8.RuneCountInString(line) > pageColumns+1 {
			t.Errorf("wider than %d columns: %s", pageColumns, line)
		}
	}
	for _, want := range []string{
		"step | s1                   | s2                   | s3                   | c1                   | c2\n",
		"   3 | lock#0 now exists,   |                      |                      | ! lose-reply c1: the |\n",
		"  10 |                      | applies zxid         |\n", " = violation of quiescence: c1 waits for lock#0, ",
		"  13 | executes create      |"} {
		if !strings.Contains(table, strings.TrimRight(want, "\n")) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

func TestPatternsAreCountedInRunsThatFailAndThatPass(t *testing.T) {
	inShortRun(t)
	add(t, aimless)
	r := simrun(t, "grep", "lose-reply of c1, later c2 acquired, before expiry of c1", "lock/plain-create",
		"-seeds", "1-200")
	want := `      first      seed 3, which fails
                 step 123: c1 fault lose-reply c1
                 step 143: c2 acquired `
	if r.code != exitHeld || r.err != "" || !strings.Contains(r.out, want) ||
		!strings.Contains(r.out, "\n      look       go run ./cmd/simrun explore -run lock/plain-create -seed 3\n") {
		t.Errorf("%+v", r)
	}
	counts := strings.NewReader(r.out)
	var failing, fail, passing, pass int
	if _, err := fmt.Fscanf(counts, "lock/plain-create        in %d of %d runs that fail, %d of %d that pass", &failing,
		&fail, &passing, &pass); err != nil || fail+pass != 200 || failing == 0 || failing > fail || passing > pass {
		t.Errorf("%d of %d and %d of %d: %v", failing, fail, passing, pass, err)
	}
	if r := typing(t, "f\n", "explore", "-run", "lock/plain-create", "-seed", "3"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
	write(t, "h.jsonl", `{"kind":"acquired","client":"c1","step":3,"path":"/a"}`+"\n"+`{"kind":"end","lines":1}`)
	for _, x := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"acquired /a", "h.jsonl"}, exitHeld, "h.jsonl  found\n      step 3: c1 acquired /a token 0x0\n"},
		{[]string{"acquired /b", "h.jsonl"}, exitViolation, "h.jsonl  not found\n"},
		{[]string{"lost-early of c3", "lock/lock", "-seeds", "1-5"}, exitViolation, // which is in no plan of ours there
			"lock/lock                in 0 of 0 runs that fail, 0 of 5 that pass\n"},
		{[]string{"calm", "test/aimless", "-seeds", "4-6"}, exitHeld,
			"test/aimless             in 0 of 0 runs that fail, 0 of 0 that pass, 3 of 3 that are inconclusive\n" +
				"      first      seed 4, which is inconclusive\n                 step 5: calm\n" +
				"      look       go run ./cmd/simrun explore -run test/aimless -seed 4\n"},
	} {
		if r := simrun(t, append([]string{"grep"}, x.args...)...); r.code != x.code || r.out != x.out || r.err != "" {
			t.Errorf("%v: %+v", x.args, r)
		}
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{nil, "simrun grep: an argument is missing, expected PATTERN, "},
		{[]string{"lock", "lock/lock"}, `simrun grep: in "lock": nothing is called "lock", expected one of invoke, `},
		{[]string{"calm", "h.jsonl", "lock/lock"}, "simrun grep: there are histories and scenarios, expected one " +
			"kind of them"},
		{[]string{"calm", "h.jsonl", "-seeds", "1-5"}, "simrun grep: -seeds is for scenarios, expected none beside"},
		{[]string{"crashed of c7", "lock/lock"}, "simrun grep: the pattern needs 7 clients, and there are 3 at most"},
		{[]string{"acquired of c2", "h.jsonl"}, "simrun grep: the pattern needs 2 clients, and there are 1 at most"},
		{[]string{"acquired of c1, before serve", "h.jsonl"}, "simrun grep: serve is a transition, and a history has none"},
		{[]string{"calm", "schedule.txt"}, `simrun grep: no scenario is called "schedule.txt"`},
		{[]string{"calm", "nothing.jsonl"}, "simrun grep: open nothing.jsonl: no such file"},
		{[]string{"calm", "-seeds", "x"}, "simrun grep: -seeds: seeds are a number or a range as 1-500"},
		{[]string{"invoke", "lock/lock", "-seeds", "1"}, ""},
		{[]string{"-words", "lock/lock"}, "simrun grep: -words prints what there is, expected no \"lock/lock\" beside it"},
	} {
		if r := simrun(t, append([]string{"grep"}, x.args...)...); !strings.HasPrefix(r.err, x.want) ||
			x.want == "" && r.err != "" {
			t.Errorf("%v: %+v", x.args, r)
		}
	}
}

func TestTrafficIsJudged(t *testing.T) {
	t.Chdir(t.TempDir())
	e, err := serve.Start(serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := &firstLine{arrived: make(chan string, 1)}
	done := make(chan int)
	go func() {
		a := &app{command: "simrun", out: out, err: out}
		done <- a.main(ctx, []string{"judge", "-listen", "127.0.0.1:0", "-forward", e.Connect(), "-record", "h.jsonl"})
	}()
	addr := strings.TrimSpace(strings.TrimPrefix(<-out.arrived, "ready    "))
	c, _, err := zk.Connect([]string{addr}, 20*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Error(err)
	}
	c.Close()
	cancel()
	const judged = "judged   znodes: 1 judged, all linearizable in zxid order\n"
	if code := <-done; code != exitHeld || !strings.Contains(out.text(), judged) {
		t.Errorf("%d, %s", code, out.text())
	}
	if r := simrun(t, "judge", "h.jsonl"); r.code != exitHeld || !strings.Contains(r.out, "judged   znodes: 1 judged, ") {
		t.Errorf("%+v", r)
	}
	for _, x := range []struct{ args, want string }{
		{"judge", "simrun judge: nothing to judge, expected -forward host:port of a server, or FILE\n"},
		{"judge -forward a:1 h.jsonl", "simrun judge: -forward is for a proxy, and there is the file \"h.jsonl\": expected " +
			"one of them\n"},
		{"judge h.jsonl -guard /a=/b -record r.jsonl", "simrun judge: -record is for a proxy, and there is the file " +
			"\"h.jsonl\": expected one of them\n"},
		{"judge -forward nothing", "simrun judge: \"nothing\" is no server, expected host:port\n"},
		{"judge -forward host:1 -listen nowhere", "simrun judge: \"nowhere\" is no address to listen at, expected " +
			"host:port\n"},
		{"judge -guard x h.jsonl", "simrun judge: invalid value \"x\" for flag -guard: a guard is the path of a znode and " +
			"the folder of a lock, as /config=/locks/config, not \"x\"\n"},
		{"judge none.jsonl", "simrun judge: open none.jsonl: no such file or directory\n"},
	} {
		if r := simrun(t, strings.Fields(x.args)...); r.code != exitUsage || r.err != x.want {
			t.Errorf("%s: %+v", x.args, r)
		}
	}
}

// firstLine is an output whose first line somebody waits for.
type firstLine struct {
	mu      sync.Mutex
	all     strings.Builder
	arrived chan string
}

func (f *firstLine) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all.Len() == 0 {
		f.arrived <- string(b)
	}
	return f.all.Write(b)
}

func (f *firstLine) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all.String()
}

// A sequence that begins elsewhere is no event of a history.
func TestThereIsNoneOnlyUnderAllThatCouldHaveStruck(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "test/wraps"
	add(t, engine.Scenario{Name: name, Clients: 1, Program: func(p *engine.Process) {
		p.Conn.Create("/a/b-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	}, Setup: []model.Request{{Op: model.OpCreate, Path: "/a", ACL: zk.WorldACL(zk.PermAll)}},
		Faults: faults.MustParse("sequence=1@path=/a")})
	const call = `{"kind":"call","client":"c1","op":"create","path":"/a/b-"}` + "\n" +
		`{"kind":"reply","client":"c1","op":"create","path":"%s"}` + "\n" + `{"kind":"end","lines":2}`
	write(t, "wrapped.jsonl", fmt.Sprintf(call, "/a/b-2147483646"))
	write(t, "other.jsonl", fmt.Sprintf(call, "/a/b-0000000009"))
	for _, x := range []struct {
		args, out string
		code      int
	}{
		{"-o found.txt wrapped.jsonl", "", exitHeld},
		{"-faults none wrapped.jsonl", "inconclusive  no simulated run of test/wraps under none has this history: all with " +
			"1 server and one order of names and listings were tried, but under sequence=1@path=/a there are others; ",
			exitInconclusive},
		{"other.jsonl", "none  no simulated run of test/wraps under sequence=1@path=/a has this history: all with 1 server " +
			"and one order of names and listings were tried; ", exitViolation},
		{"-nodes 3 other.jsonl", "none  no simulated run of test/wraps under sequence=1@path=/a has this history: all with " +
			"3 servers and one order ", exitViolation},
		{"-faults sequence=1@path=/a other.jsonl", "none  no simulated run of test/wraps under sequence=1@path=/a ",
			exitViolation},
		{"-runs 1 other.jsonl", "inconclusive  none of 1 simulated runs of test/wraps under sequence=1@path=/a ",
			exitInconclusive},
	} {
		r := simrun(t, strings.Fields("explain -run "+name+" "+x.args)...)
		if r.code != x.code || !strings.HasPrefix(r.out, x.out) {
			t.Errorf("%s: %+v, expected %q", x.args, r, x.out)
		}
	}
}

// What strikes a real server is told in words that the simulator does not have, or that are not all of it there.
func TestWhatHasStruckARealEnsembleIsExplainedByWhatComesClosest(t *testing.T) {
	t.Chdir(t.TempDir())
	const name = "test/ends"
	add(t, engine.Scenario{Name: name, Clients: 1, Program: func(p *engine.Process) {
		p.Conn.Exists("/a")
		_, _, err := p.Conn.Exists("/a")
		p.Always("the session goes on", err == nil)
	}})
	for _, fault := range []string{"expire c1", "black-hole c1", "kill s1", "pause s1"} {
		write(t, "ended.jsonl", `{"kind":"call","client":"c1","op":"exists","path":"/a"}`+"\n"+
			`{"kind":"reply","client":"c1","op":"exists","path":"/a","zxid":7,"err":"zk: node does not exist"}`+"\n"+
			`{"kind":"call","client":"c1","op":"exists","path":"/a"}`+"\n"+`{"kind":"fault","op":"`+fault+`"}`+"\n"+
			`{"kind":"told","client":"c1","op":"always","path":"the session goes on"}`+"\n"+`{"kind":"end","lines":5}`)
		r := simrun(t, strings.Fields("explain -nodes 3 -o found.txt -run "+name+" ended.jsonl")...)
		if r.code != exitHeld {
			t.Errorf("%s: %+v", fault, r)
		}
	}
}

func TestARecordedRunIsExplained(t *testing.T) {
	source, err := filepath.Abs("../../internal/explain/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	file := filepath.Join(source, "history.jsonl")
	r := simrun(t, "explain", "-o", "found.txt", file)
	if r.code != exitHeld || r.out != "" || !strings.HasPrefix(r.err, "found    lock/plain-create: 43 steps, in run 1; ") {
		t.Fatalf("%+v", r)
	}
	if in := simrun(t, "explain", "-o", "found.txt", source); in.code != exitHeld || in.err != r.err { // of the folder
		t.Errorf("%+v", in)
	}
	if dash := simrun(t, "explain", "-o", "-found.txt", file); !strings.HasSuffix(dash.err, " replay ./-found.txt\n") {
		t.Errorf("%+v, expected a command that takes the name for a file", dash)
	}
	if r := simrun(t, "replay", "found.txt"); r.code != exitViolation || !strings.Contains(r.out, "FAIL  quiescence: ") {
		t.Errorf("%+v", r)
	}
	write(t, "alone.jsonl", `{"kind":"call","client":"c1","op":"exists","path":"/a"}`+"\n"+`{"kind":"end","lines":1}`)
	for _, x := range []struct {
		args string
		code int
		out  string
	}{
		{"explain -runs 3 -run lock/lock alone.jsonl", exitInconclusive,
			"inconclusive  none of 3 simulated runs of lock/lock " +
				"under " + catalog.Named("lock/lock").Faults.String() + " has this history; the best has 0 of 1 things " +
				"that clients do and see, and then not: c1 call exists /a\n"},
		{"explain -faults none " + file, exitInconclusive, ""},
	} {
		if x.out == "" {
			x.args += " -runs 5"
		}
		if r := simrun(t, strings.Fields(x.args)...); r.code != x.code || x.out != "" && r.out != x.out {
			t.Errorf("%s: %+v", x.args, r)
		}
	}
	for _, x := range []struct{ args, want string }{
		{"explain alone.jsonl", "simrun explain: alone.jsonl: no report.json is beside it, expected -run with the " +
			"name of a scenario\n"},
		{"explain -runs 0 alone.jsonl", "simrun explain: -runs is at least 1, not 0\n"},
		{"explain -nodes 2 alone.jsonl", "simrun explain: -nodes is 1 or 3, not 2\n"},
		{"explain -nodes 0 -run lock/lock alone.jsonl", "simrun explain: -nodes is 1 or 3, not 0\n"},
		{"explain", "simrun explain: an argument is missing, expected FILE\n"},
		{"explain -run lock/lock -o ./alone.jsonl alone.jsonl", "simrun explain: -o: ./alone.jsonl is the file to read, " +
			"expected another one\n"},
		{"explain -run lock/lock -faults x alone.jsonl", "simrun explain: -faults: "},
	} {
		if r := simrun(t, strings.Fields(x.args)...); r.code != exitUsage || !strings.HasPrefix(r.err, x.want) {
			t.Errorf("%s: %+v", x.args, r)
		}
	}
}

func TestAHistoryHasNoTransitionsToWalkThrough(t *testing.T) {
	inShortRun(t)
	if r := simrun(t, "replay", "-o", "page", "schedule.txt"); r.code != exitViolation {
		t.Fatalf("%+v", r)
	}
	history := filepath.Join("page", "history.jsonl")
	if r := typing(t, "b\n", "explore", history); r.code != exitUsage || !strings.Contains(r.err, ": no recording: ") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"replay", "-columns", history}, {"grep", "lose-reply", history}} {
		if r := simrun(t, args...); r.code != exitHeld {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
