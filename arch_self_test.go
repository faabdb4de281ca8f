package zksim_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/arch/bad/*/want.txt anew; read the difference before committing it")

// archRules are all rules, by the folder of bad files that proves each one. The
// rules without a folder are proved by trees made on the spot: their bad files
// would be long, or other checks of this repository would find them.
var archRules = []struct {
	bad  string
	rule func(*tree) []string
}{
	{"imports", importProblems},
	{"thirdparty", thirdPartyProblems},
	{"connection", connectionProblems},
	{"determinism", determinismProblems},
	{"docs", docProblems},
	{"names", nameProblems},
	{"", func(t *tree) []string { return t.problems }},
	{"", func(t *tree) []string { return sizeProblems(t, nil) }},
	{"", wordingProblems},
	{"", sharedProblems},
}

func TestEveryRuleIsContentWithAGoodTree(t *testing.T) {
	good := load(t, "testdata/arch/good")
	for _, r := range archRules {
		for _, problem := range r.rule(good) {
			t.Error(problem)
		}
	}
}

// A bad file has one violation and a name that says which; a file named good_*
// has what the rule must let pass. want.txt holds the messages.
func TestEveryRuleFindsWhatIsBadAndNothingElse(t *testing.T) {
	for _, r := range archRules {
		if r.bad == "" {
			continue
		}
		t.Run(r.bad, func(t *testing.T) {
			root := path.Join("testdata/arch/bad", r.bad)
			bad := load(t, root)
			problems := r.rule(bad)
			slices.Sort(problems)
			compare(t, path.Join(root, "want.txt"), strings.Join(problems, "\n")+"\n")
			for _, p := range bad.packages {
				for _, f := range p.files {
					named := slices.ContainsFunc(problems, func(s string) bool { return strings.HasPrefix(s, f.path+":") })
					if good := strings.HasPrefix(path.Base(f.path), "good_"); good == named {
						t.Errorf("%s: is it found: %v, expected: %v", f.path, named, !good)
					}
				}
			}
		})
	}
}

func TestTheTableOfARCHITECTUREIsReadOrRefused(t *testing.T) {
	const header = "| package | may import |\n|---|---|\n"
	for _, c := range []struct{ name, markdown, err string }{
		{"text around it", "# Title\n\n" + header + "| `a` | `b`, gonum.org/v1/plot |\n| b | |\n\n| x | y | z |\n", ""},
		{"other spacing", "|Package|May import|\n|:--|--:|\n|a|zksim/...|\n", ""},
		{"no table", "# Title\n| x | y |\n", "no table with the header"},
		{"no rows", header, "no table with the header"},
		{"two tables", header + "| a | |\n\n" + header, "ARCHITECTURE.md:5: a second table"},
		{"two rows for one package", header + "| a | |\n| `a` | |\n", "ARCHITECTURE.md:4: a second row for a"},
		{"a cell too many", header + "| a | b | c |\n", "ARCHITECTURE.md:3: a row of 3 cells"},
		{"an unknown name", header + "| a | modle |\n", `row a: "modle" is neither`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseTable(c.markdown)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, expected %q", err, c.err)
			}
		})
	}
}

func TestAMissingArchitectureDocumentIsAProblem(t *testing.T) {
	expect(t, importProblems(plant(t, map[string]string{"sim/a.go": "package sim\n"})),
		"ARCHITECTURE.md holds the rules of this test")
}

func TestAFileThatDoesNotParseIsAProblem(t *testing.T) {
	expect(t, plant(t, map[string]string{"sim/a.go": "package sim\nfunc\n"}).problems, "sim/a.go:2:")
	expect(t, plant(t, map[string]string{"sim/a.go": ""}).problems, "sim/a.go:1:")
}

func TestLongFunctionsAndFilesAreFound(t *testing.T) {
	// A file of 4 + n lines with a method of 2 + n.
	file := func(n int) string {
		return "package sim\n\n// Step is not counted.\n" + method(n)
	}
	source := plant(t, map[string]string{
		"sim/a.go":          file(68),
		"sim/b.go":          file(69),
		"sim/c.go":          "package sim\n\nvar f = func() {\n" + strings.Repeat("\n", 69) + "}\n",
		"sim/d.go":          "package sim\n" + strings.Repeat("\n", 499),
		"sim/e.go":          "package sim\n" + strings.Repeat("\n", 500),
		"sim/f_test.go":     "package sim\n" + strings.Repeat("\n", 799),
		"sim/g_test.go":     "package sim\n" + strings.Repeat("\n", 800),
		"sim/testdata/h.go": file(70),
	})
	expect(t, sizeProblems(source, nil),
		"sim/b.go:4: T.Step has 71 lines, expected at most 70",
		"sim/c.go:3: func literal has 71 lines, expected at most 70",
		"sim/e.go:1: file has 501 lines, expected at most 500",
		"sim/g_test.go:1: file has 801 lines, expected at most 800")
}

func TestSizeExceptionsOnlyShrink(t *testing.T) {
	source := plant(t, map[string]string{"sim/a.go": "package sim\n\n" + method(78)})
	for _, c := range []struct {
		exceptions map[string]int
		want       []string
	}{
		{map[string]int{"sim/a.go T.Step": 80}, nil},
		{map[string]int{"sim/a.go T.Step": 81}, []string{"is down to 80 lines"}},
		{map[string]int{"sim/a.go T.Step": 79}, []string{"has grown to 80 lines"}},
		{map[string]int{"sim/a.go T.Step": 80, "sim/a.go": 600}, []string{"sim/a.go:1: file has 82 lines, expected its exception to be removed"}},
		{map[string]int{"sim/a.go T.Step": 80, "sim/z.go": 600}, []string{`sizeExceptions names "sim/z.go"`}},
	} {
		expect(t, sizeProblems(source, c.exceptions), c.want...)
	}
}

func method(n int) string {
	return "func (t *T[K]) Step() {\n" + strings.Repeat("\n", n) + "}\n"
}

func TestMachinePathsAndUndoneWorkAreFound(t *testing.T) {
	const work, root, home = "/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"
	source := plant(t, map[string]string{
		"README.md":            "see https://example.org" + home + "x and $X" + work + "x\n",
		"a.sh":                 "#!/bin/sh\nmktemp -d t.XX" + "XX" + "XX\ncd " + work + "main\n",
		"go.mod":               "module zksim\nreplace a => " + home + "me/a\n",
		".ci/run":              "cd '" + root + "x'\n",
		".ci/other":            work + "\n",
		".cache/a.md":          work + "\n",
		"out/a.md":             work + "\n",
		"sim/a.txt":            work + "\n",
		"sim/a.go":             "package sim\n\n// TO" + "DO(x): all\n// FIX" + "ME\n",
		"sim/testdata/b.md":    "X" + "XX\n",
		"sim/c_test.go":        "package sim\n\nvar p = \"" + work + "x\"\n",
		"sim/testdata/fine.go": "package sim\n\nvar p = \"/worker/home\"\n",
	})
	expect(t, wordingProblems(source),
		`.ci/run:1: "`+root+`" is a path of one machine`,
		`a.sh:3: "`+work+`" is a path of one machine`,
		`go.mod:2: "`+home+`" is a path of one machine`,
		`sim/a.go:3: "TO`+`DO" is a mark of undone work`,
		`sim/a.go:4: "FIX`+`ME" is a mark of undone work`,
		`sim/c_test.go:3: "`+work+`" is a path of one machine`,
		`sim/testdata/b.md:1: "X`+`XX" is a mark of undone work`)
}

func TestUseOfTheSharedFolderIsFound(t *testing.T) {
	const shared = "sha" + "red"
	source := plant(t, map[string]string{
		"go.mod":    "module zksim\nreplace a => ../" + shared + "\n",
		"sim/a.go":  "package sim\n\nimport _ \"zksim/" + shared + "/golden\"\n",
		"sim/b.go":  "package sim\n\nvar p = \"../../" + shared + "\"\n",
		"sim/c.go":  "package sim\n\nvar " + shared + " = \"" + shared + "\" // un" + shared + "/x\n",
		"README.md": "../" + shared + "/design.md\n",
	})
	expect(t, sharedProblems(source), "go.mod:2: ", "sim/a.go:3: ", "sim/b.go:3: ")
}

func load(t *testing.T, root string) *tree {
	t.Helper()
	source, err := loadTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// plant makes a tree of the given files.
func plant(t *testing.T, files map[string]string) *tree {
	t.Helper()
	root := t.TempDir()
	for name, body := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return load(t, root)
}

// expect compares problems, in any order, with what each must contain.
func expect(t *testing.T, problems []string, want ...string) {
	t.Helper()
	slices.Sort(problems)
	if len(problems) != len(want) {
		t.Errorf("%d problems, expected %d:\n%s", len(problems), len(want), strings.Join(problems, "\n"))
		return
	}
	for i, problem := range problems {
		if !strings.Contains(problem, want[i]) {
			t.Errorf("problem %q, expected %q", problem, want[i])
		}
	}
}

// compare holds got against the golden file.
func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test . -rewrite and read the difference.\ngot:\n%s\nexpected:\n%s", golden, got, want)
	}
}
