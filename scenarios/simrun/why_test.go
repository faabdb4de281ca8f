package simrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const plainCreate = "out/lock.plain-create/2/schedule.txt"

// failed leaves the folder of a failure in a new working directory.
func failed(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if r := simrun(t, "check", "-run", "^lock/plain-create$", "-seeds", "2", "-v"); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
}

func TestWhyNamesTheStep(t *testing.T) {
	failed(t)
	r := simrun(t, "why", plainCreate, "-futures", "20")
	if r.code != exitHeld || r.err != "" {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{
		"lock/plain-create  quiescence: c1 waits for /lock/",
		"decided at step 3 of ",
		": after lose-reply c1, 100% of the random futures fail, before it 0%\n",
		" step  chance of failure, of 20 futures without further faults\n    0    0% .........................\n",
		"    3  100% #########################  lose-reply c1\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if err := os.WriteFile("holds.txt", []byte("zksim schedule 1\nscenario lock/lock\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"holds.txt":                   "simrun why: holds.txt: nothing to explain: the schedule violates nothing\n",
		"none.txt":                    "simrun why: open none.txt: no such file or directory\n",
		plainCreate + " -futures 0":   "simrun why: -futures is a number from 1 to 1000000000, not 0\n",
		plainCreate + " " + "another": "simrun why: unexpected argument \"another\"\n",
	} {
		if r := simrun(t, append([]string{"why"}, strings.Fields(args)...)...); r.code != exitUsage || r.err != want {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// The report of why and that of replay have the curve, and are the same bytes each time.
func TestWhyWritesAReportWithItsCurve(t *testing.T) {
	failed(t)
	read := func(args ...string) (all string) {
		dir := t.TempDir()
		r := simrun(t, append(args, "-o", dir, plainCreate)...)
		if r.err != "" || !strings.HasSuffix(r.out, "\n      report     "+filepath.Join(dir, "index.html")+"\n") {
			t.Errorf("%+v", r)
		}
		for _, name := range []string{"index.html", "report.json", "history.jsonl"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Error(err)
			}
			all += string(text)
		}
		return all
	}
	for _, x := range []struct {
		command []string
		of      string
	}{{[]string{"why", "-futures", "20"}, "20"}, {[]string{"replay"}, "30"}} {
		a, b := read(x.command...), read(x.command...)
		if a != b {
			t.Errorf("%q writes another report each time", x.command)
		}
		for _, want := range []string{`<polygon class="chance"`, "decides: lose-reply c1, from 0% to 100%", "Decided at",
			"\"why\": {\n    \"of\": " + x.of + ",\n    \"failed\": [\n      0,\n      0,\n      0,\n      " + x.of +
				"\n    ],"} {
			if !strings.Contains(a, want) {
				t.Errorf("%q: no %q", x.command, want)
			}
		}
	}
	write(t, "file", "")
	r := simrun(t, "why", "-o", "file", plainCreate)
	if r.code != exitUsage || r.err != "simrun why: -o: mkdir file: not a directory\n" || r.out != "" {
		t.Errorf("%+v", r)
	}
}

// Runs of one seed with other flags do not mix: each has a folder of its own.
func TestOtherCircumstancesHaveAnotherFolder(t *testing.T) {
	failed(t)
	before, err := os.ReadFile(filepath.Join(filepath.Dir(plainCreate), "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{{"-clients", "4"}, {"-rounds", "1"}, {"-faults", "lose-reply=1"},
		{"-strategy", "random"}, {"-p", "1"}, {"-shard", "1/1"}} {
		if r := simrun(t, append([]string{"check", "-run", "^lock/plain-create$", "-seeds", "2-30", "-v"},
			more...)...); r.code != exitHeld {
			t.Fatalf("%q: %+v", more, r)
		}
	}
	after, err := os.ReadFile(filepath.Join(filepath.Dir(plainCreate), "report.json"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the report is another one now: %v", err)
	}
	if dirs, err := filepath.Glob("out/lock.plain-create/*"); err != nil || len(dirs) != 5 {
		t.Errorf("%q, %v", dirs, err)
	}
}

func TestDiffFindsWhereRunsPart(t *testing.T) {
	failed(t)
	dir := filepath.Dir(plainCreate)
	other := filepath.Join(dir, "other.txt")
	text, err := os.ReadFile(plainCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), "lose-reply c1", "serve c1", 1)),
		0o666); err != nil {
		t.Fatal(err)
	}
	r := simrun(t, "diff", plainCreate, other)
	if r.code != exitViolation || !strings.HasPrefix(r.out,
		"the first 2 steps are the same\nA     3  lose-reply c1\n         c1 fault lose-reply c1\n") ||
		!strings.Contains(r.out, "B     3  serve c1\n         c1 created /lock/_c_") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "diff", plainCreate, plainCreate); r.code != exitHeld ||
		!strings.HasPrefix(r.out, "the same in all ") {
		t.Errorf("%+v", r)
	}
	full := filepath.Join(dir, "schedule.full.txt")
	history := filepath.Join(dir, "history.jsonl")
	if r := simrun(t, "diff", plainCreate, full); r.code != exitViolation ||
		!strings.HasPrefix(r.out, "clients 2, and clients 3\nrounds 1, and rounds 2\nthe first ") {
		t.Errorf("%+v", r)
	}
	shorter := filepath.Join(dir, "shorter.jsonl")
	lines, err := os.ReadFile(history)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shorter, []byte(strings.Join(strings.SplitAfter(string(lines), "\n")[:4], "")),
		0o666); err != nil {
		t.Fatal(err)
	}
	if r := simrun(t, "diff", history, shorter); r.code != exitViolation ||
		!strings.HasPrefix(r.out, "the first 4 lines are the same\nA     5  {") ||
		!strings.HasSuffix(r.out, "B     5  (ends here)\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "diff", history, history); r.code != exitHeld || !strings.HasPrefix(r.out, "the same in all ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "diff", shorter, shorter); r.code != exitUsage || r.out != "" || r.err != "simrun diff: "+shorter+
		": line 5: the history was cut off, expected that its last line is {\"kind\":\"end\",...}\n" {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "diff", history, plainCreate); r.code != exitUsage || !strings.Contains(r.err, "is a history and ") {
		t.Errorf("%+v", r)
	}
}
