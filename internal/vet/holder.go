package vet

import (
	"go/types"
	"slices"
	"strings"
)

// marks are the types that make a function simulated if it gets one.
var marks = []string{"zksim/recipes.Conn", "zksim/recipes.Env", "zksim/scenarios/engine.Process",
	"zksim/scenarios/engine.Object"}

// holder tells which types are marks, or hold one.
type holder struct {
	pkg  *types.Package
	seen map[types.Type]bool // in the current query
}

// simulates reports whether the signature makes a function simulated.
func (h *holder) simulates(sig *types.Signature) bool {
	h.seen = map[types.Type]bool{}
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

// holds reports whether t is a mark or holds one. It follows pointers, embedded interfaces, the constraints of type
// parameters, and the fields of struct types of this package. It does not look into struct types of other packages:
// code that only has a *recipes.Lock may be any code, and simulated code that waits for something else has its own Env.
func (h *holder) holds(t types.Type) bool {
	t = types.Unalias(t)
	if h.seen[t] { // it holds none, or the answer was already found
		return false
	}
	h.seen[t] = true
	switch t := t.(type) {
	case *types.Pointer:
		return h.holds(t.Elem())
	case *types.TypeParam:
		return h.holds(t.Constraint())
	case *types.Named:
		if isMark(t.Obj()) || renames(t) {
			return true
		}
		_, isStruct := t.Underlying().(*types.Struct)
		return (!isStruct || t.Obj().Pkg() == h.pkg) && h.holds(t.Underlying())
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

// renames reports whether t is the interface of a mark under another name, as in "type Conn recipes.Conn".
func renames(t *types.Named) bool {
	if t.Obj().Pkg() == nil || !types.IsInterface(t) {
		return false
	}
	for _, p := range t.Obj().Pkg().Imports() {
		for _, mark := range marks {
			name, ok := strings.CutPrefix(mark, pathOf(p)+".")
			if !ok {
				continue
			}
			if o := p.Scope().Lookup(name); o != nil && types.Identical(o.Type().Underlying(), t.Underlying()) {
				return true
			}
		}
	}
	return false
}

func isMark(o *types.TypeName) bool {
	return o.Pkg() != nil && slices.Contains(marks, pathOf(o.Pkg())+"."+o.Name())
}

// pathOf returns the path of a package without what is behind it in "p [p.test]", which is p with its tests.
func pathOf(p *types.Package) string {
	path, _, _ := strings.Cut(p.Path(), " ")
	return path
}
