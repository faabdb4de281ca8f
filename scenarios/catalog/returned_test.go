package catalog

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/checkers"
)

// noted is an error that a member of package recipes has returned; that of a call that returned none, or another one
// than those that are known, is "".
type noted struct{ member, err string }

// ctxError is what stands for context.Canceled and context.DeadlineExceeded.
const ctxError = "ctx's error"

var errorName = regexp.MustCompile(`\b(?:zk\.)?Err[A-Z]\w*\b`)

// errorsIn returns the errors that sentences name.
func errorsIn(says []string) (all []string) {
	for _, s := range says {
		if strings.Contains(s, ctxError) || strings.Contains(s, "an error such as ctx's") {
			all = append(all, ctxError)
		}
		all = append(all, errorName.FindAllString(s, -1)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestTheErrorsThatAreDocumentedAreReturned runs the scenarios of correct recipes with every exported method of
// package recipes noting what it returns, and holds docs/errors.md against that. A scenario must call what its checkers
// are said to judge, and some scenario must return each error that the package exports. Each place of [placesOf] must
// be passed.
func TestTheErrorsThatAreDocumentedAreReturned(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and runs all scenarios")
	}
	files := recipeFiles(t)
	says, must := documented(files)
	documents, fails := map[noted]bool{}, failing(files)
	for member := range must { // order-free: a set
		for _, name := range errorsIn(says[member]) {
			documents[noted{member, name}] = fails[member]
		}
	}
	exported := exportedErrors(files)
	names := slices.Sorted(maps.Keys(exported))
	for x := range documents { // order-free: sorted below
		if strings.HasPrefix(x.err, "zk.") {
			names = append(names, x.err)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	places := map[string][]place{}
	for name, f := range files { // order-free: each by itself
		places[name] = placesOf(f, exported)
	}
	returned, passed := returns(t, files, places, names)
	for name, list := range places { // order-free: a set
		for _, x := range list {
			if !passed[x.id()] {
				t.Errorf("recipes/%s:%d: %s", name, x.at.Line, x.unless)
			}
		}
	}
	some := map[string]bool{}
	for x := range returned { // order-free: a set
		some[x.err] = true
	}
	for _, name := range names {
		if !some[name] {
			t.Errorf("no scenario returns %s", name)
		}
	}
	checks := map[string]bool{}
	for i := range All {
		for _, name := range checkers.NamesOf(All[i].Judges()) {
			checks[name] = true
		}
	}
	for _, p := range readPromises(t) {
		called := calledBy(p.member, returned)
		for _, judge := range p.judges {
			has := func(name string) bool { return slices.Contains(checkers.NamesOf(Named(name).Judges()), judge) }
			if checks[judge] && callable(p.member) && !slices.ContainsFunc(called, has) {
				t.Errorf("%s: %s: no scenario with the checker %s calls it", p.member, p.words, judge)
			}
		}
	}
	comparePage(t, "../../docs/errors.md", errorsPage(append(names, ctxError), documents, returned))
}

// failing returns the methods that return errors.
func failing(files map[string]recipeFile) map[string]bool {
	all := map[string]bool{}
	for _, f := range files { // order-free: a set
		for _, d := range f.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all[receiver(f)+f.Name.Name] = slices.ContainsFunc(flat(f.Type.Results), func(x ast.Expr) bool {
					name, ok := x.(*ast.Ident)
					return ok && name.Name == "error"
				})
			}
		}
	}
	return all
}

// callable reports whether a member is a method, or has methods.
func callable(member string) bool {
	of, name, _ := strings.Cut(member, ".")
	return of != "Constants" && of != "ConfigSet" && of != "Leader" && of != "Overdue" && of != "Assignment" &&
		!strings.HasSuffix(of, "Options") || name == ""
}

// calledBy returns the scenarios that call a method, or any of a type that is made by this constructor. What else there
// is, fields and constants, nobody calls.
func calledBy(member string, returned map[noted][]string) (scenarios []string) {
	of, name, _ := strings.Cut(member, ".")
	for x, by := range returned { // order-free: a set
		if x.member == member || (name == "" || strings.HasPrefix(name, "New")) && strings.HasPrefix(x.member, of+".") {
			scenarios = append(scenarios, by...)
		}
	}
	return scenarios
}

// returns builds a program of the scenarios in which exported methods note what they return, and runs it. It returns
// the scenarios, in the order of the catalogue, by answer, and the places that were passed.
func returns(
	t *testing.T, files map[string]recipeFile, places map[string][]place, errs []string,
) (all map[noted][]string, passed map[string]bool) {
	t.Helper()
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	put := func(place, name, text string) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		place, err := filepath.Abs(place)
		if err != nil {
			t.Fatal(err)
		}
		overlay.Replace[place] = path
	}
	for name, f := range files { // order-free: files of their own
		text, err := os.ReadFile("../../recipes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		put("../../recipes/"+name, name, noting(f, text, places[name]))
	}
	put("../../recipes/returned.go", "returned.go", notingFile)
	known := ""
	for _, name := range errs {
		if value, ok := strings.CutPrefix(name, "zk."); ok {
			known += fmt.Sprintf("{%q, zk.%s},\n", name, value)
		} else {
			known += fmt.Sprintf("{%q, recipes.%s},\n", name, name)
		}
	}
	put("../../cmd/returned/main.go", "main.go", strings.Replace(returnedMain, "KNOWN", known, 1))
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file, command := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "returned")
	if err := os.WriteFile(file, list, 0o666); err != nil {
		t.Fatal(err)
	}
	output(t, "go", "build", "-overlay", file, "-o", command, "zksim/cmd/returned")
	all, passed = map[noted][]string{}, map[string]bool{}
	for line := range strings.Lines(output(t, command)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(words) == 1 {
			passed[words[0]] = true
			continue
		}
		x := noted{words[1], words[2]}
		all[x] = append(all[x], words[0])
	}
	return all, passed
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		var stderr []byte
		if x, ok := err.(*exec.ExitError); ok {
			stderr = x.Stderr
		}
		t.Fatalf("%s: %v\n%s", name, err, stderr)
	}
	return string(out)
}

// notingFile is what the functions that note need.
const notingFile = `package recipes

var (
	Returned func(member string, err error)
	Passed   func(place string)
)

func pass[T any](place string, x T) T {
	if Passed != nil {
		Passed(place)
	}
	return x
}
`

// noting returns a file of package recipes in which each exported method does its work under another name, and then
// notes its error. What passes one of the places is noted, too.
func noting(file recipeFile, text []byte, places []place) string {
	source := func(n ast.Node) string {
		return string(text[file.offset(n.Pos()):file.offset(n.End())])
	}
	puts := map[int]string{}
	for _, x := range places {
		if x.end == x.at {
			puts[x.at.Offset] = fmt.Sprintf("pass(%q, 0); ", x.id())
		} else {
			puts[x.at.Offset], puts[x.end.Offset] = fmt.Sprintf("pass(%q, ", x.id()), ")"
		}
	}
	var more strings.Builder
	for _, d := range file.syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || !f.Name.IsExported() {
			continue
		}
		puts[file.offset(f.Name.Pos())] = "inner"
		var takes, passes, gives, results []string
		for i, p := range flat(f.Type.Params) {
			takes, passes = append(takes, fmt.Sprintf("p%d %s", i, source(p))), append(passes, fmt.Sprintf("p%d", i))
			if _, variadic := p.(*ast.Ellipsis); variadic {
				passes[i] += "..."
			}
		}
		failed := "nil"
		for i, r := range flat(f.Type.Results) {
			gives, results = append(gives, fmt.Sprintf("r%d %s", i, source(r))), append(results, fmt.Sprintf("r%d", i))
			if source(r) == "error" {
				failed = results[i]
			}
		}
		call := fmt.Sprintf("x.inner%s(%s)", f.Name.Name, strings.Join(passes, ", "))
		if len(results) > 0 {
			call = strings.Join(results, ", ") + " = " + call
		}
		fmt.Fprintf(&more, "\nfunc (x %s) %s(%s) (%s) {\n%s\nif Returned != nil { Returned(%q, %s) }\nreturn\n}\n",
			source(f.Recv.List[0].Type), f.Name.Name, strings.Join(takes, ", "), strings.Join(gives, ", "), call,
			receiver(f)+f.Name.Name, failed)
	}
	var out strings.Builder
	at := 0
	for _, next := range slices.Sorted(maps.Keys(puts)) {
		fmt.Fprintf(&out, "%s%s", text[at:next], puts[next])
		at = next
	}
	return out.String() + string(text[at:]) + more.String()
}

// flat returns the type of each parameter, or result.
func flat(list *ast.FieldList) (types []ast.Expr) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			types = append(types, f.Type)
		}
	}
	return types
}

// returnedMain runs the scenarios of correct recipes and prints which of the errors each method has returned in each.
const returnedMain = `package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

var known = []struct {
	name string
	err  error
}{
	{"ctx's error", context.Canceled}, {"ctx's error", context.DeadlineExceeded}, {"zk.ErrClosing", zk.ErrClosing},
	KNOWN}

func main() {
	r := engine.NewRunner()
	defer r.Close()
	r.Strategy = engine.Portfolio
	var mu sync.Mutex
	seen := map[string]bool{}
	recipes.Passed = func(place string) {
		mu.Lock()
		defer mu.Unlock()
		if !seen[place] {
			seen[place] = true
			fmt.Println(place)
		}
	}
	for i := range catalog.All {
		s := &catalog.All[i]
		if s.Broken() {
			continue
		}
		recipes.Returned = func(member string, err error) {
			mu.Lock()
			defer mu.Unlock()
			note := func(name string) {
				if line := s.Name + "\t" + member + "\t" + name; !seen[line] {
					seen[line] = true
					fmt.Println(line)
				}
			}
			note("")
			for _, x := range known {
				if errors.Is(err, x.err) {
					note(x.name)
				}
			}
		}
		for seed := range uint64(400) {
			r.Seed(s, seed+1)
		}
	}
}
`

// errorsPage writes docs/errors.md.
func errorsPage(names []string, documents map[noted]bool, returned map[noted][]string) string {
	var b strings.Builder
	b.WriteString(errorsHead)
	for _, name := range names {
		rows := map[string]bool{}
		for x := range documents { // order-free: sorted below
			if x.err == name && documents[x] {
				rows[x.member] = true
			}
		}
		for x := range returned { // order-free: sorted below
			if x.err == name && !strings.HasPrefix(name, "zk.") && name != ctxError {
				rows[x.member] = true
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n| of | in its doc comment | returned in |\n|---|---|---|\n", name)
		for _, of := range slices.Sorted(maps.Keys(rows)) {
			x := noted{of, name}
			says := "no"
			if documents[x] {
				says = "yes"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", of, says, scenariosText(returned[x]))
		}
	}
	return b.String()
}

// scenariosText names the first of some scenarios.
func scenariosText(list []string) string {
	switch n := len(list); n {
	case 0:
		return "no scenario"
	case 1:
		return "`" + list[0] + "`"
	default:
		return fmt.Sprintf("`%s` and %d more", list[0], n-1)
	}
}

const errorsHead = `# Errors

The errors that package recipes documents, the methods that return each, and the scenarios of ` + "`simrun check`" + ` in
which they do. A row is there for each method whose doc comment names the error, and for each that has returned an error
of the package. Errors of what is embedded, as of the places in a queue that all locks have, are listed for those
methods that users call. [Promises](promises.md) says what judges them.

This page is made of 400 seeds of each scenario of a correct recipe by
` + "`go test ./scenarios/catalog -run Documented -rewrite`" + `, which fails when no scenario returns an error.
`
