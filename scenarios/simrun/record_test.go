package simrun

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJSONIsWhatGoTestPrints(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails, aimless)
	r := simrun(t, "check", "-json", "-run", "^test/(holds|fails|aimless)$", "-seeds", "1-3")
	if r.code != exitViolation || r.err != "" {
		t.Fatalf("%+v", r)
	}
	var actions []string
	output := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(r.out)); lines.Scan(); {
		var e event
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil || e.Time.IsZero() || e.Package != "zksim" {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if e.Action == "output" {
			output[e.Test] += e.Output
		} else {
			actions = append(actions, e.Action+" "+e.Test)
		}
		if ends := e.Action == "pass" || e.Action == "fail"; ends != (e.Elapsed != nil) {
			t.Errorf("elapsed in %s", lines.Text())
		}
	}
	const want = "start , run check, run check/test/holds, pass check/test/holds, run check/test/fails, " +
		"fail check/test/fails, run check/test/aimless, fail check/test/aimless, fail check, fail "
	if got := strings.Join(actions, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for test, want := range map[string]string{
		"check/test/holds":   "held    test/holds               3 runs, ",
		"check/test/fails":   "FAIL  test/fails  seed 1  liveness: c1 gave up: enough & <done>\n",
		"check/test/aimless": "inconclusive test/aimless             seed 1: doubt: no run had a blue moon (3 runs)\n",
		"check":              "index   out/index.html\n3 scenarios: 1 held, 1 violated, 1 inconclusive\n",
	} {
		if !strings.HasPrefix(output[test], want) {
			t.Errorf("of %q:\n%s", test, output[test])
		}
	}
	if !strings.Contains(output["check/test/fails"], "      reproduce  go run ./cmd/simrun replay "+
		"out/test.fails/1/schedule.txt\n") {
		t.Errorf("%s", output["check/test/fails"])
	}
}

func TestJUnitHasACaseForEachScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, fails, aimless, fickle)
	r := simrun(t, "check", "-junit", "new/junit.xml", "-run", "^test/(holds|fails|aimless|fickle)$", "-seeds", "1-3")
	if r.code != exitNondeterministic || !strings.HasPrefix(r.out, "held    test/holds") {
		t.Fatalf("%+v", r)
	}
	text, err := os.ReadFile(filepath.Join("new", "junit.xml"))
	if err != nil {
		t.Fatal(err)
	}
	doc := readSuite(t, text)
	if doc.Tests != 4 || doc.Failures != 1 || doc.Errors != 2 || len(doc.Cases) != 4 {
		t.Fatalf("%s", text)
	}
	holds, fails, aimless, fickle := doc.Cases[0], doc.Cases[1], doc.Cases[2], doc.Cases[3]
	if holds.Failure != nil || holds.Error != nil {
		t.Errorf("%+v", holds)
	}
	if f := fails.Failure; f == nil || f.Message != "FAIL  test/fails  seed 1  liveness: c1 gave up: enough & <done>" ||
		!strings.Contains(f.Text, "reproduce  go run ./cmd/simrun replay out/test.fails/1/schedule.txt\n") {
		t.Errorf("%+v", f)
	}
	if e := aimless.Error; e == nil || e.Type != "inconclusive" || !strings.Contains(e.Message, "a blue moon") {
		t.Errorf("%+v", e)
	}
	if e := fickle.Error; e == nil || e.Type != "nondeterministic" {
		t.Errorf("%+v", e)
	}
}

func TestWhatXMLCannotWriteIsReplaced(t *testing.T) {
	c := testcase("a/b", outcome{code: exitViolation}, "one\x00\xff]]>\x1b[0m\ntwo\tthree\u2028\n", 0)
	if want := "one\ufffd\ufffd]]>\ufffd[0m\ntwo\tthree\ufffd\n"; c.Failure.Data != want {
		t.Errorf("%q", c.Failure.Data)
	}
	text, err := xml.Marshal(c)
	if err != nil || xml.Unmarshal(text, &struct{}{}) != nil {
		t.Errorf("%v: %s", err, text)
	}
}

func TestAJUnitFileThatCannotBeWrittenIsKnownBeforehand(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	if err := os.WriteFile("file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r := simrun(t, "check", "-junit", "file/junit.xml", "-run", "^test/holds$")
	if r.code != exitUsage || r.out != "" || r.err != "simrun check: -junit: mkdir file: not a directory\n" {
		t.Errorf("%+v", r)
	}
}

func TestProveHasTheSameRecordAsCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	pair, tame := fails, escapes
	pair.Clients, tame.Clients = 2, 2
	add(t, pair, tame)
	args := []string{"prove", "-junit", "j.xml", "lock/lock", "lock/name-sort", "test", "-most", "0", "-for", "1h"}
	r := simrun(t, append(args, "-json")...)
	want := "pass prove/lock/lock, pass prove/lock/name-sort, fail prove/test/fails, fail prove/test/escapes, " +
		"fail prove, fail "
	if got := actions(t, r.out); r.code != exitViolation || got != want || r.err != "" {
		t.Errorf("%d, %s, %s", r.code, got, r.err)
	}
	plain := simrun(t, args...)
	if plain.code != exitViolation || !strings.HasSuffix(plain.out,
		"\nindex   out/index.html\n4 scenarios: 1 held, 1 caught, 1 violated, 1 escaped\n") {
		t.Errorf("%+v", plain)
	}
	text, err := os.ReadFile("j.xml")
	doc := readSuite(t, text)
	if err != nil || doc.String() != "lock/lock: pass, lock/name-sort: pass, test/fails: failure violation, "+
		"test/escapes: failure violation" ||
		!strings.Contains(doc.Cases[2].Failure.Text, "      reproduce  go run ./cmd/simrun replay "+
			"out/test.fails/prove/schedule.txt\n") {
		t.Errorf("%v, %s", err, text)
	}
	for line := range strings.Lines(r.out) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Package != "zksim" {
			t.Errorf("%s: %v", line, err)
		}
	}
	// What was interrupted is no pass in it, and an error ends it.
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	r = simrunUntil(stopped, "prove", "-json", "-junit", "j.xml", "lock/lock", "lock/name-sort")
	want = "fail prove/lock/lock, skip prove/lock/name-sort, fail prove, fail "
	if got := actions(t, r.out); r.code != exitInconclusive || got != want ||
		r.err != "simrun prove: interrupted; not done: lock/lock, lock/name-sort\n" {
		t.Errorf("%d, %s, %s", r.code, got, r.err)
	}
	r = simrun(t, "prove", "-json", "-most", "0", "lock/lock", "queue/queue", "-checkers", "fenced")
	want = "fail prove/lock/lock, fail prove/queue/queue, fail prove, fail "
	if got := actions(t, r.out); r.code != exitUsage || got != want ||
		!strings.HasPrefix(r.err, "simrun prove: lock/lock: no checker knows the operation") {
		t.Errorf("%d, %s, %s", r.code, got, r.err)
	}
}

func TestATimeLimitIsToldToMachinesToo(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	r := simrun(t, "check", "-json", "-junit", "-x.xml", "test/holds", "-for", "1ms", "-p", "1")
	text, err := os.ReadFile("-x.xml")
	if !strings.Contains(r.out, "the time was up after ") || err != nil || !strings.Contains(string(text),
		"the time was up after ") {
		t.Errorf("%+v, %v, %s", r, err, text)
	}
}
