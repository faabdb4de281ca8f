package simrun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/scenarios/engine"
)

// obligedInParts writes the list of a folder of scenarios and proves it in parts, but for those that are left out.
func obligedInParts(t *testing.T, but ...string) {
	t.Helper()
	r := simrun(t, "prove", "-obligations", "list.json", "test")
	if r.code != exitHeld || !strings.HasSuffix(r.out, " obligations of 2 scenarios, of which 12 were never tried\n") {
		t.Fatalf("%+v", r)
	}
	for _, part := range []string{"1/2", "2/2"} {
		if len(but) == 0 || but[0] != part {
			simrun(t, "prove", "-obligations", "list.json", "-shard", part, "-o", "parts/"+part[:1], "-p", "1")
		}
	}
}

// good is like clumsy, without bugs and with a plan of its own.
func good() engine.Scenario {
	s := mended()
	s.Name, s.Faults, s.Goals = "test/good", faults.MustParse("lose-reply=1 disconnect=1"), nil
	return s
}

// bad is clumsy with a plan that loses connections: then slow wakes show its bug.
func bad() engine.Scenario {
	s := clumsy
	s.Name, s.Faults, s.Goals = "test/bad", faults.MustParse("lose-reply=1 disconnect=1"), nil
	return s
}

func TestObligationsAreProvedInPartsAndMergedToATable(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, bad(), good())
	obligedInParts(t)
	r := simrun(t, "merge", "parts", "-obligations", "list.json", "-junit", "junit.xml")
	if r.code != exitViolation || !strings.Contains(r.out, "held    test/good ") ||
		!strings.Contains(r.out, "FAIL    test/bad ") || !strings.Contains(r.out, "reproduce  go run ./cmd/simrun replay "+
		"merged/test.bad/prove-") ||
		!strings.Contains(r.out, "\ntable   merged/proved.md\n2 scenarios: 1 held, 1 violated\n") {
		t.Fatalf("%+v", r)
	}
	text, _ := os.ReadFile("merged/proved.md")
	for _, want := range []string{`\| scenario \| usual \| whole plan \|`,
		`\| .test/good. \| 2c 2f [0-9,]+ \| 2c 1f [0-9,]+<br>`,
		`\| .test/bad. .*2c 1f \*\*refuted\*\*`} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("the table does not have %s:\n%s", want, text)
		}
	}
	certificates, _ := filepath.Glob("merged/certificates/test.good.*.json")
	if len(certificates) < 5 {
		t.Fatalf("%v", certificates)
	}
	if v := simrun(t, "prove", "-verify", certificates[0]); v.code != exitHeld {
		t.Errorf("%+v", v)
	}
	list, _ := os.ReadFile("merged/obligations.json")
	if strings.Count(string(list), `"outcome":"`) != 12 {
		t.Errorf("the list has not all times: %s", list)
	}
	r = simrun(t, "prove", "-obligations", "merged/obligations.json", "test")
	if !strings.Contains(r.out, "of which 0 were never tried") {
		t.Errorf("%+v", r)
	}
}

func TestTheNumberOfProofsInTheDocumentsIsThatOfTheList(t *testing.T) {
	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	r := simrun(t, "prove", "-obligations", "list.json")
	var obligations int
	if _, err := fmt.Sscanf(r.out, "%d obligations of ", &obligations); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	hundreds := (obligations + 50) / 100
	if want := fmt.Sprintf("some %d,%d00 in all", hundreds/10, hundreds%10); !strings.Contains(string(text), want) {
		t.Errorf("docs/scale.md does not say %q", want)
	}
}

func TestAPartOfAProofIsRunAgainAfterAMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	x := good()
	x.Name = "test/another"
	add(t, x, good())
	obligedInParts(t, "2/2")
	before, _ := os.ReadFile("list.json")
	merge := []string{"merge", "parts", "-obligations", "list.json"}
	if r := simrun(t, merge...); r.code != exitInconclusive || !strings.Contains(r.out, "not there: part 2 of 2\n") {
		t.Fatalf("%+v", r)
	}
	simrun(t, "prove", "-obligations", "list.json", "-shard", "2/2", "-o", "parts/2", "-p", "1")
	for range 2 {
		if r := simrun(t, merge...); r.code != exitHeld || !strings.HasSuffix(r.out, "\n2 scenarios: 2 held\n") {
			t.Errorf("%+v", r)
		}
	}
	if after, _ := os.ReadFile("list.json"); string(after) != string(before) {
		t.Errorf("the list that the parts are taken from has changed:\n%s", after)
	}
	r := simrun(t, "merge", "parts", "-obligations", "merged/obligations.json")
	if r.code != exitUsage || !strings.Contains(r.err, "which is the list of the parts, expected another folder") {
		t.Errorf("%+v", r)
	}
}

func TestAHoleInWhatIsProvedIsSeenAndNoPass(t *testing.T) {
	t.Chdir(t.TempDir())
	x := good()
	x.Name = "test/another"
	add(t, x, good())
	r := simrun(t, "prove", "-obligations", "list.json", "test")
	if r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	simrun(t, "prove", "-obligations", "list.json", "-shard", "1/2", "-o", "parts/1", "-kind", "usual|slow")
	before, _ := os.ReadFile("list.json")
	r = simrun(t, "merge", "parts", "-obligations", "list.json")
	if r.code != exitInconclusive || !strings.Contains(r.out, "not there: part 2 of 2\n") ||
		!strings.Contains(r.out, "inconclusive test/good ") {
		t.Errorf("%+v", r)
	}
	if text, _ := os.ReadFile("merged/proved.md"); !strings.Contains(string(text), "2c 1f not tried") {
		t.Errorf("%s", text)
	}
	page := readIndex(t, "merged")
	for _, want := range []string{`<a href="./proved.md">proved.md</a>, <a href="./certificates">certificates</a>`,
		`>test/good</a>: 1 of 6 obligations proved</li>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "faults that struck") || strings.Contains(page, `>goals<`) {
		t.Errorf("columns of the page are empty: %s", page)
	}
	write(t, "list.json", strings.Replace(string(before), `"most":1`, `"most":0`, 1))
	write(t, "empty.json", `{"format": "zksim obligations 1", "obligations": []}`)
	const settings = `{"colour": "green"}`
	write(t, "settings.json", settings)
	for args, want := range map[string]string{
		"merge parts -obligations list.json":                    "is another list than that which the parts were taken from",
		"merge parts":                                           "expected -obligations FILE",
		"merge parts -obligations list.json -findings x":        "-findings goes with parts of check only",
		"prove -obligations list.json -shard 1/2 test":          "NAMES and -run do not go with it",
		"prove -obligations list.json -shard 1/2 -kind nothing": "no obligation is of a kind that matches",
		"prove -obligations list.json -shard 1/2 -clients 3":    "-clients does not go with -obligations",
		"prove -obligations none.json -shard 1/2":               "none.json: no such file",
		"merge parts -obligations none.json":                    "none.json: no such file",
		"prove -obligations empty.json -shard 1/2":              "has no obligations, expected a list",
		"prove -obligations settings.json":                      "is not a zksim obligations 1",
		"prove -obligations settings.json -shard 1/2":           "is not a zksim obligations 1",
		"prove -obligations list.json -kind usual":              "-kind goes with -shard",
		"prove -obligations list.json -junit j.xml":             "-junit goes with -shard: without it the whole list is",
		"prove -obligations list.json -json":                    "-json goes with -shard",
		"prove -obligations list.json -o parts/1 test":          "-o goes with -shard",
		"prove -obligations list.json -for 1m -mem 1G -p 1":     " goes with -shard",
		"prove -kind usual":                                     "-kind goes with -obligations only",
		"prove -obligations merged/proved.md -shard 1/2":        "is not a zksim obligations 1",
	} {
		if r := simrun(t, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, expected %s", args, r, want)
		}
	}
	if text, _ := os.ReadFile("settings.json"); string(text) != settings {
		t.Errorf("a file of something else is written over: %s", text)
	}
}

// TestAListThatIsNoListOfProofsIsRefused has kinds that no table has, a proof twice, and one that is of another scope
// than it says.
func TestAListThatIsNoListOfProofsIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, good())
	simrun(t, "prove", "-obligations", "list.json", "test")
	list, _ := os.ReadFile("list.json")
	simrun(t, "prove", "-obligations", "list.json", "-shard", "1/1", "-o", "parts/1", "-kind", "usual")
	lines := strings.SplitAfterN(string(list), "\n", 3)
	for want, bad := range map[string]string{
		`number 1 is of the kind "plague", expected one of usual, `: strings.Replace(string(list), `"usual"`, `"plague"`, 1),
		"numbers 1 and 2 are the same, expected each once":          lines[0] + lines[1] + lines[1] + lines[2],
	} {
		write(t, "bad.json", bad)
		for _, args := range []string{"prove -obligations bad.json -shard 1/1", "merge parts -obligations bad.json"} {
			if r := simrun(t, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
				t.Errorf("%s: %+v, expected %s", args, r, want)
			}
		}
	}
	write(t, "bad.json", strings.Replace(string(list), `"most":2`, `"most":9`, 1))
	r := simrun(t, "prove", "-obligations", "bad.json", "-shard", "1/1", "-kind", "elections")
	if r.code != exitUsage || !strings.Contains(r.err, "at most 9 of disconnect=2 is no claim of a search") {
		t.Errorf("%+v", r)
	}
	write(t, "bad.json", strings.Replace(string(list), `"usual"`, `"three servers"`, 1))
	r = simrun(t, "merge", "parts", "-obligations", "bad.json")
	if r.code != exitUsage || !strings.Contains(r.err, "is another list than that which the parts were taken from") {
		t.Errorf("%+v", r)
	}
}

func TestAProofThatReachesNoGoalIsNoneInTheTable(t *testing.T) {
	t.Chdir(t.TempDir())
	x := good()
	program := x.Program
	x.Program = func(p *engine.Process) {
		p.Sometimes("there are three", p.Clients == 3)
		program(p)
	}
	add(t, x)
	simrun(t, "prove", "-obligations", "list.json", "test")
	r := simrun(t, "prove", "-obligations", "list.json", "-shard", "1/1", "-o", "parts/1", "-kind", "usual")
	if !strings.Contains(r.out, "\n      never      no schedule that was explored reaches: there are three\n") ||
		!strings.Contains(r.out, "\n      not in it  ") {
		t.Errorf("%+v, expected why the proof is a hole, and what it says nothing of", r)
	}
	r = simrun(t, "merge", "parts", "-obligations", "list.json")
	if !strings.Contains(r.out, "inconclusive test/good ") {
		t.Errorf("%+v", r)
	}
	if text, _ := os.ReadFile("merged/proved.md"); !strings.Contains(string(text), "2c 2f **goal not reached**") {
		t.Errorf("%s", text)
	}
}
