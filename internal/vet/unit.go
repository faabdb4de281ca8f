package vet

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
)

// unit is a piece of code that is simulated as a whole or not at all: a function with the function literals in it, the
// initial value of a package variable, or a function literal that its own signature makes simulated, in a function that
// is not.
type unit struct {
	name      string
	object    types.Object // nil for a literal
	findings  []finding
	mentions  []types.Object // functions and variables of this package
	simulated bool
	by        *unit // the unit that mentions it; nil: its signature says so
}

// reach marks everything that simulated code mentions as simulated.
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

// exportFacts tells other packages of this module which functions that are not simulated here would cause findings if
// simulated code called them. The standard library has no module, and nobody imports a main package.
func (s *scan) exportFacts() {
	if s.module() == "" || s.pass.Pkg.Name() == "main" {
		return
	}
	for _, u := range s.units {
		f, ok := u.object.(*types.Func)
		if !ok || !f.Exported() {
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

// first returns the first finding of a unit or of anything that it mentions.
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

// elsewhere returns the finding for a mention of a function of another package of this module.
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
