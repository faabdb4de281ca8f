package catalog

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// change is one small change of the source of a recipe.
type change struct {
	file       string // of package recipes
	line       int
	begin, end int // offsets of what is replaced
	old, by    string
}

// String names a change in a way that survives changes elsewhere in the file.
func (c change) String() string {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return fmt.Sprintf("%s: %s => %s", c.file, flat(c.old), flat(c.by))
}

// TestChangesOfRecipesAreCaught changes package recipes in one place at a time, by go build -overlay, and has "check"
// run all scenarios of correct recipes: one must fail. ZKSIM_MUTATE says how many changes, spread over all, or "all";
// without it the test is skipped, since each takes seconds, and what survives minutes. What survives must be in
// testdata/equivalent.txt, with a reason.
func TestChangesOfRecipesAreCaught(t *testing.T) {
	text := os.Getenv("ZKSIM_MUTATE")
	if text == "" {
		t.Skip("ZKSIM_MUTATE does not say how many changes")
	}
	all := changes(t)
	n, err := strconv.Atoi(text)
	if text == "all" {
		n = len(all)
	} else if err != nil || n < 1 {
		t.Fatalf("ZKSIM_MUTATE is a number above 0 or all, not %q", text)
	}
	same := equivalents(t)
	tried, killed, equal := 0, 0, 0
	for i := range min(n, len(all)) {
		c := all[i*len(all)/min(n, len(all))]
		if _, known := same[c.String()]; known {
			equal++
			continue
		}
		switch out, caught, compiles := tryChange(t, c); {
		case !compiles:
		case caught:
			tried++
			killed++
			t.Logf("killed   %v, line %d: %s", c, c.line, out)
		default:
			tried++
			t.Errorf("survives %v, line %d", c, c.line)
		}
	}
	t.Logf("%d of %d changes that compile are caught, of %d that can be made; %d are equivalent", killed, tried,
		len(all), equal)
}

// changes returns all changes, in the order of the source.
func changes(t *testing.T) (all []change) {
	t.Helper()
	files := recipeFiles(t)
	names := make([]string, 0, len(files))
	for name := range files { // order-free: sorted
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := files[name]
		source, err := os.ReadFile(filepath.Join("..", "..", "recipes", name))
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if n == nil {
				return false
			}
			add := func(x ast.Node, by func(old string) string) {
				c := change{file: name, line: f.line(x.Pos()), begin: f.set.Position(x.Pos()).Offset,
					end: f.set.Position(x.End()).Offset}
				c.old = string(source[c.begin:c.end])
				c.by = by(c.old)
				all = append(all, c)
			}
			operators(n, add)
			return true
		})
	}
	return all
}

// operators adds what can be changed at a node.
func operators(n ast.Node, add func(x ast.Node, by func(old string) string)) {
	nothing := func(string) string { return "{}" }
	switch x := n.(type) {
	case *ast.IfStmt: // the other way round
		add(x.Cond, func(old string) string { return "!(" + old + ")" })
	case *ast.BinaryExpr: // one side is forgotten, or a bound is off by one
		switch x.Op {
		case token.LAND:
			add(x, func(old string) string { return strings.Replace(old, "&&", "||", 1) })
		case token.LOR:
			add(x, func(old string) string { return strings.Replace(old, "||", "&&", 1) })
		case token.LSS:
			add(x, func(old string) string { return strings.Replace(old, "<", "<=", 1) })
		case token.GTR:
			add(x, func(old string) string { return strings.Replace(old, ">", ">=", 1) })
		}
	case *ast.ExprStmt:
		if call, ok := x.X.(*ast.CallExpr); ok && !hints(call) { // a call is left out
			add(x, nothing)
		}
	case *ast.AssignStmt:
		if x.Tok == token.ASSIGN { // nothing is noted
			add(x, nothing)
		}
	case *ast.ReturnStmt:
		if k := len(x.Results) - 1; k >= 0 { // an error is ignored
			if id, ok := x.Results[k].(*ast.Ident); ok && (id.Name == "err" || strings.HasPrefix(id.Name, "Err")) {
				add(id, func(string) string { return "nil" })
			}
		}
	case *ast.BranchStmt:
		if x.Tok == token.CONTINUE && x.Label == nil {
			add(x, func(string) string { return "break" })
		}
	}
}

// hints reports whether a call does nothing but make exhaustive search quicker.
func hints(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.Ident)
	return ok && (f.Name == "Keep" || f.Name == "Forget")
}

// TestRecipesCanBeChangedInEachWay looks for each kind of change.
func TestRecipesCanBeChangedInEachWay(t *testing.T) {
	all, lists := changes(t), map[string]bool{}
	for _, c := range all {
		lists[c.String()] = true
	}
	for _, want := range []string{
		"place.go: p.held != nil => !(p.held != nil)",
		"place.go: p.held.end() => {}",
		"names.go: s != \"\" && s != \".\" && s != \"..\" => s != \"\" || s != \".\" && s != \"..\"",
		"names.go: ErrNameTaken => nil",
		"group.go: continue => break",
		"hold.go: g.gone = again.event => {}",
	} {
		if !lists[want] {
			t.Errorf("there is no change %s", want)
		}
	}
	if len(all) < 1000 {
		t.Errorf("there are only %d changes", len(all))
	}
	for _, why := range equivalents(t) {
		if why == "" {
			t.Error("a change that is called equivalent has no reason")
		}
	}
}

// tryChange builds the command with a change and runs it.
func tryChange(t *testing.T, c change) (out string, caught, compiles bool) {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(filepath.Join("..", "..", "recipes", c.file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, c.file)
	text := string(source[:c.begin]) + c.by + string(source[c.end:])
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err == nil {
		err = errors.Join(os.WriteFile(changed, []byte(text), 0o666),
			os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(dir, "simrun")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", command, "zksim/cmd/simrun")
	if build.Run() != nil {
		return "", false, false
	}
	for i := range All {
		s := &All[i]
		if s.Broken() {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // code that never ends is caught, too
		run := exec.CommandContext(ctx, command, "check", s.Name)
		run.Dir = dir
		err := run.Run()
		hung := ctx.Err() != nil
		cancel()
		if x, failed := err.(*exec.ExitError); hung || failed && x.ExitCode() != 3 {
			return s.Name, true, true
		}
	}
	return "", false, true
}

// equivalents returns the changes that make no difference to what a recipe promises, with the reasons.
func equivalents(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "equivalent.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, last := map[string]string{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			all[last] = strings.TrimSpace(line)
		default:
			last = line
		}
	}
	return all
}
