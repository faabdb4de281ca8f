package zksim_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "zksim"

// tree is the source below one folder: of this checkout, or the files of an archive below testdata/arch.
type tree struct {
	root        string // absolute
	fset        *token.FileSet
	files       []*file // all texts that are held to rules
	code, tests []*file // those of packages
	imports     []imported
	broken      []string             // the files that do not parse
	asts        map[string]*ast.File // by absolute path
	typed       map[string]*packages.Package
}

// file has paths that are relative to the root, with slashes.
type file struct {
	path, dir, body string
	ast             *ast.File
}

// imported is an import by a file that is no test.
type imported struct {
	by   *file
	pos  token.Pos
	name string
}

var (
	leftOut   = regexp.MustCompile(`^(\.[^/]+|out|(.*/)?(vendor|node_modules))$`) // of folders; .ci is not
	isText    = regexp.MustCompile(`\.(go|md|pml|sh)$|^\.ci/run$|^scripts/|^(.*/)?go\.mod$`)
	noPackage = regexp.MustCompile(`^(.*/)?(testdata/|[_.])|^examples/`)
)

// loadTree reads and parses what is below root. A file that does not parse takes part with what was understood of it.
func loadTree(t *testing.T, root string) *tree {
	t.Helper()
	root, err := filepath.Abs(root)
	source := &tree{root: root, fset: token.NewFileSet(), asts: map[string]*ast.File{}}
	if err == nil {
		err = filepath.WalkDir(root, source.add)
	}
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func (t *tree) add(name string, d fs.DirEntry, err error) error {
	rel, _ := filepath.Rel(t.root, name)
	rel = filepath.ToSlash(rel)
	if err == nil && d.IsDir() && leftOut.MatchString(rel) && rel != ".ci" {
		return filepath.SkipDir
	}
	if err != nil || !d.Type().IsRegular() || !isText.MatchString(rel) {
		return err
	}
	body, err := os.ReadFile(name)
	f := &file{path: rel, dir: path.Dir(rel), body: string(body)}
	t.files = append(t.files, f)
	if err != nil || path.Ext(rel) != ".go" || noPackage.MatchString(rel) {
		return err
	}
	if f.ast, err = parser.ParseFile(t.fset, rel, body, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.broken = append(t.broken, fmt.Sprintf("%v (expected a file that parses)", err))
	}
	if t.asts[name] = f.ast; strings.HasSuffix(rel, "_test.go") {
		t.tests = append(t.tests, f)
		return nil
	}
	t.code = append(t.code, f)
	for _, spec := range f.ast.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		t.imports = append(t.imports, imported{f, spec.Pos(), path})
	}
	return nil
}

// at renders a problem. The position ignores line directives.
func (t *tree) at(pos token.Pos, format string, args ...any) string {
	p := t.fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// check type-checks the package of a file, without its tests. If there are problems, nothing may be concluded from
// silence.
func (t *tree) check(f *file) (info *types.Info, problems []string) {
	if t.typed == nil {
		t.typed = map[string]*packages.Package{}
		list, err := packages.Load(&packages.Config{Dir: t.root, Fset: t.fset,
			ParseFile: func(_ *token.FileSet, name string, _ []byte) (*ast.File, error) { return t.asts[name], nil },
			Mode: packages.NeedName | packages.NeedImports | packages.NeedFiles | packages.NeedCompiledGoFiles |
				packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax}, "./...")
		if err != nil {
			return &types.Info{}, []string{err.Error()}
		}
		for _, p := range list {
			t.typed[strings.TrimPrefix(p.PkgPath, module+"/")] = p
		}
	}
	p := t.typed[f.dir]
	if p == nil || !slices.Contains(p.Syntax, f.ast) {
		return &types.Info{}, []string{t.at(f.ast.Package,
			"file is left out by a build constraint, expected %s to be the same everywhere", f.dir)}
	}
	for _, err := range p.Errors {
		if err.Kind != packages.ListError || len(p.Errors) == 1 {
			return p.TypesInfo, []string{fmt.Sprintf("%s: %s (%s must type-check before it can be judged)",
				err.Pos, err.Msg, f.dir)}
		}
	}
	return p.TypesInfo, nil
}

// under reports whether a folder or import path is one of the roots or below one.
func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") })
}

// isStandard reports whether the path belongs to the standard library. "C" does not: cgo is no library.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && first != "C" && first != module
}
