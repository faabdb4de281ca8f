package zksim_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is the source below one folder, parsed once for all rules. The folder is
// this checkout, or one of the small trees below testdata/arch that prove the
// rules. Every tree calls its module zksim.
type tree struct {
	root     string
	fset     *token.FileSet
	packages []*pkg // sorted by folder
	texts    []text // what the rules about wording read, sorted by path
	problems []string
}

const module = "zksim"

// pkg is the Go files of one folder.
type pkg struct {
	dir   string // relative to the root, with slashes
	files []*source
	typed *typed // nil until tree.check
}

type source struct {
	path string // relative to the root, with slashes
	code []byte
	ast  *ast.File
	test bool
}

type text struct {
	path string
	body string
}

// loadTree reads and parses what is below root. It leaves out what the go
// command leaves out, except that the texts include testdata. A file that does
// not parse is a problem and still takes part as far as it was understood.
func loadTree(root string) (*tree, error) {
	t := &tree{root: root, fset: token.NewFileSet()}
	byDir := map[string]*pkg{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			hidden := strings.HasPrefix(rel, ".") && rel != "." && rel != ".ci"
			if hidden || rel == "out" || d.Name() == "vendor" {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !isText(rel) {
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		t.texts = append(t.texts, text{rel, string(body)})
		if !isGo(rel) {
			return nil
		}
		dir := path.Dir(rel)
		if byDir[dir] == nil {
			byDir[dir] = &pkg{dir: dir}
			t.packages = append(t.packages, byDir[dir])
		}
		f, err := parser.ParseFile(t.fset, rel, body, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.problems = append(t.problems, fmt.Sprintf("%v (expected a file that parses)", err))
		}
		byDir[dir].files = append(byDir[dir].files, &source{rel, body, f, strings.HasSuffix(rel, "_test.go")})
		return nil
	})
	slices.SortFunc(t.packages, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	return t, err
}

func isText(rel string) bool {
	switch path.Ext(rel) {
	case ".go", ".md", ".pml", ".sh":
		return true
	}
	return rel == ".ci/run" || path.Base(rel) == "go.mod"
}

func isGo(rel string) bool {
	for _, element := range strings.Split(rel, "/") {
		if element == "testdata" || element[0] == '_' || element[0] == '.' {
			return false
		}
	}
	return path.Ext(rel) == ".go"
}

// at renders a problem. The position ignores line directives.
func (t *tree) at(pos token.Pos, format string, args ...any) string {
	p := t.fset.PositionFor(pos, false)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// product is the files that are not tests.
func (p *pkg) product() []*source {
	var files []*source
	for _, f := range p.files {
		if !f.test {
			files = append(files, f)
		}
	}
	return files
}

// under reports whether a folder or import path is one of the roots or below one.
func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return dir == root || strings.HasPrefix(dir, root+"/")
	})
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// isStandard reports whether the path belongs to the standard library. "C" does
// not: cgo is no library.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && first != "C" && first != module
}

// typed is a package after type checking. The info is filled as far as the
// checker came, whatever err says.
type typed struct {
	pkg  *types.Package
	info *types.Info
	err  error // the first one; nothing may be concluded from silence then
}

// check type-checks the files of p that are no tests and that belong to this
// platform. Packages of the tree are imported from source, all others from what
// the compiler exported.
func (t *tree) check(p *pkg) *typed {
	if p.typed != nil {
		return p.typed
	}
	out := &typed{
		pkg:  types.NewPackage(path.Join(module, p.dir), ""),
		info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}},
		err:  errors.New("import cycle"), // what an import of p sees until p is done
	}
	p.typed = out
	var files []*ast.File
	for _, f := range p.product() {
		if t.builds(f) {
			files = append(files, f.ast)
		}
	}
	outside.need(t.importsOutside(p, map[*pkg]bool{}))
	var first error
	conf := types.Config{
		Importer: importFunc(t.importPackage),
		Error: func(err error) {
			if first == nil {
				first = err
			}
		},
	}
	out.pkg, _ = conf.Check(out.pkg.Path(), t.fset, files, out.info)
	out.err = first
	return out
}

// builds reports whether the go command would compile f here.
func (t *tree) builds(f *source) bool {
	dir, base := path.Split(f.path)
	ok, err := build.Default.MatchFile(filepath.Join(t.root, dir), base)
	return ok && err == nil
}

func (t *tree) importPackage(name string) (*types.Package, error) {
	if !under(name, module) {
		return outside.Import(name)
	}
	p := t.find(strings.TrimPrefix(name, module+"/"))
	if p == nil {
		return nil, errors.New("no such package in this module")
	}
	c := t.check(p)
	if c.err != nil {
		return nil, c.err
	}
	return c.pkg, nil
}

func (t *tree) find(dir string) *pkg {
	for _, p := range t.packages {
		if p.dir == dir {
			return p
		}
	}
	return nil
}

// importsOutside lists what p and the packages of the tree below it import from
// elsewhere, so that one call of the go command serves them all.
func (t *tree) importsOutside(p *pkg, seen map[*pkg]bool) []string {
	if p == nil || seen[p] {
		return nil
	}
	seen[p] = true
	var names []string
	for _, f := range p.product() {
		for _, spec := range f.ast.Imports {
			if name := importPath(spec); under(name, module) {
				names = append(names, t.importsOutside(t.find(strings.TrimPrefix(name, module+"/")), seen)...)
			} else {
				names = append(names, name)
			}
		}
	}
	return names
}

type importFunc func(string) (*types.Package, error)

func (f importFunc) Import(name string) (*types.Package, error) { return f(name) }

// outside imports the standard library and other modules, for all trees, so that
// each of those packages is read once.
var outside = newExports()

type exports struct {
	types.Importer
	files map[string]string // import path -> file with export data; "" when there is none
	err   error             // of the last call of the go command
}

func newExports() *exports {
	e := &exports{files: map[string]string{}}
	e.Importer = importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if e.files[name] == "" {
			return nil, fmt.Errorf("go list -export found no package %s (%v)", name, e.err)
		}
		return os.Open(e.files[name])
	})
	return e
}

// need asks the go command for the export data of the packages not asked for
// before. What goes wrong shows when such a package is imported.
func (e *exports) need(names []string) {
	args := []string{"list", "-e", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	known := len(args)
	for _, name := range names {
		// "C" and paths that only look like one would be taken for patterns.
		if _, asked := e.files[name]; asked || name == "C" || name == "unsafe" || strings.HasPrefix(name, ".") {
			continue
		}
		e.files[name] = ""
		args = append(args, name)
	}
	if len(args) == known {
		return
	}
	listing, err := exec.Command("go", args...).Output()
	e.err = err
	for line := range strings.Lines(string(listing)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e.files[name] = file
	}
}
