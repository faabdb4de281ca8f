package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// purePackages have functions that only look at their arguments.
var purePackages = []string{"bytes", "cmp", "path", "slices", "strconv", "strings", "unicode", "unicode/utf8"}

// sums are the assignments whose order does not matter for integers.
var sums = []token.Token{
	token.ADD_ASSIGN, token.SUB_ASSIGN, token.MUL_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN,
}

// call judges a call whose results are not used: delete, or a call that sorts something of this pass of the loop.
func (l *loop) call(e ast.Expr) bool {
	n, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(n.Args) == 0 {
		return false
	}
	l.effects++
	if isBuiltin(l.info, n.Fun, "delete") {
		return l.place(n.Args[0]) && l.pure(n.Args[1]) && l.goesOn(&ast.IndexExpr{X: n.Args[0], Index: n.Args[1]})
	}
	o := l.base(n.Args[0])
	return len(n.Args) == 1 && o != nil && l.own(o) && slices.Contains(sorters, l.callee(n))
}

// goesOn reports whether a change leaves the keys that are still to come in the loop's map.
func (l *loop) goesOn(to ast.Expr) bool {
	x, ok := ast.Unparen(to).(*ast.IndexExpr)
	return !ok || l.atKey(to) || types.ExprString(x.X) != l.mapped
}

// assign judges an assignment.
func (l *loop) assign(n *ast.AssignStmt) bool {
	switch {
	case slices.Contains(sums, n.Tok):
		return l.add(n.Lhs[0]) && l.pure(n.Rhs[0])
	case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
		return false
	}
	for i, lhs := range n.Lhs {
		id, isName := lhs.(*ast.Ident)
		switch {
		case isName && (id.Name == "_" || l.own(l.info.ObjectOf(id))):
			if !l.pure(n.Rhs[min(i, len(n.Rhs)-1)]) {
				return false
			}
		case len(n.Lhs) != len(n.Rhs) || !l.set(lhs, n.Rhs[i]):
			return false
		}
	}
	return true
}

// add judges a change of a sum.
func (l *loop) add(to ast.Expr) bool {
	l.effects++
	t := l.info.TypeOf(to)
	if t == nil || !l.place(to) || !l.goesOn(to) {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return l.own(l.base(to)) || ok && basic.Info()&types.IsInteger != 0
}

// place reports whether to is a place that does not depend on what the loop changes.
func (l *loop) place(to ast.Expr) bool {
	switch x := ast.Unparen(to).(type) {
	case *ast.Ident:
		return l.info.ObjectOf(x) != nil
	case *ast.SelectorExpr:
		return l.place(x.X)
	case *ast.IndexExpr:
		return l.place(x.X) && l.pure(x.Index)
	}
	return false
}

// set judges "to = value". The order does not matter if to is an element of a map at the key of this pass, always gets
// the same constant, is a list that is sorted after the loop, or is the largest or smallest of all.
func (l *loop) set(to, value ast.Expr) bool {
	l.effects++
	switch {
	case !l.place(to) || !l.goesOn(to):
		return false
	case l.atKey(to):
		return l.pure(value)
	case l.constant(value) || isEmpty(value):
		return true
	}
	switch x := ast.Unparen(value).(type) {
	case *ast.BinaryExpr: // all = all && ...
		return (x.Op == token.LAND || x.Op == token.LOR) && l.joins(to, x)
	case *ast.CallExpr:
		if len(x.Args) == 0 || !same(to, x.Args[0]) ||
			slices.ContainsFunc(x.Args[1:], func(e ast.Expr) bool { return !l.pure(e) }) {
			return false
		}
		if isBuiltin(l.info, x.Fun, "append") {
			return l.sortedAfter(to, l.whole.End())
		}
		return isBuiltin(l.info, x.Fun, "max") || isBuiltin(l.info, x.Fun, "min")
	}
	return false
}

// joins reports whether a chain of one operator, as "all && a && b", begins with to and goes on with pure expressions.
func (l *loop) joins(to ast.Expr, chain *ast.BinaryExpr) bool {
	if !l.pure(chain.Y) {
		return false
	}
	first, ok := ast.Unparen(chain.X).(*ast.BinaryExpr) // a && b && c is (a && b) && c
	return same(to, chain.X) || ok && first.Op == chain.Op && l.joins(to, first)
}

// isEmpty reports whether e is a literal without elements, such as struct{}{}.
func isEmpty(e ast.Expr) bool {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

func same(a, b ast.Expr) bool { return types.ExprString(a) == types.ExprString(b) }

// pure reports whether an expression has no effect and reads nothing that the loop changes.
func (l *loop) pure(e ast.Expr) bool {
	if e == nil {
		return true
	}
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			ok = ok && !l.changes(l.path(n))
		case *ast.SelectorExpr:
			if path := l.path(n); path != "" && isChain(n) {
				ok = ok && !l.changes(path)
				return false
			}
		case *ast.IndexExpr:
			if l.ownElement(n) {
				return false
			}
		case *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW && n.Op != token.AND
		case *ast.CallExpr:
			ok = ok && l.pureCall(n)
		}
		return ok
	})
	return ok
}

// isChain reports whether e is only a name followed by fields.
func isChain(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return isChain(x.X)
	}
	return false
}

// ownElement reports whether e is an element that no other pass of the loop changes.
func (l *loop) ownElement(e ast.Expr) bool {
	kinds := l.kinds[l.path(e)]
	return l.atKey(e) && len(kinds) == 1 && kinds["at the key"]
}

func (l *loop) pureCall(n *ast.CallExpr) bool {
	if l.info.Types[n.Fun].IsType() { // a conversion
		return true
	}
	for _, name := range []string{"len", "cap", "min", "max", "make"} {
		if isBuiltin(l.info, n.Fun, name) {
			return true
		}
	}
	if isBuiltin(l.info, n.Fun, "append") { // append([]byte(nil), value...)
		fresh, ok := ast.Unparen(n.Args[0]).(*ast.CallExpr)
		return isEmpty(n.Args[0]) || ok && l.info.Types[fresh.Fun].IsType() || l.ownElement(n.Args[0])
	}
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := l.info.Uses[sel.Sel].(*types.Func)
	return ok && f.Pkg() != nil && f.Signature().Recv() == nil && slices.Contains(purePackages, f.Pkg().Path())
}
