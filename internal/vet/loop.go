package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// loop is a range over a map whose order is in question. The order is free if what each statement changes ends up the
// same in any order, no statement reads what the loop changes, and nothing is left undone because the loop ends early.
// A loop does not know when two pointers are equal.
type loop struct {
	*scan
	whole   *ast.RangeStmt
	mapped  string                     // the map, as the source writes it
	key     types.Object               // nil: none
	kinds   map[string]map[string]bool // by the path of what is changed, the ways in which it is changed
	exits   map[string]bool            // how the loop ends early
	effects int                        // statements that change something, other than just before an exit
	inner   int                        // loops and switches in the loop around the current statement
}

// orderFree reports whether a range over a map does the same in any order.
func (s *scan) orderFree(n *ast.RangeStmt) bool {
	id, ok := n.Key.(*ast.Ident)
	if !ok || n.Tok == token.ASSIGN { // the last key stays in a variable
		return false
	}
	l := &loop{scan: s, whole: n, mapped: types.ExprString(n.X), key: s.info.ObjectOf(id),
		kinds: map[string]map[string]bool{}, exits: map[string]bool{}}
	if call, ok := n.X.(*ast.CallExpr); ok && len(call.Args) == 1 { // maps.Keys(m)
		l.mapped = types.ExprString(call.Args[0])
	}
	l.collect()
	for _, kinds := range l.kinds {
		if len(kinds) > 1 {
			return false
		}
	}
	if !l.block(n.Body) {
		return false
	}
	return len(l.exits) == 0 || len(l.exits) == 1 && l.effects == 0
}

// collect notes what the loop changes, and how.
func (l *loop) collect() {
	ast.Inspect(l.whole.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				l.change(lhs, l.kind(n, lhs, i))
			}
		case *ast.IncDecStmt:
			l.change(n.X, "sum")
		case *ast.CallExpr:
			if isBuiltin(l.info, n.Fun, "delete") {
				l.change(&ast.IndexExpr{X: n.Args[0], Index: n.Args[1]}, "delete")
			}
		}
		return true
	})
}

// kind classifies an assignment. Assignments of the same kind may happen in any order.
func (l *loop) kind(n *ast.AssignStmt, lhs ast.Expr, i int) string {
	switch {
	case n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN:
		return "sum"
	case slices.Contains(sums, n.Tok):
		return n.Tok.String()
	case l.atKey(lhs):
		return "at the key"
	case len(n.Lhs) == len(n.Rhs) && l.constant(n.Rhs[i]):
		return "= " + types.ExprString(n.Rhs[i])
	}
	return fmt.Sprint(lhs.Pos())
}

// change notes a change of a variable that is not local to a pass of the loop.
func (l *loop) change(e ast.Expr, kind string) {
	o := l.base(e)
	if o == nil || l.own(o) {
		return
	}
	path := l.path(e)
	if l.kinds[path] == nil {
		l.kinds[path] = map[string]bool{}
	}
	l.kinds[path][kind] = true
}

// path names a variable or a field of one. Elements of a map or a list have the path of the whole. It is "" for an
// expression without a name.
func (l *loop) path(e ast.Expr) string {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := l.info.ObjectOf(x); o != nil {
			return fmt.Sprint(x.Name, "@", o.Pos())
		}
	case *ast.SelectorExpr:
		if path := l.path(x.X); path != "" {
			return path + "." + x.Sel.Name
		}
	case *ast.IndexExpr:
		return l.path(x.X)
	case *ast.StarExpr:
		return l.path(x.X)
	}
	return ""
}

// changes reports whether the loop changes what is at a path, a part of it, or a whole that it is part of.
func (l *loop) changes(path string) bool {
	for changed := range l.kinds {
		if strings.HasPrefix(changed+".", path+".") || strings.HasPrefix(path+".", changed+".") {
			return true
		}
	}
	return false
}

// base is the variable that holds the memory of an expression, or nil.
func (l *loop) base(e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return l.info.ObjectOf(x)
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// own reports whether a variable belongs to one pass of the loop.
func (l *loop) own(o types.Object) bool { return l.whole.Pos() <= o.Pos() && o.Pos() < l.whole.End() }

// atKey reports whether e is an element of a map at the key of the loop, so a different element in each pass.
func (l *loop) atKey(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || l.key == nil || !l.isMap(x.X) {
		return false
	}
	id, ok := ast.Unparen(x.Index).(*ast.Ident)
	return ok && l.info.ObjectOf(id) == l.key
}

func (l *loop) isMap(e ast.Expr) bool {
	t := l.info.TypeOf(e)
	return t != nil && ranges[*types.Map](t)
}

func (l *loop) block(b *ast.BlockStmt) bool { return b == nil || l.all(b.List) }

func (l *loop) all(list []ast.Stmt) bool {
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) && l.inner == 0 && isBreak(list[i+1]) && l.setsConstant(list[i]) {
			l.exits["break"] = true
			i++
		} else if !l.statement(list[i]) {
			return false
		}
	}
	return true
}

func isBreak(n ast.Stmt) bool {
	b, ok := n.(*ast.BranchStmt)
	return ok && b.Tok == token.BREAK && b.Label == nil
}

// setsConstant recognizes "found = true".
func (l *loop) setsConstant(n ast.Stmt) bool {
	assign, ok := n.(*ast.AssignStmt)
	return ok && assign.Tok == token.ASSIGN && len(assign.Lhs) == 1 && len(l.kinds) == 1 &&
		l.place(assign.Lhs[0]) && l.constant(assign.Rhs[0])
}

func (l *loop) statement(n ast.Stmt) bool {
	switch n := n.(type) {
	case nil, *ast.EmptyStmt:
		return true
	case *ast.BlockStmt:
		return l.block(n)
	case *ast.BranchStmt:
		return n.Label == nil && (n.Tok == token.CONTINUE || n.Tok == token.BREAK && l.inner > 0)
	case *ast.ReturnStmt:
		return l.returns(n)
	case *ast.IfStmt:
		return l.extreme(n) || l.statement(n.Init) && l.pure(n.Cond) && l.block(n.Body) && l.statement(n.Else)
	case *ast.SwitchStmt:
		return l.statement(n.Init) && l.pure(n.Tag) && l.within(n.Body)
	case *ast.CaseClause:
		return !slices.ContainsFunc(n.List, func(e ast.Expr) bool { return !l.pure(e) }) && l.all(n.Body)
	case *ast.ForStmt:
		return l.statement(n.Init) && l.pure(n.Cond) && l.statement(n.Post) && l.within(n.Body)
	case *ast.RangeStmt:
		t := l.info.TypeOf(n.X)
		return n.Tok != token.ASSIGN && t != nil && !ranges[*types.Chan](t) && !ranges[*types.Signature](t) &&
			l.pure(n.X) && l.within(n.Body)
	case *ast.ExprStmt:
		return l.call(n.X)
	case *ast.IncDecStmt:
		return l.add(n.X)
	case *ast.AssignStmt:
		return l.assign(n)
	case *ast.DeclStmt:
		return l.declares(n)
	}
	return false
}

func (l *loop) within(b *ast.BlockStmt) bool {
	l.inner++
	defer func() { l.inner-- }()
	return l.block(b)
}

// returns judges a return of constants.
func (l *loop) returns(n *ast.ReturnStmt) bool {
	var text []string
	for _, e := range n.Results {
		if !l.constant(e) {
			return false
		}
		text = append(text, types.ExprString(e))
	}
	l.exits["return "+strings.Join(text, ", ")] = true
	return true
}

func (l *loop) constant(e ast.Expr) bool {
	tv, ok := l.info.Types[e]
	return ok && (tv.Value != nil || tv.IsNil())
}

func (l *loop) declares(n *ast.DeclStmt) bool {
	d := n.Decl.(*ast.GenDecl)
	return d.Tok != token.VAR || !slices.ContainsFunc(d.Specs, func(x ast.Spec) bool {
		return slices.ContainsFunc(x.(*ast.ValueSpec).Values, func(e ast.Expr) bool { return !l.pure(e) })
	})
}

// extreme recognizes "if v > most { most = v }".
func (l *loop) extreme(n *ast.IfStmt) bool {
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || n.Init != nil || n.Else != nil || len(n.Body.List) != 1 || !slices.Contains(comparisons, cond.Op) {
		return false
	}
	assign, ok := n.Body.List[0].(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 {
		return false
	}
	to, from := assign.Lhs[0], assign.Rhs[0]
	l.effects++
	compared := same(cond.X, to) && same(cond.Y, from) || same(cond.X, from) && same(cond.Y, to)
	return compared && l.place(to) && l.pure(from)
}

var comparisons = []token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ}
