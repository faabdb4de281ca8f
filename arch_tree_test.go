package zksim_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"iter"
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

// tree is the source below one folder, parsed once for all rules. The folder is this checkout, or has the files of an
// archive below testdata/arch.
type tree struct {
	root   string // absolute
	fset   *token.FileSet
	files  []*file
	broken []string // the files that do not parse
	typed  map[string]*packages.Package
}

// file is a text that is held to rules. Paths are relative to the root, with slashes.
type file struct {
	path, dir, body string
	ast             *ast.File // nil unless the file belongs to a package
	test            bool
}

var (
	// leftOut are the folders that are not a part of the module.
	leftOut   = regexp.MustCompile(`^(\.[^/]+|out|(.*/)?vendor)$`)
	isText    = regexp.MustCompile(`\.(go|md|pml|sh)$|^\.ci/run$|^scripts/|^(.*/)?go\.mod$`)
	noPackage = regexp.MustCompile(`^(.*/)?(testdata/|[_.])|^examples/`)
)

// loadTree reads and parses what is below root. A file that does not parse takes part with what was understood of it.
func loadTree(t *testing.T, root string) *tree {
	t.Helper()
	root, err := filepath.Abs(root)
	source := &tree{root: root, fset: token.NewFileSet()}
	if err == nil {
		err = filepath.WalkDir(root, source.add)
	}
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func (t *tree) add(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, _ := filepath.Rel(t.root, name)
	rel = filepath.ToSlash(rel)
	if d.IsDir() && leftOut.MatchString(rel) && rel != ".ci" {
		return filepath.SkipDir
	}
	if !d.Type().IsRegular() || !isText.MatchString(rel) {
		return nil
	}
	body, err := os.ReadFile(name)
	f := &file{path: rel, dir: path.Dir(rel), body: string(body), test: strings.HasSuffix(rel, "_test.go")}
	t.files = append(t.files, f)
	if err != nil || path.Ext(rel) != ".go" || noPackage.MatchString(rel) {
		return err
	}
	if f.ast, err = parser.ParseFile(t.fset, rel, body, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.broken = append(t.broken, fmt.Sprintf("%v (expected a file that parses)", err))
	}
	return nil
}

// at renders a problem. The position ignores line directives.
func (t *tree) at(pos token.Pos, format string, args ...any) string {
	p := t.fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// code are the files of packages, without tests.
func (t *tree) code() []*file {
	return slices.DeleteFunc(slices.Clone(t.files), func(f *file) bool { return f.ast == nil || f.test })
}

// imports yields the imports of the code.
func (t *tree) imports() iter.Seq2[*file, *ast.ImportSpec] {
	return func(yield func(*file, *ast.ImportSpec) bool) {
		for _, f := range t.code() {
			for _, spec := range f.ast.Imports {
				if !yield(f, spec) {
					return
				}
			}
		}
	}
}

// check type-checks the package of a file, without its tests. If there is trouble, nothing may be concluded from
// silence.
func (t *tree) check(f *file) (info *types.Info, trouble string) {
	if t.typed == nil {
		t.typed = map[string]*packages.Package{}
		list, err := packages.Load(&packages.Config{Dir: t.root, Fset: t.fset, ParseFile: t.parsed,
			Mode: packages.NeedName | packages.NeedImports | packages.NeedFiles | packages.NeedCompiledGoFiles |
				packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax}, "./...")
		if err != nil {
			return &types.Info{}, err.Error()
		}
		for _, checked := range list {
			t.typed[strings.TrimPrefix(checked.PkgPath, module+"/")] = checked
		}
	}
	checked := t.typed[f.dir]
	if checked == nil {
		return &types.Info{}, f.dir + ": the go command knows no such package"
	}
	for _, err := range checked.Errors {
		if err.Kind != packages.ListError || len(checked.Errors) == 1 {
			trouble = fmt.Sprintf("%s: %s (%s must type-check before it can be judged)", err.Pos, err.Msg, f.dir)
		}
	}
	return checked.TypesInfo, trouble
}

func (t *tree) parsed(_ *token.FileSet, name string, _ []byte) (*ast.File, error) {
	for _, f := range t.files {
		if filepath.Join(t.root, f.path) == name {
			return f.ast, nil
		}
	}
	return nil, fmt.Errorf("%s: the go command wants to read it, expected a file below %s", name, t.root)
}

// builds reports whether the go command would compile a file here.
func (t *tree) builds(f *file) bool {
	ok, err := build.Default.MatchFile(filepath.Join(t.root, path.Dir(f.path)), path.Base(f.path))
	return ok && err == nil
}

// under reports whether a folder or import path is one of the roots or below one.
func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") })
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}

// isStandard reports whether the path belongs to the standard library. "C" does not: cgo is no library.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && first != "C" && first != module
}
