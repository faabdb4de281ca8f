package simrun

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"zksim/scenarios/engine"
)

// inMergedProofs fails unless the table of the merge has a text.
func inMergedProofs(t *testing.T, want string) {
	t.Helper()
	if text, _ := os.ReadFile("merged/proved.md"); !strings.Contains(string(text), want) {
		t.Errorf("the table does not have %s:\n%s", want, text)
	}
}

func TestAHoleDoesNotHideThatCodeHasLeftTheSimulator(t *testing.T) {
	t.Chdir(t.TempDir())
	x := good()
	x.Name, x.Program = "test/another", func(p *engine.Process) {
		if p.Step(); p.ID == 1 {
			time.Sleep(50 * time.Millisecond) //zksim:ignore that it sleeps is what is to be found
		}
	}
	add(t, x, good())
	obligedInParts(t, "1/2") // has the last one in the table
	r := simrun(t, "merge", "parts", "-obligations", "list.json")
	if r.code != exitUsage || !strings.HasSuffix(r.out, "\n2 scenarios: 1 inconclusive, 1 misused\n") {
		t.Errorf("%+v", r)
	}
	inMergedProofs(t, "2c 1f **misuse** | 2c 2f not tried |")
}

func TestACounterexampleThatDoesNotRepeatEndsNoMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, bad(), good())
	obligedInParts(t)
	schedules, _ := filepath.Glob("parts/*/test.bad/*/schedule.txt")
	for _, name := range schedules { // without what it needs, the run is another one
		text, _ := os.ReadFile(name)
		write(t, name, regexp.MustCompile(`(?m)^(lose-|disconnect ).*\n`).ReplaceAllString(string(text), ""))
	}
	r := simrun(t, "merge", "parts", "-obligations", "list.json")
	if len(schedules) != 1 || r.code != exitNondeterministic || r.err != "" ||
		!strings.HasSuffix(r.out, "\n2 scenarios: 1 held, 1 nondeterministic\n") {
		t.Errorf("%q: %+v", schedules, r)
	}
	inMergedProofs(t, "2c 1f **nondeterministic** |")
}

func TestAPartOfProofsSaysThatTwoRunsDiffer(t *testing.T) {
	t.Chdir(t.TempDir())
	x := fickle
	x.Faults, x.Clients = good().Faults, 2
	add(t, x)
	simrun(t, "prove", "-obligations", "list.json", "test/fickle")
	r := simrun(t, "prove", "-obligations", "list.json", "-shard", "1/1", "-o", "parts/1", "-p", "1", "-kind", "usual")
	if r.code != exitNondeterministic ||
		!strings.HasPrefix(r.out, "FAIL    test/fickle              nondeterministic: ") ||
		!strings.HasSuffix(r.out, "\n1 obligation: 1 nondeterministic\n") {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "merge", "parts", "-obligations", "list.json")
	if r.code != exitNondeterministic || !strings.HasSuffix(r.out, "\n1 scenario: 1 nondeterministic\n") {
		t.Errorf("%+v", r)
	}
	inMergedProofs(t, "2c 2f **nondeterministic** |")
	r = simrun(t, "prove", "test/fickle", "-split", "-shard", "1/1", "-o", "portion", "-p", "1")
	if r.code != exitNondeterministic || r.err != "" || !strings.HasSuffix(r.out, "\n1 scenario: 1 nondeterministic\n") {
		t.Errorf("%+v", r)
	}
}

func TestAProofWithoutAStateIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, good())
	simrun(t, "prove", "-obligations", "list.json", "test")
	simrun(t, "prove", "-obligations", "list.json", "-shard", "1/1", "-o", "parts/1", "-p", "1", "-kind", "usual")
	x, err := readShard("parts/1")
	if err != nil {
		t.Fatal(err)
	}
	x.Proofs[0].Certificate.Levels = nil
	x.Checksum, _ = x.sum()
	text, _ := json.Marshal(x)
	write(t, "parts/1/shard.json", string(text))
	r := simrun(t, "merge", "parts", "-obligations", "list.json")
	if r.code != exitUsage || !strings.Contains(r.err, `it has a proof of "test/good" without a state`) {
		t.Errorf("%+v", r)
	}
}

func TestAMergeOfProofsLeavesNothingOfAnEarlierOne(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, bad(), good())
	obligedInParts(t)
	left := func() (files []string) {
		for _, pattern := range []string{"*", "certificates/*", "test.*/*"} {
			found, _ := filepath.Glob("merged/" + pattern)
			files = append(files, found...)
		}
		return files
	}
	for _, part := range []string{"parts/1", "parts/2"} {
		if err := os.RemoveAll("merged"); err != nil {
			t.Fatal(err)
		}
		simrun(t, "merge", part, "-obligations", "list.json")
		want := left()
		simrun(t, "merge", "parts", "-obligations", "list.json")
		if all := left(); len(all) <= len(want) {
			t.Errorf("%q, and with both parts %q", want, all)
		}
		write(t, "merged/certificates/mine.json", "{}")
		simrun(t, "merge", part, "-obligations", "list.json")
		if err := os.Remove("merged/certificates/mine.json"); err != nil {
			t.Error(err)
		}
		if got := left(); !slices.Equal(got, want) {
			t.Errorf("merged again, %s leaves %q, expected %q", part, got, want)
		}
	}
}
