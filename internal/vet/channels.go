package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// room is what is known about the channel in a local variable.
type room struct {
	capacity int64 // of the channel when it is made
	sends    int   // how many places send
	at       token.Pos
	changed  bool // the variable gets another value later
}

// findRooms collects the local variables whose first value is a channel with room.
func (s *scan) findRooms(f *ast.File) {
	of := func(e ast.Expr) *room {
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			return nil
		}
		return s.rooms[s.info.ObjectOf(id)]
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if r := of(lhs); r != nil {
					r.changed = true
				} else if id, ok := lhs.(*ast.Ident); ok && n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) {
					s.addRoom(id, n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Names) == len(n.Values) {
					s.addRoom(id, n.Values[i])
				}
			}
		case *ast.SendStmt:
			if r := of(n.Chan); r != nil {
				r.sends++
			}
		}
		return true
	})
}

func (s *scan) addRoom(id *ast.Ident, value ast.Expr) {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || !isBuiltin(s.info, call.Fun, "make") {
		return
	}
	o := s.info.Defs[id]
	size := s.info.Types[call.Args[1]].Value
	if o == nil || o.Parent() == s.pass.Pkg.Scope() || size == nil {
		return
	}
	if n, exact := constant.Int64Val(constant.ToInt(size)); exact {
		s.rooms[o] = &room{capacity: n, at: id.Pos()}
	}
}

// hasRoom reports whether a send never blocks: the channel is in a local variable, was made with room for one value
// from each place that sends, and no loop repeats this send.
func (s *scan) hasRoom(n *ast.SendStmt) bool {
	id, ok := ast.Unparen(n.Chan).(*ast.Ident)
	if !ok {
		return false
	}
	r := s.rooms[s.info.ObjectOf(id)]
	if r == nil || r.changed || int64(r.sends) > r.capacity {
		return false
	}
	for i := len(s.stack) - 1; i > 0; i-- {
		node := s.stack[i].node
		if node.Pos() <= r.at && r.at < node.End() {
			return true
		}
		switch node.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		}
	}
	return false
}

// isBuiltin reports whether fun is the language's function of that name.
func isBuiltin(info *types.Info, fun ast.Expr, name string) bool {
	id, ok := ast.Unparen(fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}
