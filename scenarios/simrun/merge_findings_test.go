package simrun

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// twofold has two bugs that one checker finds: one that many runs show, and one that few do.
var twofold = engine.Scenario{Name: "test/twofold", Clients: 2,
	Faults: faults.MustParse("lose-reply=1@op=create lose-request=1@op=delete,nth=2"),
	Program: func(p *engine.Process) {
		name := fmt.Sprintf("/n%d", p.ID)
		_, err := p.Conn.Create(name, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll))
		p.Always("the create is answered", err == nil)
		p.Conn.Delete("/none", -1)
		p.Always("the delete is answered", p.Conn.Delete(name, -1) == nil)
	},
	Checkers: []checkers.Checker{checkers.Steps{}}}

// findingsOf returns the findings that a part has noted, as words, each once.
func findingsOf(t *testing.T, dir string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, shardName))
	var x shardFile
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range x.Scenarios {
		for _, f := range s.Failures {
			list = append(list, fmt.Sprintf("%s, decided by %s", f.Checker, f.Decides))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func TestEveryFindingOfEveryPartIsInTheMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, twofold)
	r := simrun(t, "check", "-seeds", "100-600", "-shard", "1/1", "-o", "whole/1", "test/twofold")
	if r.code != exitViolation || strings.Count(r.out, "report  ") != 2 {
		t.Errorf("one part does not explain failures until it knows both kinds: %+v", r)
	}
	if r = simrun(t, "merge", "whole", "-o", "of-one"); !regexp.MustCompile(`\n      partly     100 of 1\d\d runs ` +
		`that always finds violated were explained, 100` +
		` in each part at most: there may be other findings\n`).MatchString(r.out) {
		t.Errorf("a merge does not say that not all failures are explained: %s", r.out)
	}
	const n = 4
	var reported []string
	for i := 1; i <= n; i++ {
		dir := fmt.Sprintf("parts/%d", i)
		simrun(t, "check", "-seeds", "100-600", "-shard", fmt.Sprintf("%d/%d", i, n), "-o", dir, "test/twofold")
		reported = append(reported, findingsOf(t, dir)...)
	}
	slices.Sort(reported)
	if reported = slices.Compact(reported); len(reported) != 2 {
		t.Fatalf("the parts report %q", reported)
	}
	r = simrun(t, "merge", "parts")
	if strings.Contains(r.out, "partly") {
		t.Errorf("all failures are explained: %s", r.out)
	}
	for _, x := range reported {
		if !strings.Contains(r.out, "finding    "+x+", new\n") {
			t.Errorf("the merge does not have %q, which a part has reported:\n%s", x, r.out)
		}
	}
}

func TestAFailureOfUnknownKindCountsWhereItsCheckerHasNoOther(t *testing.T) {
	f := func(seed uint64, checker, decides, cut string) mergedFailure {
		return mergedFailure{shardFailure: shardFailure{Seed: seed, Checker: checker, Decides: decides, Cut: cut}}
	}
	var got []uint64
	for _, x := range firstOfKind([]mergedFailure{f(1, "always", "", interrupted), f(2, "always", "tick", ""),
		f(3, "always", "", ""), f(4, "always", "tick", ""), f(5, "tree", "", interrupted), f(6, "tree", "", interrupted)}) {
		got = append(got, x.Seed)
	}
	if want := []uint64{2, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

func TestAMergeSearchesTheSmallScopeAsOneRunWould(t *testing.T) {
	t.Chdir(t.TempDir())
	flawed := *catalog.Named("lock/ignore-exists")
	flawed.Name, flawed.Caught = "test/flawed", nil
	add(t, flawed)
	names := []string{"-seeds", "1-2", "test/flawed", "lock/ignore-exists", "lock/fan-out"}
	inParts(t, 2, names...)
	merged, whole := simrun(t, "merge", "parts-2"), simrun(t, append([]string{"check", "-o", "whole"}, names...)...)
	found := regexp.MustCompile(`FAIL  test/flawed  exhaustive search  .+\n      waits .+\n      minimal .+\n`)
	lines := regexp.MustCompile(`(?m)^(caught  lock/ignore-exists.* in exhaustive search|held    lock/fan-out.*; every ` +
		`schedule) .+$`)
	if a, b := found.FindString(merged.out), found.FindString(whole.out); a == "" || a != b {
		t.Errorf("%q, expected %q", merged.out, b)
	}
	a, b := lines.FindAllString(merged.out, -1), lines.FindAllString(whole.out, -1)
	if len(a) != 2 || !slices.Equal(a, b) {
		t.Errorf("%q, expected %q", merged.out, b)
	}
	if merged.code != exitViolation || !strings.Contains(merged.out, "\nfindings 1 new\n") ||
		!strings.Contains(merged.out, "\n      reproduce  go run ./cmd/simrun replay merged/test.flawed/prove/"+
			"schedule.txt\n") {
		t.Errorf("%+v", merged)
	}
}

func TestAPartSaysWhatItLeavesToTheMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, aimless, holds)
	part := []string{"check", "-seeds", "1-10", "-shard", "1/2", "-o", "part", "-junit", "junit.xml", "test/aimless",
		"test/holds"}
	r := simrun(t, part...)
	if r.code != exitHeld || !strings.Contains(r.out, "\nleft    1 inconclusive: only the merge of all parts can tell\n") {
		t.Errorf("%+v", r)
	}
	junit, err := os.ReadFile("junit.xml")
	if text := string(junit); err != nil || strings.Count(text, "<testcase") != 2 ||
		strings.Count(text, "<skipped") != 1 ||
		!strings.Contains(text, `<skipped message="only the merge of all parts can tell">`) {
		t.Errorf("%v\n%s", err, text)
	}
	if r := simrun(t, append(part, "-json")...); r.code != exitHeld ||
		!strings.Contains(r.out, `"Action":"skip","Package":"zksim","Test":"check/test/aimless"`) ||
		!strings.Contains(r.out, `"Action":"pass","Package":"zksim","Test":"check/test/holds"`) {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "check", "-seeds", "1-10", "-shard", "1/2", "-o", "part", "test/holds")
	if strings.Contains(r.out, "left ") {
		t.Errorf("%+v", r)
	}
}

func TestACampaignThatIsMergedAgainIsAsIfItHadBeenMergedOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy, holds)
	args := []string{"test/clumsy", "test/holds"}
	inParts(t, 1, append(args, "-seeds", "1-60")...)
	inParts(t, 3, append(args, "-seeds", "1-60")...)
	earlier := simrun(t, "merge", "parts-1", "-o", "once")
	want := contents(t, "once")
	// Without the part that has the lowest failing seed, there are other folders.
	first := 0
	for i := 1; i <= 3 && first == 0; i++ {
		os.Rename(fmt.Sprintf("parts-3/%d", i), "away")
		simrun(t, "merge", "parts-3", "-o", "again")
		os.Rename("away", fmt.Sprintf("parts-3/%d", i))
		for name := range contents(t, "again") {
			if _, there := want[name]; !there {
				first = i
			}
		}
	}
	if first == 0 {
		t.Fatalf("no part has all of the lowest failing seeds: %+v", earlier)
	}
	for range 2 {
		r := simrun(t, "merge", "parts-3", "-o", "again")
		if !strings.Contains(r.out, "\nfindings 2 new\n") {
			t.Errorf("a campaign takes its own findings for old ones: %s", r.out)
		}
		got := contents(t, "again")
		for name, text := range got {
			if want[name] == "" {
				t.Errorf("%s is of an earlier merge", name)
			}
			if name == findingsName && text != want[name] {
				t.Errorf("%s\nexpected\n%s", text, want[name])
			}
		}
	}
}

func TestAFindingIsNotGoneBecauseAnotherOneDoesNotRepeat(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy)
	inParts(t, 1, "-seeds", "1-60", "test/clumsy")
	simrun(t, "merge", "parts-1", "-findings", "known.json")
	inParts(t, 1, "-seeds", "1-61", "test/clumsy")
	schedules, _ := filepath.Glob("parts-1/1/test.clumsy/*/schedule.txt")
	for _, name := range schedules { // without what it needs, each run passes
		text, _ := os.ReadFile(name)
		write(t, name, regexp.MustCompile(`(?m)^lose-.*\n`).ReplaceAllString(string(text), ""))
	}
	r := simrun(t, "merge", "parts-1", "-findings", "known.json")
	if len(schedules) != 2 || r.code != exitNondeterministic || !strings.Contains(r.out, "\nfindings 2 not looked for\n") {
		t.Errorf("%q: %+v", schedules, r)
	}
}

func TestAFindingOfWhatIsAMutantNowIsNotGone(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy)
	inParts(t, 1, "-seeds", "1-60", "test/clumsy")
	simrun(t, "merge", "parts-1", "-findings", "known.json")
	mutant := clumsy
	mutant.Caught = []string{"liveness"}
	catalog.All[len(catalog.All)-1] = mutant
	inParts(t, 1, "-seeds", "1-61", "test/clumsy")
	r := simrun(t, "merge", "parts-1", "-findings", "known.json")
	if r.code != exitHeld || !strings.HasPrefix(r.out, "caught ") ||
		!strings.Contains(r.out, "\nfindings 2 not looked for\n") {
		t.Errorf("%+v", r)
	}
}

func TestNoFileIsWrittenForTwoPurposes(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	inParts(t, 1, "-seeds", "1-3", "test/holds")
	check := []string{"check", "-seeds", "1-3", "-shard", "1/1", "-o", "part", "test/holds", "-junit"}
	merge := []string{"merge", "parts-1", "-o", "merged", "-junit"}
	for _, args := range [][]string{append(check, "part/shard.json"), append(check, "./part/index.html"),
		append(merge, "merged/findings.json"), append(merge, "merged/index.html"),
		append(merge, "known.json", "-findings", "known.json"),
		append(merge, "junit.xml", "-findings", "merged/index.html")} {
		if r := simrun(t, args...); r.code != exitUsage || !strings.Contains(r.err, "expected another") {
			t.Errorf("%q: %+v", args, r)
		}
	}
	for _, args := range [][]string{append(check, "part/junit.xml"), append(merge, "merged/junit.xml"),
		append(merge, "junit.xml", "-findings", "merged/findings.json")} {
		if r := simrun(t, args...); r.code != exitHeld {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestAHistoryThatNoMergeHasWrittenIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	inParts(t, 2, "-seeds", "1-30", "test/holds")
	const one = `{"scenario": "test/holds", "checker": "\u001b[2Jtree", "decides": "tick", "state": "new", "seed": 3,
		"message": "", "history": []}`
	for _, x := range []struct{ findings, want string }{
		{`null`, "finding 1 has no scenario or no checker"},
		{strings.Replace(one, "test/holds", "", 1), "finding 1 has no scenario or no checker"},
		{strings.Replace(one, `"new"`, `"mended"`, 1), `the state of finding 1 is "mended", expected new, ongoing`},
		{one + "," + strings.Replace(one, `"new"`, `"gone"`, 1), "finding 2 is there twice"},
		{one + `], "before": [null`, "finding 1 has no scenario"},
		{one + `], "notes": ["mine"`, `json: unknown field "notes"`},
	} {
		write(t, "known.json", `{"format": "zksim findings 2", "campaign": "", "findings": [`+x.findings+"]}")
		r := simrun(t, "merge", "parts-2", "-findings", "known.json")
		if r.code != exitUsage || !strings.Contains(r.err, "known.json is not a zksim findings 2: "+x.want) ||
			strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %+v, expected %s", x.findings, r, x.want)
		}
	}
	if err := os.Symlink("/dev/zero", "device.json"); err == nil {
		r := simrun(t, "merge", "parts-2", "-findings", "device.json")
		if r.code != exitUsage || !strings.Contains(r.err, "no regular file") {
			t.Errorf("a file without an end is read: %+v", r)
		}
	}
	for _, text := range []string{"null", "{}"} {
		write(t, "known.json", text)
		if r := simrun(t, "merge", "parts-2", "-findings", "known.json"); r.code != exitUsage {
			t.Errorf("a file of no format is taken for an empty history: %+v", r)
		}
	}
	write(t, "known.json", `{"format": "zksim findings 2", "campaign": "", "findings": [`+one+"]}")
	r := simrun(t, "merge", "parts-2", "-findings", "known.json")
	if r.code != exitHeld || !strings.Contains(r.out, `\x1b[2Jtree, decided by tick`) || strings.Contains(r.out, "\x1b") {
		t.Errorf("the text of a history reaches the terminal as it is: %+v", r)
	}
}
