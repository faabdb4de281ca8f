package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// promise is a line of testdata/promises.txt.
type promise struct {
	member, words   string
	judges, mutants []string
}

func readPromises(t *testing.T) (all []promise) {
	t.Helper()
	text, err := os.ReadFile("testdata/promises.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		says, judged, ok := strings.Cut(line, " => ")
		member, words, ok2 := strings.Cut(says, ": ")
		if !ok || !ok2 {
			t.Fatalf("testdata/promises.txt: %q, expected MEMBER: WORDS => JUDGES | MUTANTS", line)
		}
		judges, mutants, _ := strings.Cut(judged, " | ")
		p := promise{member, words, strings.Fields(judges), strings.Fields(mutants)}
		if other, ok := strings.CutPrefix(judges, "as "); ok {
			p.judges = []string{"as " + other}
		}
		all = append(all, p)
	}
	return all
}

// recipeTests returns the names of the tests of package recipes.
func recipeTests(t *testing.T) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("../../recipes/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			all[string(m[1])] = true
		}
	}
	return all
}

// objectors returns, for each mutant, the names of all checkers of its scenario that object to its committed schedule.
func objectors(t *testing.T) map[string][]string {
	t.Helper()
	r := engine.NewRunner()
	defer r.Close()
	all := map[string][]string{}
	for i := range All {
		s := &All[i]
		if !s.Broken() {
			continue
		}
		text, err := os.ReadFile(scheduleFile(s.Name))
		if err != nil {
			t.Fatal(err)
		}
		schedule, err := engine.ParseSchedule(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Replay(s, schedule)
		if err != nil {
			t.Fatal(err)
		}
		all[s.Name] = []string{}
		for _, c := range everyJudge(s) {
			if c.Check(res.History).Level == checkers.Violated {
				all[s.Name] = append(all[s.Name], c.Name())
			}
		}
	}
	return all
}

// TestPromisesHaveJudges holds testdata/promises.txt against the source of package recipes, the catalogue and the
// museum, and docs/promises.md against what is made of it.
func TestPromisesHaveJudges(t *testing.T) {
	all := readPromises(t)
	says, must := documented(recipeFiles(t))
	known, tests, caught := map[string]bool{"always": true}, recipeTests(t), objectors(t)
	for i := range All {
		for _, c := range All[i].Judges() {
			known[c.Name()] = true
		}
	}
	for _, p := range all {
		for _, x := range p.judges {
			other, as := strings.CutPrefix(x, "as ")
			switch {
			case as && says[other] == nil, !as && x != "prose" && !known[x] && !tests[x]:
				t.Errorf("%s: %s: no checker, test or member is called %s", p.member, p.words, x)
			}
		}
		for _, m := range p.mutants {
			switch by, ok := caught[m]; {
			case !ok:
				t.Errorf("%s: %s: no mutant is called %s", p.member, p.words, m)
			case !slices.ContainsFunc(by, func(name string) bool { return slices.Contains(p.judges, name) }):
				t.Errorf("%s: %s: none of its judges objects to %s, but %s", p.member, p.words, m, by)
			}
		}
		if p.words != "*" && !slices.ContainsFunc(says[p.member], p.begins) {
			t.Errorf("%s: no sentence of its doc comment begins with %q", p.member, p.words)
		}
	}
	for member := range must { // order-free: each is looked for by itself
		if !slices.ContainsFunc(all, func(p promise) bool { return p.member == member }) {
			t.Errorf("%s has no line in testdata/promises.txt", member)
		}
		if !strings.Contains(member, ".") {
			continue
		}
		for _, s := range says[member] {
			if !slices.ContainsFunc(all, func(p promise) bool {
				return p.member == member && (p.words == "*" || p.begins(s))
			}) {
				t.Errorf("%s has no line for %q in testdata/promises.txt", member, s)
			}
		}
	}
	page := promisesPage(all, says, caught)
	if strings.Contains(page, noMutant+" |") {
		t.Error("docs/promises.md has a judge that catches no mutant alone")
	}
	comparePage(t, "../../docs/promises.md", page)
}

// begins reports whether a sentence is that of the promise.
func (p promise) begins(sentence string) bool { return strings.HasPrefix(sentence, p.words) }

// comparePage compares a page with what it should be, or writes it.
func comparePage(t *testing.T, file, want string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("%s is out of date (%v); run go test ./scenarios/catalog -run Promises -rewrite", file, err)
	}
}

// promisesPage writes docs/promises.md.
func promisesPage(all []promise, says map[string][]string, caught map[string][]string) string {
	var b strings.Builder
	b.WriteString(promisesHead)
	last, alone := "", map[string]bool{}
	for _, p := range all {
		of, _, _ := strings.Cut(p.member, ".")
		if name := shownAs(of); name != last {
			fmt.Fprintf(&b, "\n## %s\n\n| of | promise | judges | mutants |\n|---|---|---|---|\n", name)
			last = name
		}
		for _, s := range says[p.member] {
			own := func(q promise) bool { return q.member == p.member && q.words != "*" && q.begins(s) }
			if p.words != "*" && !p.begins(s) || p.words == "*" && slices.ContainsFunc(all, own) {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", member(p.member), strings.ReplaceAll(s, "|", "\\|"),
				judgesText(p.judges), mutantsText(p, caught, alone))
		}
	}
	fmt.Fprintf(&b, "\n%d of the %d mutants are caught by one checker alone in their shortest runs and break one of "+
		"these sentences.\n", len(alone), len(caught))
	judgesTable(&b, all, caught)
	return b.String()
}

// judgesTable says of each checker how many sentences it judges, and which mutants it catches alone.
func judgesTable(b *strings.Builder, all []promise, caught map[string][]string) {
	sentences, alone := map[string]int{"always": 0}, map[string][]string{}
	for i := range All {
		for _, name := range checkers.NamesOf(All[i].Judges()) {
			sentences[name] = 0
		}
	}
	for _, p := range all {
		for _, judge := range p.judges {
			if _, ok := sentences[judge]; ok {
				sentences[judge]++
			}
		}
	}
	for _, mutant := range slices.Sorted(maps.Keys(caught)) {
		if by := caught[mutant]; len(by) == 1 {
			alone[by[0]] = append(alone[by[0]], "`"+mutant+"`")
		}
	}
	b.WriteString("\n## Judges\n\n| judge | lines above | alone catches |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(sentences)) {
		mutants := cmp.Or(strings.Join(alone[name], ", "), elsewhere(name))
		fmt.Fprintf(b, "| `%s` | %d | %s |\n", name, sentences[name], mutants)
	}
}

// elsewhere says which mutants a checker catches alone that catches none so in its shortest run.
func elsewhere(checker string) string {
	for _, x := range onlyCaught {
		if x.checker == checker {
			return "`" + x.mutant + "`, in longer runs"
		}
	}
	return noMutant
}

const noMutant = "no mutant"

// shownAs is the heading for a type: of one that is embedded, those that embed it.
func shownAs(name string) string {
	switch name {
	case "queue":
		return "Queue and PriorityQueue"
	case "readWrite":
		return "RWLock and RevocableLock"
	case "config":
		return "Config and FlaggedConfig"
	}
	return name
}

// member is how a member is called in the table: the method alone, or "the type".
func member(name string) string {
	if _, method, ok := strings.Cut(name, "."); ok {
		return "`" + method + "`"
	}
	return "the type"
}

func judgesText(judges []string) string {
	var list []string
	for _, x := range judges {
		switch other, as := strings.CutPrefix(x, "as "); {
		case as:
			list = append(list, "as `"+other+"`")
		case x == "prose":
			list = append(list, "promises nothing")
		default:
			list = append(list, "`"+x+"`")
		}
	}
	return strings.Join(list, ", ")
}

// mutantsText names the mutants of a promise, in bold those that one of its judges alone catches.
func mutantsText(p promise, caught map[string][]string, alone map[string]bool) string {
	if len(p.judges) == 1 && (p.judges[0] == "prose" || strings.HasPrefix(p.judges[0], "as ")) {
		return ""
	}
	var list []string
	only := false
	for _, m := range p.mutants {
		if by := caught[m]; len(by) == 1 {
			only, alone[m] = true, true
			list = append(list, "**`"+m+"`**")
			continue
		}
		list = append(list, "`"+m+"`")
	}
	if !only {
		list = append(list, "no mutant only it catches")
	}
	return strings.Join(list, ", ")
}

const promisesHead = `# Promises

Each sentence of the doc comments of package recipes that promises something, what judges it in every run of ` +
	"`simrun\ncheck`" + `, and the mutants that break it. A judge is a checker ([what each promises](checkers.md)), ` +
	"where\n`always`" + ` is the assertions that programs make, above all that of recipes/refusals, or a test of package recipes. A
mutant in bold is one to which one checker alone objects, in its committed run, the shortest that catches it: without
that checker it would get away there. Where there is none, the table says so. The [last table](#judges) has all judges
that are checkers. Which scenario returns which error stands in [Errors](errors.md).

This page is made of testdata/promises.txt of the catalogue by
` + "`go test ./scenarios/catalog -run Promises -rewrite`" + `. The test fails when a sentence, a method, a
constructor, a field, a constant or a type has no line, and when a line names what there is not; another one fails when
a checker stands beside a method that no scenario with that checker calls.
`
