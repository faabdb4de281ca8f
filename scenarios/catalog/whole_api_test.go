package catalog

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is a piece of code that runs as a whole.
type block struct {
	file       string
	begin, end int // lines and columns, as in position
	hits       int
}

// position makes one number of a line and a column.
func position(line, column int) int { return line<<12 | column }

// TestScenariosUseTheWholeAPI runs the scenarios of correct recipes with the coverage of package recipes being counted.
// Each exported function and method is called, and each statement in which an exported error is returned, or
// becomes what is returned, is reached. What is exported, and where the errors are, it reads from the source.
func TestScenariosUseTheWholeAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and runs all scenarios")
	}
	dir := t.TempDir()
	command := filepath.Join(dir, "simrun")
	run(t, nil, "go", "build", "-cover", "-coverpkg=zksim/recipes,zksim/cmd/simrun", "-o", command, "zksim/cmd/simrun")
	args := []string{"check", "-seeds", "1-400"}
	for i := range All {
		if s := &All[i]; !s.Broken() {
			args = append(args, s.Name)
		}
	}
	counts := filepath.Join(dir, "counts")
	if err := os.Mkdir(counts, 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, []string{"GOCOVERDIR=" + counts}, command, args...)
	profile := filepath.Join(dir, "profile")
	run(t, nil, "go", "tool", "covdata", "textfmt", "-i="+counts, "-o="+profile)
	blocks := readProfile(t, profile)
	files := recipeFiles(t)
	errs := exportedErrors(files)
	for name, file := range files {
		for _, d := range file.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			if f.Name.IsExported() && len(f.Body.List) > 0 && !reached(blocks, name, file.at(f.Body.List[0].Pos())) {
				t.Errorf("recipes/%s:%d: no scenario calls %s%s", name, file.line(f.Pos()), receiver(f), f.Name.Name)
			}
			for _, x := range makesErrors(f.Body, errs) {
				if !reached(blocks, name, file.at(x.Pos())) {
					t.Errorf("recipes/%s:%d: no scenario comes by where %s%s makes %s", name, file.line(x.Pos()), receiver(f),
						f.Name.Name, x.Name)
				}
			}
		}
	}
}

func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	c.Dir = t.TempDir()
	if strings.HasPrefix(name, "go") {
		c.Dir = ""
	}
	if out, err := c.CombinedOutput(); err != nil {
		if x, ok := err.(*exec.ExitError); !ok || x.ExitCode() != 3 { // 3: so few seeds may leave something unjudged
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
}

func readProfile(t *testing.T, path string) (list []block) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var b block
		var l1, c1, l2, c2, n int
		at, rest, ok := strings.Cut(lines.Text(), ":")
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &l1, &c1, &l2, &c2, &n, &b.hits); !ok || err != nil {
			continue // the mode
		}
		b.file, b.begin, b.end = filepath.Base(at), position(l1, c1), position(l2, c2)
		if strings.HasPrefix(at, "zksim/recipes/") {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		t.Fatal("nothing of package recipes was run")
	}
	return list
}

// reached reports whether the innermost block around a position has run.
func reached(blocks []block, file string, at int) bool {
	best, hits := -1, 0
	for _, b := range blocks {
		if b.file == file && b.begin <= at && at < b.end && b.begin > best {
			best, hits = b.begin, b.hits
		}
	}
	return best < 0 || hits > 0
}

// recipeFile is a file of package recipes.
type recipeFile struct {
	set    *token.FileSet
	syntax *ast.File
}

func (f recipeFile) line(p token.Pos) int { return f.set.Position(p).Line }

func (f recipeFile) at(p token.Pos) int {
	x := f.set.Position(p)
	return position(x.Line, x.Column)
}

func recipeFiles(t *testing.T) map[string]recipeFile {
	t.Helper()
	paths, err := filepath.Glob("../../recipes/*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]recipeFile{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = recipeFile{set, syntax}
	}
	return all
}

// exportedErrors returns the names of the errors that the package declares.
func exportedErrors(files map[string]recipeFile) map[string]bool {
	all := map[string]bool{}
	for _, f := range files {
		for _, d := range f.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") {
						all[name.Name] = true
					}
				}
			}
		}
	}
	return all
}

// makesErrors returns where an exported error, or zk.ErrInvalidPath or ErrBadArguments, is returned or assigned.
func makesErrors(body ast.Node, errs map[string]bool) (all []*ast.Ident) {
	look := func(list []ast.Expr) {
		for _, e := range list {
			ast.Inspect(e, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.BinaryExpr, *ast.FuncLit:
					return false // a comparison; code of its own
				case *ast.Ident:
					if errs[x.Name] || x.Name == "ErrInvalidPath" || x.Name == "ErrBadArguments" {
						all = append(all, x)
					}
				}
				return true
			})
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ReturnStmt:
			look(x.Results)
		case *ast.AssignStmt:
			look(x.Rhs)
		}
		return true
	})
	return all
}

// receiver returns the type of a method and a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	return typeName(f.Recv.List[0].Type)
}

// typeName returns the name of a type and a dot, without pointers and type parameters.
func typeName(x ast.Expr) string {
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
			continue
		case *ast.IndexExpr:
			x = y.X
			continue
		case *ast.Ident:
			return y.Name + "."
		}
		return ""
	}
}
