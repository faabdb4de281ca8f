// Package zksim_test keeps the architecture true. Each rule is a function of the source of the whole module, and an
// archive of bad files below testdata/arch proves that it fires. The package must not know what the code does.
package zksim_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"zksim/internal/vet"
)

var rewrite = flag.Bool("rewrite", false, "write what testdata/arch wants anew; read the difference before you commit it")

// rules are all rules: the archive of each, what it says of the module, and more files that a table or a limit makes,
// with the problems that they want.
var rules = []struct {
	archive, says string
	find          func(*tree) []string
	more          func() (files []txtar.File, want []string)
}{
	{"parse", "every Go file parses", func(t *tree) []string { return t.broken }, nil},
	{"table", "", tableProblems, nil}, // which is read for the next
	{"imports", "packages import what the table allows, and it allows no more", importProblems, nil},
	{"thirdparty", "third-party libraries stay in their places", thirdPartyProblems, nil},
	{"connection", "only recipes/live names the real connection", connectionProblems, nil},
	{"reach", "what tests import needs little", reachProblems, nil},
	{"determinism", "deterministic packages take nothing from the machine", determinismProblems, bannedFiles},
	{"size", "functions and files stay small", sizeProblems, longFiles},
	{"names", "package names say what the package is for", nameProblems, nil},
	{"docs", "every package and exported name has a comment", docProblems, nil},
	{"wording", "no file names a machine or leaves work undone", wordingProblems, nil},
	{"width", "", widthProblems, nil}, // TestLinesAreNoLongerThan120Characters
}

// checkout parses the module once for all tests.
func checkout(t *testing.T) *tree {
	t.Helper()
	source, err := parsedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

var parsedOnce = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	return loadTree(root)
})

func TestTheModuleKeepsEveryRule(t *testing.T) {
	for _, r := range rules {
		if r.says != "" {
			t.Run(r.says, func(t *testing.T) {
				for _, problem := range r.find(checkout(t)) {
					t.Error(problem)
				}
			})
		}
	}
}

// A rule about a folder or file that was renamed would hold forever.
func TestTheRulesSpeakOfWhatThereIs(t *testing.T) {
	if mod, err := os.ReadFile("go.mod"); err != nil || !strings.HasPrefix(string(mod), "module "+module+"\n") {
		t.Errorf("go.mod:1: expected module %s (%v)", module, err)
	}
	places := slices.Concat([]string{zkHome, plotHome, testsPackage}, deterministicRoots, harnessRoots, notForTests)
	for _, e := range excuses {
		places = append(places, e.file)
	}
	for _, place := range places {
		if _, err := os.Stat(place); err != nil {
			t.Errorf("a rule of this test is about it: %v", err)
		}
	}
}

func TestEveryRuleIsContentWithAGoodTree(t *testing.T) {
	good := plant(t, archive(t, "good").Files)
	for _, r := range rules {
		for _, problem := range r.find(good) {
			t.Errorf("%s: %s", r.archive, problem)
		}
	}
}

// A bad file has one violation and a name that says which; a file named good_* has what the rule must let pass. The
// file "want" of the archive holds the messages.
func TestEveryRuleFindsWhatIsBadAndNothingElse(t *testing.T) {
	for _, r := range rules {
		t.Run(r.archive, func(t *testing.T) {
			a := archive(t, r.archive)
			files, want := a.Files, []string{}
			if r.more != nil {
				files, want = r.more()
				files = append(files, a.Files...)
			}
			problems := r.find(plant(t, files))
			for _, f := range files {
				named := slices.ContainsFunc(problems, func(s string) bool { return strings.HasPrefix(s, f.Name+":") })
				if good := strings.HasPrefix(path.Base(f.Name), "good_"); good == named && f.Name != "want" {
					t.Errorf("%s: is it found: %v, expected: %v", f.Name, named, !good)
				}
			}
			for _, problem := range want {
				i := slices.Index(problems, problem)
				if i < 0 {
					t.Errorf("not found: %s", problem)
					continue
				}
				problems = slices.Delete(problems, i, i+1)
			}
			slices.Sort(problems)
			compare(t, r.archive, a, strings.Join(append(problems, ""), "\n"))
		})
	}
}

// compare holds problems against those that an archive wants.
func compare(t *testing.T, name string, a *txtar.Archive, got string) {
	t.Helper()
	want := &a.Files[len(a.Files)-1]
	if want.Name != "want" {
		t.Fatalf("%s: the last file is %s, expected want", name, want.Name)
	}
	if *rewrite {
		want.Data = []byte(broken.ReplaceAllString(got, "$1·$2"))
		if err := os.WriteFile("testdata/arch/"+name+".txtar", txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want := whole(want.Data); got != want {
		t.Errorf("%s differs; run go test . -rewrite and read the difference.\ngot:\n%s\nexpected:\n%s", name, got, want)
	}
}

// In archives a dot breaks words that other checks of files would find.
var broken = regexp.MustCompile(`(/\w|\bTO|\bFIX|\bX|\bsha)(ork/|oot/|ome/|DO\b|ME\b|XX\b|red\b)`)

func whole(text []byte) string { return strings.ReplaceAll(string(text), "·", "") }

func archive(t *testing.T, name string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile("testdata/arch/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// plant makes a tree of files. It is a module with the requirements of this one.
func plant(t *testing.T, files []txtar.File) *tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	for _, name := range []string{"go.mod", "go.sum"} {
		text, e := os.ReadFile(name)
		err = errors.Join(err, e, os.WriteFile(filepath.Join(root, name), text, 0o666))
	}
	for _, f := range files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(whole(f.Data)), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := loadTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// bannedFiles import and use everything that deterministic packages must not.
func bannedFiles() (files []txtar.File, want []string) {
	uses := map[string][]string{}
	for _, name := range bannedImports {
		uses[name] = nil
	}
	for name := range vet.Names() {
		from := regexp.MustCompile(`^\(?\*?((?:.*/)?[^.]*)\.`).FindStringSubmatch(name)[1]
		if isStandard(from) && name != "(reflect.Value).MapKeys" { // which a comment may excuse
			uses[from] = append(uses[from], name)
		}
	}
	for from, names := range uses {
		file := "model/banned_" + strings.ReplaceAll(from, "/", "_") + ".go"
		if under(from, bannedImports...) {
			want = append(want, file+":3: import of "+from+", expected none in a deterministic package")
		}
		text := fmt.Sprintf("package model\n\nimport %s %q\n", map[bool]string{true: "_", false: "p"}[names == nil], from)
		for i, name := range names {
			text += "var _ = " + strings.Replace(name, from+".", "p.", 1) + "\n"
			want = append(want, fmt.Sprintf("%s:%d: use of %s, which %s", file, 4+i, name, vet.Names()[name]))
		}
		files = append(files, txtar.File{Name: file, Data: []byte(text)})
	}
	return files, want
}

// longFiles have functions and files at the limits, and one line longer.
func longFiles() (files []txtar.File, want []string) {
	add := func(name, head string, lines int, tail, problem string) {
		files = append(files, txtar.File{Name: name, Data: []byte(head + strings.Repeat("\n", lines) + tail)})
		if problem != "" {
			want = append(want, name+":"+problem)
		}
	}
	const method = "package sim\n\n// Step is not counted.\nfunc (t *T[K]) Step() {\n"
	add("sim/good_method.go", method, maxFunc-2, "}\n", "")
	add("sim/method.go", method, maxFunc-1, "}\n", "4: T.Step has 71 lines, expected at most 70")
	const literal = "package sim\n\nvar f = func() {\n"
	add("sim/literal.go", literal, maxFunc-1, "}\n", "3: func literal has 71 lines, expected at most 70")
	add("sim/good_file.go", "package sim\n", maxFile-1, "", "")
	add("sim/file.go", "package sim\n", maxFile, "", "1: file has 501 lines, expected at most 500")
	add("sim/good_file_test.go", "package sim\n", maxTestFile-1, "", "")
	add("sim/file_test.go", "package sim\n", maxTestFile, "", "1: file has 801 lines, expected at most 800")
	add("sim/testdata/good_method.go", method, maxFunc, "}\n", "")
	return files, want
}
