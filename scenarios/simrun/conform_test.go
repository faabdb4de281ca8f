package simrun

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"zksim/internal/conform"
	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
)

// recordings is the folder of the recorded transcripts.
var recordings = filepath.Join("..", "..", "internal", "transcript", "testdata")

func TestConformReplaysRecordings(t *testing.T) {
	r := simrun(t, "conform", "-replay", recordings)
	if r.code != exitHeld || r.err != "" || !regexp.MustCompile(`^\d+ transcripts, \d+ steps, 0 differences\n$`).
		MatchString(r.out) {
		t.Errorf("%+v", r)
	}
}

// doctored copies a recording, with a change to one step, below a new folder.
func doctored(t *testing.T, old, new string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recordings, "golden", "h07_set_versions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, new, 1)
	if changed == string(text) {
		t.Fatalf("no %q in the recording", old)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "b", "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "b", "deep", "x.jsonl"), changed)
	write(t, filepath.Join(dir, "a.jsonl"), string(text))
	write(t, filepath.Join(dir, "notes.txt"), "not a transcript")
	return dir
}

func TestConformReplayNamesEachDifference(t *testing.T) {
	dir := doctored(t, `"err":"BADVERSION"`, `"err":"NONODE"`)
	r := simrun(t, "conform", "-replay", dir)
	want := regexp.MustCompile(`^` + regexp.QuoteMeta(filepath.Join(dir, "b", "deep", "x.jsonl")) +
		`: step \d+: err: want "NONODE", got "BADVERSION"\n2 transcripts, \d+ steps, 1 difference\n$`)
	if r.code != exitViolation || r.err != "" || !want.MatchString(r.out) {
		t.Errorf("%+v", r)
	}
}

func TestConformReplayLeavesOutRecordingsOfClients(t *testing.T) {
	dir := doctored(t, `"err":"BADVERSION"`, `"err":"NONODE"`)
	header := `{"kind":"header","scenario":"g01","client":"go-zookeeper/zk v1.0.4"}` + "\n" + `{"step":"create"}` + "\n"
	write(t, filepath.Join(dir, "b", "deep", "x.jsonl"), header)
	r := simrun(t, "conform", "-replay", dir)
	if r.code != exitHeld || !strings.HasPrefix(r.out, "1 transcript, ") || !strings.Contains(r.err, "left out 1 ") {
		t.Errorf("%+v", r)
	}
}

func TestConformRefusesWrongInput(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	pipe := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(zkserver.EnvZooKeeper, filepath.Join(empty, "nonexistent"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-replay", empty}, empty + ": no transcripts (*.jsonl)"},
		{[]string{"-replay", filepath.Join(empty, "none")}, "no such file"},
		{[]string{"-replay", filepath.Dir(pipe)}, "pipe.jsonl is no regular file"},
		{[]string{"-replay", ""}, "-replay is empty, expected the name of a file or folder"},
		{[]string{"-replay", doctored(t, `"op":"set"`, `"op":"sit"`)}, `unknown op "sit"`},
		{[]string{"-replay", doctored(t, `{"kind":"header"`, `{"kind":"conform"`)}, "x.jsonl: line 1: "},
		{[]string{"-replay", doctored(t, `}`, `}}`)}, "x.jsonl: line "},
		{[]string{"-replay", empty, "-ops", "7"}, "-replay takes no other flags"},
		{[]string{"-nodes", "2"}, "-nodes is 1 or 3, not 2"},
		{[]string{"-ops", "0"}, "-ops must be 1 or more, not 0"},
		{[]string{"-servers", "localhost"}, `-servers is host:port,..., not "localhost"`},
		{[]string{"-servers", "127.0.0.1:1", "-nodes", "3"}, "exclude each other"},
		{[]string{"-servers", "127.0.0.1:1", "-o", file}, "-o: "},
		{[]string{"-seed", "-1"}, "-seed"},
		{[]string{"more"}, `unexpected argument "more"`},
		{nil, "; or give -servers host:port,... of a running one"},
	} {
		r := simrun(t, append([]string{"conform"}, c.args...)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, "simrun conform: ") ||
			!strings.Contains(r.err, c.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q: %+v, want %q", c.args, r, c.want)
		}
	}
}

func TestConformNamesAnUnreachableServer(t *testing.T) {
	r := simrun(t, "conform", "-servers", "127.0.0.1:1,127.0.0.1:2", "-o", t.TempDir())
	if r.code != exitUsage || !strings.Contains(r.err, "127.0.0.1:1: connect: connection refused; ") ||
		strings.Contains(r.err, "deadline") || strings.Count(r.err, "\n") != 1 {
		t.Errorf("%+v", r)
	}
}

// keepsContainers is a server that removes no empty container while it is compared.
var keepsContainers = zkserver.Options{ContainerCheck: time.Hour}

func TestConformComparesWithARealServer(t *testing.T) {
	server := zkservertest.Start(t, keepsContainers)
	r := simrun(t, "conform", "-servers", server.ConnectString(), "-ops", "200", "-seed", "9", "-o", t.TempDir())
	total := regexp.MustCompile(`\n240 operations in 4 sequences from seed 9 on, 1 server, [\d.]+ s, \d+ operations/s, ` +
		`0 differences\n$`)
	if r.code != exitHeld || r.err != "" || !total.MatchString(r.out) || !strings.Contains(r.out, "\nreached ") {
		t.Errorf("%+v", r)
	}
}

func TestAnInterruptedConformIsNotHeld(t *testing.T) {
	server := zkservertest.Start(t, keepsContainers)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	r := simrunUntil(ctx, "conform", "-servers", server.ConnectString(), "-ops", "1000000000", "-o", t.TempDir())
	if r.code != exitInconclusive || r.err != "simrun conform: interrupted\n" ||
		!strings.HasSuffix(r.out, " 0 differences\n") {
		t.Errorf("%+v", r)
	}
}

// A server that takes connections and says nothing.
func TestAConformThatIsInterruptedBeforeItHasASessionIsNoError(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan result, 1)
	go func() { results <- simrunUntil(ctx, "conform", "-servers", silent.Addr().String(), "-o", t.TempDir()) }()
	for range 2 { // the first one is only to see whether anybody listens
		if _, err := silent.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if r := <-results; r.code != exitInconclusive || r.err != "simrun conform: interrupted\n" || r.out != "" {
		t.Errorf("%+v", r)
	}
}

func TestConformStartsItsOwnServer(t *testing.T) {
	zkservertest.ForTest(t, 1) // skips where there is none
	r := simrun(t, "conform", "-ops", "1", "-o", t.TempDir())
	if r.code != exitHeld || !strings.Contains(r.out, " 1 server, ") {
		t.Errorf("%+v", r)
	}
}

func TestConformTellsADifferenceInOneBlock(t *testing.T) {
	out := t.TempDir()
	f := conform.Failure{Seed: 17, Original: 44, Repeated: true, Sequence: conform.Sequence{
		Root: "/conform-1",
		Steps: []conform.Step{
			{Op: conform.Op{Session: 1, Kind: conform.Open}},
			{Op: conform.Op{Session: 1, Kind: conform.Sync, Path: "/a"},
				Real: conform.Outcome{Result: conform.Result{Path: "/conform-1/a"}}},
		},
		Differences: []conform.Difference{{Step: 1, Field: "path", Real: "/conform-1/a", Sim: "nothing"}},
	}}
	var text strings.Builder
	a := &app{all: catalog.All, variants: variants.All, command: "go run ./cmd/simrun", out: &text, err: &text}
	c := &conformFlags{out: out}
	c.difference(a, f, 3)
	file := filepath.Join(out, "conform", "seed-17.jsonl")
	want := `DIFF  seed 17  step 1: s1 sync "/a"
      differs    path
                 ZooKeeper  /a
                 simulator  nothing
      minimal    2 of 44 steps
             0   s1 open: ok
             1   s1 sync "/a": ok
      transcript ` + file + `
      reproduce  go run ./cmd/simrun conform -nodes 3 -seed 17 -ops 1
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	rep := &conform.Report{Servers: 3, Ops: 60, Sequences: 1, Coverage: conform.Coverage{},
		Failures: []conform.Failure{f}}
	if code, err := c.summary(a, rep); code != exitViolation || err != nil ||
		!strings.HasSuffix(text.String(), ", 1 difference\n") {
		t.Errorf("%d, %v", code, err)
	}
	rep.Failures[0].Repeated = false
	if code, err := c.summary(a, rep); code != exitInconclusive || err != nil ||
		!strings.HasSuffix(text.String(), ", 1 difference, 1 of them only once\n") {
		t.Errorf("%d, %v", code, err)
	}
}
