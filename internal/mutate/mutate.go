// Package mutate makes small changes of the source of a package, to measure whether tests notice them. All changes are
// compiled into one program, which runs any of them: [Load] finds what can be changed, [Set.Overlay] rewrites the
// source so that each change is behind a switch, and package active is the switch. The package must not know what the
// code is or how it is tested.
package mutate

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Operator is a kind of change.
type Operator string

// The operators. A mutant is one of them at one place.
const (
	Negate     Operator = "negate"      // a condition, or a comparison for equality
	Skip       Operator = "skip"        // an if statement without an else: the condition is never true
	Bound      Operator = "bound"       // < becomes <=, and so on
	Swap       Operator = "swap"        // && becomes ||, || becomes &&
	Remove     Operator = "remove"      // a statement: a call, an assignment, ++, a loop over a range
	RemoveLate Operator = "remove-late" // a defer
	DropError  Operator = "drop-error"  // an error that is returned becomes nil
	PlusOne    Operator = "plus-one"    // a constant
	MinusOne   Operator = "minus-one"   // a constant
	Flip       Operator = "flip"        // true becomes false, false becomes true
	Return     Operator = "return"      // a function returns zero values at once
	Jump       Operator = "jump"        // continue becomes break, break becomes continue
)

// Mutant is one small change of a package.
type Mutant struct {
	ID       int // from 1, in the order of the source
	File     string
	Line     int
	Func     string // in which it is, as Lock.Unlock
	Operator Operator
	Old      string // what is changed, with single spaces
	Nth      int    // from 1, of those for which all this but ID and Line is the same
}

// String is what stays the same when other places of the source change.
func (m *Mutant) String() string {
	nth := ""
	if m.Nth > 1 {
		nth = fmt.Sprintf(" #%d", m.Nth)
	}
	return fmt.Sprintf("%s %s: %s %s%s", m.File, m.Func, m.Operator, m.Old, nth)
}

// Set is the mutants of a package.
type Set struct {
	Mutants []Mutant

	sources []source
}

// source is a file with all mutants in it.
type source struct {
	path string
	text []byte
}

// Load finds what can be changed in the files of a package that are no tests. Statements that call one of the functions
// of these names stay as they are: they are for tools, and make no difference to what the code does.
func Load(path string, hints ...string) (*Set, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax |
		packages.NeedTypesInfo
	list, err := packages.Load(&packages.Config{Mode: mode}, path)
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", path, err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("mutate %s: these are %d packages, expected one", path, len(list))
	}
	p := list[0]
	for _, e := range p.Errors {
		return nil, fmt.Errorf("mutate %s: %v", path, e)
	}
	s := &Set{}
	for _, file := range p.Syntax {
		r := &rewriter{set: s, fset: p.Fset, info: p.TypesInfo, file: file, hints: hints, imports: importNames(file),
			path: p.Fset.Position(file.Package).Filename, edits: map[int]*edit{}, nth: map[string]int{}}
		if r.source, err = os.ReadFile(r.path); err != nil {
			return nil, fmt.Errorf("mutate %s: %w", path, err)
		}
		before := len(s.Mutants)
		r.run()
		if len(s.Mutants) > before {
			s.sources = append(s.sources, source{r.path, r.text()})
		}
	}
	if len(s.Mutants) == 0 {
		return nil, fmt.Errorf("mutate %s: there is nothing to change", path)
	}
	return s, nil
}

// switchPath is what rewritten code imports.
const switchPath = "zksim/internal/mutate/active"

// Overlay writes the rewritten files and returns the file that go build -overlay takes.
func (s *Set) Overlay(dir string) (file string, err error) {
	replace := map[string]string{}
	for _, x := range s.sources {
		to := filepath.Join(dir, filepath.Base(x.path))
		replace[x.path] = to
		err = errors.Join(err, os.WriteFile(to, x.text, 0o666))
	}
	text, failed := json.Marshal(map[string]any{"Replace": replace})
	file = filepath.Join(dir, "overlay.json")
	if err = errors.Join(err, failed); err == nil {
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		return "", fmt.Errorf("mutate: %w", err)
	}
	return file, nil
}

// importNames returns the names by which a file knows packages, by path; "" for the name that the package gives itself.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range file.Imports {
		name := ""
		if i.Name != nil {
			name = i.Name.Name
		}
		names[strings.Trim(i.Path.Value, `"`)] = name
	}
	return names
}

// edit is what is put in at an offset of the source, and how many bytes from there on it replaces.
type edit struct {
	after  []string // ends of what ends here, the inner ones first
	before []string // beginnings of what begins here, the outer ones first
	cut    int
}

// rewriter puts the mutants of one file into it.
type rewriter struct {
	set     *Set
	fset    *token.FileSet
	info    *types.Info
	file    *ast.File
	path    string
	hints   []string
	imports map[string]string
	source  []byte
	edits   map[int]*edit
	nth     map[string]int
	within  string // the function
}

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

func (r *rewriter) at(p token.Pos) *edit {
	e := r.edits[r.offset(p)]
	if e == nil {
		e = &edit{}
		r.edits[r.offset(p)] = e
	}
	return e
}

// around puts code around a node.
func (r *rewriter) around(n ast.Node, before, after string) {
	b := r.at(n.Pos())
	b.before = append(b.before, before)
	a := r.at(n.End())
	a.after = slices.Insert(a.after, 0, after)
}

// insert puts code in front of what is at a place.
func (r *rewriter) insert(p token.Pos, code string) {
	e := r.at(p)
	e.before = append(e.before, code)
}

// raw is the source of a node.
func (r *rewriter) raw(n ast.Node) string {
	return string(r.source[r.offset(n.Pos()):r.offset(n.End())])
}

// mutant adds one and returns its number.
func (r *rewriter) mutant(o Operator, n ast.Node) int {
	m := Mutant{ID: len(r.set.Mutants) + 1, File: filepath.Base(r.path), Line: r.fset.Position(n.Pos()).Line,
		Func: r.within, Operator: o, Old: strings.Join(strings.Fields(r.raw(n)), " ")}
	if first, _, long := strings.Cut(m.Old, "{"); long && o != Flip { // of a block only how it begins
		m.Old = strings.TrimSpace(first)
	}
	key := m.String()
	r.nth[key]++
	m.Nth = r.nth[key]
	r.set.Mutants = append(r.set.Mutants, m)
	return m.ID
}

// text is the file with all that was put in.
func (r *rewriter) text() []byte {
	name := r.offset(r.file.Name.End())
	out := slices.Concat(r.source[:name], []byte(`; import active "`+switchPath+`"`))
	at := name
	for _, o := range slices.Sorted(maps.Keys(r.edits)) {
		e := r.edits[o]
		out = append(out, r.source[at:o]...)
		for _, code := range slices.Concat(e.after, e.before) {
			out = append(out, code...)
		}
		at = o + e.cut
	}
	return append(out, r.source[at:]...)
}
