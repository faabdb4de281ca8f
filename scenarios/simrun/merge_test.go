package simrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// clumsy fails in two ways: when the reply to a create is lost, and when the request is.
var clumsy = engine.Scenario{Name: "test/clumsy", Clients: 2, Faults: faults.MustParse("lose-reply=1 lose-request=1"),
	Checkers: []checkers.Checker{checkers.Liveness{}},
	Goals: []engine.Goal{{Name: "a rare length", Reached: func(h *history.History) bool {
		return len(h.Events)%17 == 3
	}}},
	Program: func(p *engine.Process) {
		_, err := p.Conn.Create(fmt.Sprintf("/c%d", p.ID), nil, 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrConnectionClosed) {
			_, err = p.Conn.Create(fmt.Sprintf("/c%d", p.ID), nil, 0, zk.WorldACL(zk.PermAll))
			p.Always("nobody else makes it", !errors.Is(err, zk.ErrNodeExists))
			if err == nil {
				p.Fail(errors.New("a request was lost"))
			}
		}
		p.Sometimes("all is well", err == nil)
	}}

// mended is clumsy without its bugs.
func mended() engine.Scenario {
	s := clumsy
	s.Program = func(p *engine.Process) {
		p.Conn.Create(fmt.Sprintf("/c%d", p.ID), nil, 0, zk.WorldACL(zk.PermAll))
		p.Sometimes("all is well", true)
	}
	return s
}

// inParts runs a check in n parts, and returns their folders.
func inParts(t *testing.T, n int, args ...string) (dirs []string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		dir := filepath.Join(fmt.Sprintf("parts-%d", n), fmt.Sprint(i))
		r := simrun(t, append([]string{"check", "-o", dir, "-shard", fmt.Sprintf("%d/%d", i, n)}, args...)...)
		if r.err != "" || r.code > exitViolation {
			t.Fatalf("%+v", r)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// contents returns the files below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMergesOfAnyNumberOfPartsAreTheSameBytes(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy, holds, aimless, twofold)
	var first map[string]string
	var said [2]result
	for k, n := range []int{1, 2, 7, 64} {
		inParts(t, n, "-seeds", "1-150", "test/clumsy", "test/twofold", "test/holds", "test/aimless", "lock/lock",
			"lock/plain-create")
		r := simrun(t, "merge", fmt.Sprintf("parts-%d", n), "-o", "merged", "-junit", "merged/junit.xml")
		if r.code != exitViolation || r.err != "" {
			t.Fatalf("%d parts: %+v", n, r)
		}
		files := contents(t, "merged")
		os.Remove("merged/findings.json")
		j := simrun(t, "merge", fmt.Sprintf("parts-%d", n), "-o", "merged", "-json")
		if k == 0 {
			first, said = files, [2]result{r, j}
		}
		if said != [2]result{r, j} {
			t.Errorf("the output of %d parts differs:\n%+v\n%+v\n%+v", n, r, j, said)
		}
		if !maps.Equal(files, first) {
			for name := range first {
				if files[name] != first[name] {
					t.Errorf("%d parts: %s differs\n%s\n%s", n, name, files[name], first[name])
				}
			}
		}
		os.RemoveAll("merged")
	}
	for _, want := range []string{"index.html", "findings.json", "junit.xml"} {
		if first[want] == "" {
			t.Errorf("there is no %s", want)
		}
	}
	out := said[0].out
	for _, want := range []string{"held    test/holds               150 runs, ", "inconclusive test/aimless ",
		"held    lock/lock                150 runs, ",
		"caught  lock/plain-create        by quiescence at seed 2 in 80 steps\n",
		"finding    always, decided by lose-reply, new\n", "finding    liveness, decided by lose-request, new\n",
		"finding    always, decided by lose-request, new\n",
		"findings 4 new\n", "6 scenarios: 2 held, 1 caught, 2 violated, 1 inconclusive\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the merge does not say %q:\n%s", want, out)
		}
	}
	whole := simrun(t, "check", "-seeds", "1-150", "-strategy", "portfolio", "lock/lock", "-shard", "1/1")
	if head, _, _ := strings.Cut(whole.out, "\n"); !strings.Contains(out, head) {
		t.Errorf("the merge does not say %q:\n%s", head, out)
	}
}

// A failure folder that the merge has taken over is whole, and its command works from there.
func TestTheMergeLeadsToFailuresThatReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy)
	inParts(t, 3, "-seeds", "1-60", "test/clumsy")
	r := simrun(t, "merge", "parts-3")
	os.RemoveAll("parts-3")
	at := strings.Index(r.out, "reproduce  go run ./cmd/simrun replay merged/test.clumsy/")
	if at < 0 {
		t.Fatalf("%+v", r)
	}
	line, _, _ := strings.Cut(r.out[at:], "\n")
	if x := simrun(t, strings.Fields(line)[4:]...); x.code != exitViolation {
		t.Errorf("%s: %+v", line, x)
	}
}

func TestAPartThatIsMissingOrInterruptedIsNamedAndNoPass(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds, clumsy)
	inParts(t, 3, "-seeds", "1-30", "test/holds")
	if r := simrun(t, "merge", "parts-3"); r.code != exitHeld || !strings.HasSuffix(r.out,
		"index   merged/index.html\n1 scenario: 1 held\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "merge", "parts-3", "-undone"); r != (result{out: "\n"}) {
		t.Errorf("%+v", r)
	}
	for _, flag := range []string{"-json", "-junit=junit.xml", "-findings=known.json", "-obligations=none.json"} {
		if r := simrun(t, "merge", "parts-3", "-undone", flag); r != (result{code: exitUsage,
			err: "simrun merge: -undone merges nothing, expected no -json, -junit, -findings or -obligations beside it\n"}) {
			t.Errorf("%+v", r)
		}
	}
	os.Rename("parts-3/2", "two")
	if r := simrun(t, "merge", "parts-3", "-undone"); r != (result{out: "2\n"}) {
		t.Errorf("%+v", r)
	}
	r := simrun(t, "merge", "parts-3", "-junit", "junit.xml")
	if r.code != exitInconclusive || !strings.Contains(r.out, "not there: part 2 of 3\n") ||
		!strings.Contains(r.out,
			"inconclusive test/holds               not done by all parts: without part 2 of 3 (20 runs)\n") {
		t.Errorf("%+v", r)
	}
	if text := readIndex(t, "merged"); !strings.Contains(text, "<li>not there: part 2 of 3</li>") {
		t.Error(text)
	}
	if text, _ := os.ReadFile("junit.xml"); !strings.Contains(string(text), `message="not there: part 2 of 3"`) {
		t.Errorf("%s", text)
	}
	// The time was up.
	timed := simrun(t, "check", "-seeds", "1-1000000", "-for", "1ms", "-shard", "1/1", "-o", "timed/1", "test/holds")
	if r := simrun(t, "merge", "timed", "-undone"); r.out != "1\n" {
		t.Errorf("%+v\n%+v", timed, r)
	}
	// As a kill leaves it: begun, and not ended.
	text, err := os.ReadFile("two/shard.json")
	if err != nil {
		t.Fatal(err)
	}
	begun := strings.Replace(string(text), `"of": 3,`, `"of": 3, "unended": "the run\\u001b has not ended",`, 1)
	i := strings.Index(begun, `"scenarios": [`+"\n    {\n      \"name\": \"test/holds\",\n      \"part\"")
	if i < 0 {
		t.Fatal(begun)
	}
	write(t, "two/shard.json", sealed(strings.TrimSuffix(strings.TrimSpace(begun[:i]), ",")+"}"))
	r = simrun(t, "merge", "parts-3", "two")
	if r.code != exitInconclusive ||
		!strings.Contains(r.out, "part 2/3 in two is not done: the run\\u001b has not ended\n") ||
		strings.Contains(r.out, "held  ") {
		t.Errorf("%+v", r)
	}
}

// A part that could not write all its files, and one whose own file is damaged, are to be run again, and no others.
func TestAPartThatHasLostAFileIsRunAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, clumsy)
	parts := inParts(t, 3, "-seeds", "1-30", "test/clumsy")
	os.RemoveAll(parts[1])
	os.Mkdir(parts[1], 0o777)
	write(t, filepath.Join(parts[1], "test.clumsy"), "no folder")
	simrun(t, "check", "-seeds", "1-30", "-shard", "2/3", "-o", parts[1], "test/clumsy")
	if r := simrun(t, "merge", "parts-3"); !strings.Contains(r.out, "part 2/3 in parts-3/2 is not done: seed 14 of "+
		"test/clumsy fails (always), but no report can be written: ") {
		t.Errorf("%+v", r)
	}
	write(t, filepath.Join(parts[2], "shard.json"), "{")
	if r := simrun(t, "merge", "parts-3", "-undone"); r != (result{out: "2,3\n",
		err: "simrun merge: parts-3/3/shard.json is not a zksim shard 3: unexpected EOF\n"}) {
		t.Errorf("%+v", r)
	}
}

// sealed gives the text of a part the checksum that it should have, if it is one.
func sealed(text string) string {
	var x shardFile
	if json.Unmarshal([]byte(text), &x) != nil {
		return text
	}
	sum, _ := x.sum()
	return strings.Replace(text, `"checksum": "`+x.Checksum+`"`, `"checksum": "`+sum+`"`, 1)
}

func TestPartsThatDoNotBelongTogetherAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	parts := inParts(t, 2, "-seeds", "1-30", "test/holds")
	run := func(dir string, args ...string) string {
		simrun(t, append([]string{"check", "-o", dir, "test/holds"}, args...)...)
		return dir
	}
	text, _ := os.ReadFile("parts-2/2/shard.json")
	os.Mkdir("none", 0o777)
	os.Mkdir("damaged", 0o777)
	write(t, "damaged/shard.json", strings.Replace(string(text), `"steps": `, `"steps": 1`, 1))
	change := func(dir, old, text2 string) string {
		os.Mkdir(dir, 0o777)
		write(t, filepath.Join(dir, "shard.json"), sealed(strings.Replace(string(text), old, text2, 1)))
		return dir
	}
	for _, x := range []struct {
		dirs []string
		want string
	}{
		{nil, "expected folders of parts, which check, and prove with -split or -obligations, leave with -shard and -o"},
		{[]string{"nowhere"}, "no such file"},
		{[]string{"none"}, "none has no shard.json"},
		{[]string{"damaged/shard.json"}, "damaged/shard.json is no folder: expected folders of parts"},
		{[]string{parts[0], run("again", "-seeds", "1-30", "-shard", "1/2")}, "are both part 1/2, expected each once"},
		{[]string{parts[0], run("three", "-seeds", "1-30", "-shard", "2/3")}, "expected parts of one work"},
		{[]string{parts[0], run("more", "-seeds", "1-31", "-shard", "2/2")}, "(scenarios: [{test/holds 1 30}]"},
		{[]string{parts[0], run("rounds", "-seeds", "1-30", "-shard", "2/2", "-strategy", "pct")}, "(strategy: "},
		{[]string{parts[0], change("old", `"program": "`, `"program": "old `)}, "expected one version"},
		{[]string{change("old", `"program": "`, `"program": "old `)}, "and this is "},
		{[]string{parts[0], "damaged"}, "it is damaged, or was edited"},
		{[]string{change("format", `shard 3"`, `shard 2"`)}, "is not a zksim shard 3"},
		{[]string{change("many", `"of": 2`, `"of": 4294967295`)}, "is not a zksim shard 3"},
		{[]string{change("text", `{`, `[`)}, "is not a zksim shard 3"},
		{[]string{change("unknown", `"command"`, `"colour": 1, "command"`)}, `unknown field "colour"`},
		{[]string{change("below", `"runs": 15`, `"runs": -100`)}, "counts that the 15 seeds of part 2/2 cannot come to"},
		{[]string{change("above", `"runs": 15`, `"runs": 9223372036854775807`)}, "the 15 seeds of part 2/2 cannot"},
		{[]string{change("struck", `"runs": 15`, `"runs": 15, "rules": [{"rule": "expire=1", "hit": 16}]`)},
			"counts that the 15 seeds of part 2/2 cannot come to"},
		{[]string{parts[0], change("fewer", `"runs": 15`, `"runs": 0`)},
			"fewer: test/holds has 0 runs and does not say why, expected the 15 seeds of part 2/2"},
		{[]string{change("twice", `"scenarios": [`+"\n    {\n      \"name\": \"test/holds\",\n      \"part\"",
			`"scenarios": [{"name": "test/holds", "part": {"runs": 0, "steps": 0}}, {"name": "test/holds", "part"`)},
			`it has the scenario "test/holds" twice`},
		{[]string{change("other", `"name": "test/holds",`, `"name": "test/other",`)}, "its parameters have the scenario"},
		{[]string{change("tail", string(text), string(text)+"{}")}, "there is more behind it"},
		{[]string{parts[0], change("escapes", `"program": "`, `"program": "\u001b[2J`)}, `escapes by \x1b[2J`},
		{[]string{"-o", parts[0], parts[0], parts[1]}, "is the folder of part 1/2, expected another one"},
		{[]string{"-findings", parts[0] + "/shard.json", parts[0], parts[1]}, "is not a zksim findings 2"},
	} {
		r := simrun(t, append([]string{"merge"}, x.dirs...)...)
		if r.code != exitUsage || !strings.Contains(r.err, x.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%v: %+v, expected %s", x.dirs, r, x.want)
		}
	}
}

// Parts may lie on other disks. Other files between them are no parts.
func TestAPartBehindASymbolicLinkIsThere(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	inParts(t, 2, "-seeds", "1-30", "test/holds")
	if err := errors.Join(os.Rename("parts-2/2", "elsewhere"), os.Symlink("../elsewhere", "parts-2/2")); err != nil {
		t.Fatal(err)
	}
	write(t, "parts-2/notes.txt", "of the campaign")
	if r := simrun(t, "merge", "parts-2", "-undone"); r.code != exitHeld || r.out != "\n" {
		t.Errorf("%+v", r)
	}
}

func TestFindingsAreNewOngoingGoneAndRegressed(t *testing.T) {
	t.Chdir(t.TempDir())
	merged := func(s engine.Scenario, seeds string) string {
		add(t, s)
		os.RemoveAll("parts-2")
		inParts(t, 2, "-seeds", seeds, "test/clumsy")
		r := simrun(t, "merge", "parts-2", "-findings", "known.json")
		i := strings.Index(r.out, "findings ")
		if i < 0 {
			t.Fatalf("%+v", r)
		}
		line, _, _ := strings.Cut(r.out[i:], "\n")
		return line
	}
	base := catalog.All
	var got []string
	for _, x := range []struct {
		s     engine.Scenario
		seeds string
	}{{clumsy, "1-60"}, {clumsy, "1-61"}, {mended(), "1-1"}, {mended(), "1-60"}, {clumsy, "1-61"}} {
		got = append(got, merged(x.s, x.seeds))
		catalog.All = base
	}
	want := []string{"findings 2 new", "findings 2 ongoing", "findings 2 not looked for", "findings 2 gone",
		"findings 2 regressed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	text, _ := os.ReadFile("known.json")
	for _, want := range []string{`"format": "zksim findings 2"`, `"decides": "lose-request"`, `"state": "gone"`,
		`"state": "regressed"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the history does not have %s:\n%s", want, text)
		}
	}
}

// Folders of parts may be where a merge has the folders of failures.
func TestAMergeRemovesNoPart(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	for _, out := range []string{"all/test.holds/1", "all/test.holds/2", "all/test.holds/3/1"} { // the last is not merged
		r := simrun(t, "check", "test/holds", "-seeds", "1-9", "-shard", path.Base(out)+"/2", "-o", out)
		if r.err != "" {
			t.Fatalf("%+v", r)
		}
	}
	if err := os.Mkdir("all/test.holds/4", 0o777); err != nil { // of an earlier merge
		t.Fatal(err)
	}
	for range 2 {
		if r := simrun(t, "merge", "all/test.holds/1", "all/test.holds/2", "-o", "all"); r.code != exitHeld || r.err != "" {
			t.Fatalf("%+v", r)
		}
	}
	_, part := os.Stat("all/test.holds/3/1/shard.json")
	if _, err := os.Stat("all/test.holds/4"); part != nil || err == nil {
		t.Errorf("%v; the folder of an earlier merge: %v", part, err)
	}
}
