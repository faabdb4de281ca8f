package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// unit is a piece of code that is simulated as a whole or not at all: a function with
// the function literals in it, the initial value of a package's variable, or a
// function literal that is simulated by its own signature in one that is not.
type unit struct {
	name      string
	object    types.Object // nil for a literal
	findings  []finding
	mentions  []types.Object // functions and variables of this package
	simulated bool
	by        *unit // that mentions it; nil: its signature says so
}

// reach marks what simulated code mentions as simulated.
func (s *scan) reach() {
	var queue []*unit
	for _, u := range s.units {
		if u.simulated {
			queue = append(queue, u)
		}
	}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, o := range u.mentions {
			if v := s.byObject[o]; v != nil && !v.simulated {
				v.simulated, v.by = true, u
				queue = append(queue, v)
			}
		}
	}
}

// exportFacts tells other packages of this module which functions not simulated here
// would be trouble if simulated code called them. The standard library has no module,
// and nobody imports a main package.
func (s *scan) exportFacts() {
	if s.module() == "" || s.pass.Pkg.Name() == "main" {
		return
	}
	for _, u := range s.units {
		f, ok := u.object.(*types.Func)
		if !ok || u.simulated || !f.Exported() {
			continue
		}
		if first := s.first(u, map[*unit]bool{}); first != nil {
			at := first.at
			if at == "" {
				p := s.pass.Fset.PositionFor(first.pos, false)
				at = fmt.Sprintf("%s:%d", path.Join(s.pass.Pkg.Name(), filepath.Base(p.Filename)), p.Line)
			}
			s.pass.ExportObjectFact(f, &outside{s.module(), first.what, first.why, at})
		}
	}
}

// first returns the first finding of a unit or of what it mentions.
func (s *scan) first(u *unit, seen map[*unit]bool) *finding {
	if seen[u] || u.simulated {
		return nil
	}
	seen[u] = true
	if len(u.findings) > 0 {
		return &u.findings[0]
	}
	for _, o := range u.mentions {
		if v := s.byObject[o]; v != nil {
			if f := s.first(v, seen); f != nil {
				return f
			}
		}
	}
	return nil
}

func (s *scan) module() string {
	if s.pass.Module == nil {
		return ""
	}
	return s.pass.Module.Path
}

// elsewhere returns what a mention of a function of another package of this module
// leads to.
func (s *scan) elsewhere(pos token.Pos, f *types.Func) (finding, bool) {
	var fact outside
	if f.Pkg() == s.pass.Pkg || !s.pass.ImportObjectFact(f, &fact) || fact.Module != s.module() {
		return finding{}, false
	}
	return finding{pos, fact.What, fact.Why, f.Pkg().Name() + "." + shortName(f), fact.At}, true
}

// shortName is Func or Type.Method.
func shortName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}

// marks are the types that make a function that gets one simulated.
var marks = []string{"zksim/recipes.Conn", "zksim/recipes.Env", "zksim/scenarios.Process", "zksim/scenarios.Object"}

// holder knows which types are marks, or hold one.
type holder struct {
	pkg   *types.Package
	known map[types.Type]bool
}

// simulates reports whether the signature makes a function simulated.
func (h *holder) simulates(sig *types.Signature) bool {
	if r := sig.Recv(); r != nil && h.holds(r.Type()) {
		return true
	}
	for i := range sig.Params().Len() {
		t := sig.Params().At(i).Type()
		if list, ok := t.(*types.Slice); ok && sig.Variadic() && i == sig.Params().Len()-1 {
			t = list.Elem()
		}
		if h.holds(t) {
			return true
		}
	}
	return false
}

// holds follows pointers, embedded interfaces, the constraints of type parameters, and
// the fields of struct types of this package. It does not look into those of other
// packages: who has only a *recipes.Lock may be any code, but to wait for something
// else simulated code needs an Env of its own.
func (h *holder) holds(t types.Type) bool {
	t = types.Unalias(t)
	if known, ok := h.known[t]; ok {
		return known
	}
	h.known[t] = false // while it is looked at
	answer := h.look(t)
	h.known[t] = answer
	return answer
}

func (h *holder) look(t types.Type) bool {
	switch t := t.(type) {
	case *types.Pointer:
		return h.holds(t.Elem())
	case *types.TypeParam:
		return h.holds(t.Constraint())
	case *types.Named:
		if isMark(t.Obj()) {
			return true
		}
		if _, ok := t.Underlying().(*types.Struct); ok && t.Obj().Pkg() != h.pkg {
			return false
		}
		return h.holds(t.Underlying())
	case *types.Interface:
		for embedded := range t.EmbeddedTypes() {
			if h.holds(embedded) {
				return true
			}
		}
	case *types.Struct:
		for field := range t.Fields() {
			if h.holds(field.Type()) {
				return true
			}
		}
	}
	return false
}

func isMark(o types.Object) bool {
	if o.Pkg() == nil {
		return false
	}
	path, _, _ := strings.Cut(o.Pkg().Path(), " ") // "p [p.test]" is p with its tests
	for _, m := range marks {
		if path+"."+o.Name() == m {
			return true
		}
	}
	return false
}

// newScan is ready for the files of a package.
func newScan(pass *analysis.Pass) *scan {
	s := &scan{
		pass:     pass,
		info:     pass.TypesInfo,
		holder:   holder{pass.Pkg, map[types.Type]bool{}},
		byObject: map[types.Object]*unit{},
		comms:    map[ast.Node]bool{},
		rooms:    map[types.Object]*room{},
	}
	for _, f := range pass.Files {
		s.findRooms(f)
	}
	return s
}
