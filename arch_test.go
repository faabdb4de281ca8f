// Package zksim_test keeps the architecture true. Each rule is a function of the source of the whole module, and an
// archive of bad files below testdata/arch proves that it fires. The package must not know what the code does.
package zksim_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"zksim/internal/vet"
)

var rewrite = flag.Bool("rewrite", false, "write what testdata/arch wants anew; read the difference before you "+
	"commit it")

// rules are all rules: the archive of each, what it says of the module, the rule, and for the archive smaller limits or
// more files, which a table makes, with the problems that they want.
var rules = []struct {
	archive, says string
	find, small   func(*tree) []string
	more          func() (files []txtar.File, want []string)
}{
	{"parse", "every Go file parses", func(t *tree) []string { return t.broken }, nil, nil},
	{"imports", "packages import what the table allows, and it allows no more", importProblems, nil, nil},
	{"thirdparty", "third-party libraries stay in their places", thirdPartyProblems, nil, nil},
	{"connection", "only recipes/live names the real connection", connectionProblems, nil, nil},
	{"reach", "what tests import needs little", reachProblems, nil, nil},
	{"determinism", "deterministic packages take nothing from the machine", determinismProblems, nil, bannedFiles},
	{"size", "functions and files stay small", sizes{70, 500, 800}.problems, sizes{4, 6, 9}.problems, nil},
	{"names", "package names say what the package is for", nameProblems, nil, nil},
	{"docs", "every package and exported name has a comment", docProblems, nil, nil},
	{"wording", "no file names a machine or leaves work undone", wordingProblems, nil, nil},
	{"commands", "documents name tests that are there", commandProblems, nil, nil},
	{"width", "", widthProblems, nil, nil}, // TestLinesAreNoLongerThan120Characters
}

func TestTheModuleKeepsEveryRule(t *testing.T) {
	source := loadTree(t, ".")
	for _, r := range rules {
		if r.says == "" {
			continue
		}
		t.Run(r.says, func(t *testing.T) {
			problems := r.find(source)
			slices.Sort(problems)
			for _, problem := range slices.Compact(problems) {
				t.Error(problem)
			}
		})
	}
}

// A rule about a folder or file that was renamed would hold forever.
func TestTheRulesSpeakOfWhatThereIs(t *testing.T) {
	places := slices.Concat([]string{zkHome, zkTest}, testsImport, notForTests, deterministicRoots, harnessRoots)
	for _, e := range excuses {
		places = append(places, e.file)
	}
	for _, place := range places {
		if _, err := os.Stat(place); err != nil {
			t.Errorf("a rule of this test is about it: %v", err)
		}
	}
}

// In archives a dot breaks words that other checks of files would find.
var broken = regexp.MustCompile(`(/\w|\bTO|\bFIX|\bX|\bsha)(ork/|oot/|ome/|DO\b|ME\b|XX\b|red\b)`)

// A bad file has one violation and a name that says which; a file named good_* has what the rule must let pass. The
// archive ends with the messages, "want".
func TestEveryRuleFindsWhatIsBadAndNothingElse(t *testing.T) {
	for _, r := range rules {
		t.Run(r.archive, func(t *testing.T) {
			name := "testdata/arch/" + r.archive + ".txtar"
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := len(a.Files) - 1
			files, messages := a.Files[:last:last], []string(nil)
			if r.more != nil {
				files, messages = r.more()
				files = append(files, a.Files[:last]...)
			}
			if r.small != nil {
				r.find = r.small
			}
			problems := r.find(plant(t, files))
			for _, f := range files {
				named := slices.ContainsFunc(problems, func(s string) bool { return strings.HasPrefix(s, f.Name+":") })
				if good := strings.HasPrefix(path.Base(f.Name), "good_"); good == named {
					t.Errorf("%s: is it found: %v, expected: %v", f.Name, named, !good)
				}
			}
			for _, message := range messages {
				if !slices.Contains(problems, message) {
					t.Errorf("not found: %s", message)
				}
			}
			problems = slices.DeleteFunc(problems, func(s string) bool { return slices.Contains(messages, s) })
			slices.Sort(problems)
			got := broken.ReplaceAllString(strings.Join(append(slices.Compact(problems), ""), "\n"), "$1·$2")
			if want := string(a.Files[last].Data); *rewrite {
				a.Files[last].Data = []byte(got)
				err = os.WriteFile(name, txtar.Format(a), 0o666)
			} else if got != want {
				err = fmt.Errorf("run go test . -rewrite and read the difference.\ngot:\n%s\nexpected:\n%s", got, want)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// plant makes a tree of files. It is a module with the requirements of this one.
func plant(t *testing.T, files []txtar.File) *tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir()) // as the go command names it
	must(t, ".", nil, "cp go.mod go.sum '"+root+"'")
	text := bytes.ReplaceAll(txtar.Format(&txtar.Archive{Files: files}), []byte("·"), nil)
	source, e := txtar.FS(txtar.Parse(text))
	if err := errors.Join(err, e, os.CopyFS(root, source)); err != nil {
		t.Fatal(err)
	}
	return loadTree(t, root)
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
		text := fmt.Sprintf("package model\n\nimport p %q\n", from)
		if names == nil {
			text = strings.Replace(text, " p ", " _ ", 1)
		}
		if under(from, bannedImports...) {
			want = append(want, file+":3: import of "+from+", expected none in a deterministic package")
		}
		for i, name := range names {
			text += "var _ = " + strings.Replace(name, from+".", "p.", 1) + "\n"
			want = append(want, fmt.Sprintf("%s:%d: use of %s, which %s", file, 4+i, name, vet.Names()[name]))
		}
		files = append(files, txtar.File{Name: file, Data: []byte(text)})
	}
	return files, want
}
