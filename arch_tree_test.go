package zksim_test

import (
	"cmp"
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
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "zksim"

// tree is the source below one folder, parsed once for all rules. The folder is this checkout, or has the files of an
// archive below testdata/arch.
type tree struct {
	root     string // absolute
	fset     *token.FileSet
	files    []*file // in the order of their paths
	packages []*pkg
	broken   []string // the files that do not parse
	typed    map[string]*packages.Package
}

// file is a text that is held to the rules.
type file struct {
	path string // relative to the root, with slashes
	body string
	ast  *ast.File // nil unless the file belongs to a package
}

// pkg is the Go files of one folder.
type pkg struct {
	dir          string // relative to the root, with slashes
	files, tests []*file
}

// loadTree reads and parses what is below root. It leaves out what the go command leaves out, but reads testdata. A
// file that does not parse is a problem, and takes part with what was understood of it.
func loadTree(root string) (*tree, error) {
	t := &tree{root: root, fset: token.NewFileSet()}
	byDir := map[string]*pkg{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(rel, ".") && rel != "." && rel != ".ci" || rel == "out" || d.Name() == "vendor"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !isText(rel):
			return nil
		}
		body, err := os.ReadFile(name)
		f := &file{path: rel, body: string(body)}
		t.files = append(t.files, f)
		if err != nil || path.Ext(rel) != ".go" || noPackage(rel) {
			return err
		}
		if f.ast, err = parser.ParseFile(t.fset, rel, body, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			t.broken = append(t.broken, fmt.Sprintf("%v (expected a file that parses)", err))
		}
		p := byDir[path.Dir(rel)]
		if p == nil {
			p = &pkg{dir: path.Dir(rel)}
			byDir[p.dir], t.packages = p, append(t.packages, p)
		}
		if strings.HasSuffix(rel, "_test.go") {
			p.tests = append(p.tests, f)
		} else {
			p.files = append(p.files, f)
		}
		return nil
	})
	return t, err
}

func isText(rel string) bool {
	return slices.Contains([]string{".go", ".md", ".pml", ".sh"}, path.Ext(rel)) || rel == ".ci/run" ||
		path.Dir(rel) == "scripts" || path.Base(rel) == "go.mod"
}

// noPackage reports whether a Go file belongs to no package of this module.
func noPackage(rel string) bool {
	return nested.MatchString(rel) || slices.ContainsFunc(strings.Split(rel, "/"), func(element string) bool {
		return element == "testdata" || element[0] == '_' || element[0] == '.'
	})
}

// at renders a problem. The position ignores line directives.
func (t *tree) at(pos token.Pos, format string, args ...any) string {
	p := t.fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// imports yields the imports of all files that are no tests.
func (t *tree) imports() iter.Seq2[*pkg, *ast.ImportSpec] {
	return func(yield func(*pkg, *ast.ImportSpec) bool) {
		for _, p := range t.packages {
			for _, f := range p.files {
				for _, spec := range f.ast.Imports {
					if !yield(p, spec) {
						return
					}
				}
			}
		}
	}
}

// check type-checks a package, without its tests: the trees that its info speaks of are those of the files here. If
// there is trouble, nothing may be concluded from silence.
func (t *tree) check(p *pkg) (checked *packages.Package, trouble string) {
	if t.typed == nil {
		t.typed = map[string]*packages.Package{}
		conf := &packages.Config{Dir: t.root, Fset: t.fset, ParseFile: t.parsed,
			Mode: packages.NeedName | packages.NeedImports | packages.NeedFiles | packages.NeedCompiledGoFiles |
				packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax}
		list, err := packages.Load(conf, "./...")
		if err != nil {
			trouble = err.Error()
		}
		for _, checked := range list {
			t.typed[strings.TrimPrefix(checked.PkgPath, module+"/")] = checked
		}
	}
	checked = t.typed[p.dir]
	if checked == nil || checked.TypesInfo == nil {
		return &packages.Package{TypesInfo: &types.Info{}}, cmp.Or(trouble, p.dir+": the go command knows no such package")
	}
	for _, err := range checked.Errors {
		if err.Kind != packages.ListError || len(checked.Errors) == 1 {
			trouble = fmt.Sprintf("%s: %s (%s must type-check before it can be judged)", err.Pos, err.Msg, p.dir)
		}
	}
	return checked, trouble
}

func (t *tree) parsed(_ *token.FileSet, name string, _ []byte) (*ast.File, error) {
	rel, err := filepath.Rel(t.root, name)
	for _, f := range t.files {
		if f.path == filepath.ToSlash(rel) && f.ast != nil {
			return f.ast, nil
		}
	}
	return nil, fmt.Errorf("%s: the go command wants to read it, expected a file of the module (%v)", name, err)
}

// builds reports whether the go command would compile a file here.
func (t *tree) builds(f *file) bool {
	ok, err := build.Default.MatchFile(filepath.Join(t.root, path.Dir(f.path)), path.Base(f.path))
	return ok && err == nil
}

// under reports whether a folder or import path is one of the roots or below one.
func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return dir == root || strings.HasPrefix(dir, root+"/")
	})
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
