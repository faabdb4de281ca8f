package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// run finds all mutants of the file.
func (r *rewriter) run() {
	for _, d := range r.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || slices.Contains(r.hints, f.Name.Name) && f.Recv == nil {
			continue
		}
		r.within = f.Name.Name
		if f.Recv != nil {
			r.within = receiver(f.Recv.List[0].Type) + "." + f.Name.Name
		}
		r.body(f.Type, f.Body)
		ast.PreorderStack(f.Body, []ast.Node{f}, func(n ast.Node, stack []ast.Node) bool {
			return r.node(n, stack)
		})
	}
}

// receiver is the name of the type of a receiver.
func receiver(t ast.Expr) string {
	switch x := t.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// node adds the mutants at a node, and reports whether there may be more in it.
func (r *rewriter) node(n ast.Node, stack []ast.Node) bool {
	parent := stack[len(stack)-1]
	if s, ok := n.(ast.Stmt); ok && r.hint(s) {
		return false
	}
	switch x := n.(type) {
	case *ast.GenDecl:
		return x.Tok != token.CONST
	case *ast.ArrayType, *ast.FuncType:
		return false
	case *ast.FuncLit:
		r.body(x.Type, x.Body)
	case *ast.IfStmt:
		r.ifs(x)
	case *ast.ForStmt:
		r.insert(x.Body.Lbrace+1, " active.Loop();")
		if x.Cond != nil {
			r.negate(x.Cond)
		}
	case *ast.RangeStmt:
		r.insert(x.Body.Lbrace+1, " active.Loop();")
		r.remove(x, Remove, parent)
	case *ast.ExprStmt:
		if call, ok := x.X.(*ast.CallExpr); ok && r.name(call) != "panic" {
			r.remove(x, Remove, parent)
		}
	case *ast.AssignStmt:
		if id, ok := x.Lhs[0].(*ast.Ident); x.Tok != token.DEFINE && !(ok && id.Name == "_") {
			r.remove(x, Remove, parent)
		}
	case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt:
		r.remove(x.(ast.Stmt), Remove, parent)
	case *ast.DeferStmt:
		r.remove(x, RemoveLate, parent)
	case *ast.ReturnStmt:
		r.returns(x)
	case *ast.BranchStmt:
		r.jump(x, stack)
	case *ast.BinaryExpr:
		r.binary(x, parent)
	case *ast.BasicLit:
		r.number(x, parent)
	case *ast.Ident:
		if r.info.Uses[x] == types.Universe.Lookup("true") || r.info.Uses[x] == types.Universe.Lookup("false") {
			r.around(x, "(", fmt.Sprintf(" != active.On(%d))", r.mutant(Flip, x)))
		}
	}
	return true
}

// hint reports whether a statement is nothing but a call that makes no difference.
func (r *rewriter) hint(s ast.Stmt) bool {
	var call ast.Expr
	switch x := s.(type) {
	case *ast.ExprStmt:
		call = x.X
	case *ast.DeferStmt:
		call = x.Call
	}
	for {
		c, ok := call.(*ast.CallExpr)
		if !ok {
			return false
		}
		if slices.Contains(r.hints, r.name(c)) {
			return true
		}
		call = c.Fun
	}
}

// name is what a call calls, if that is a plain name.
func (r *rewriter) name(call *ast.CallExpr) string {
	if id, ok := call.Fun.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// body makes a function return at once, and lets it end where a mutant has no return statement.
func (r *rewriter) body(t *ast.FuncType, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	zero, named := []string{}, false
	if t.Results != nil {
		for _, f := range t.Results.List {
			named = named || len(f.Names) > 0
			zero = append(zero, "*new("+r.raw(f.Type)+")")
		}
		r.insert(body.Rbrace, "; active.Missing(); panic(0)")
	}
	if named {
		zero = nil
	}
	n := ast.Node(t)
	if t.Func == token.NoPos {
		n = t.Params
	}
	r.insert(body.Lbrace+1, fmt.Sprintf(" if active.On(%d) { return %s };", r.mutant(Return, n), strings.Join(zero, ", ")))
}

// ifs turns the condition of an if statement round, and makes it never true.
func (r *rewriter) ifs(x *ast.IfStmt) {
	if x.Else == nil {
		r.around(x.Cond, "(", fmt.Sprintf(") && !active.On(%d)", r.mutant(Skip, x)))
	}
	r.negate(x.Cond)
}

func (r *rewriter) negate(x ast.Expr) {
	if !equality(x) { // which is turned round anyway
		r.around(x, "((", fmt.Sprintf(") != active.On(%d))", r.mutant(Negate, x)))
	}
}

func equality(x ast.Node) bool {
	b, ok := x.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

// listed reports whether a statement is one of a list of statements.
func listed(parent ast.Node) bool {
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// remove leaves out a statement.
func (r *rewriter) remove(x ast.Stmt, o Operator, parent ast.Node) {
	if c, ok := parent.(*ast.CommClause); listed(parent) && !(ok && c.Comm == x) {
		r.around(x, fmt.Sprintf("if !active.On(%d) { ", r.mutant(o, x)), " }")
	}
}

// returns ignores the error that a return statement returns.
func (r *rewriter) returns(x *ast.ReturnStmt) {
	k := len(x.Results) - 1
	if k < 0 {
		return
	}
	last := x.Results[k]
	isError := func(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
	switch t := r.info.TypeOf(last).(type) {
	case *types.Tuple:
		if n := t.Len(); isError(t.At(n - 1).Type()) {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("result%d", i)
			}
			names[n-1] = "_"
			left := strings.Join(names, ", ")
			names[n-1] = "nil"
			r.insert(x.Pos(), fmt.Sprintf("if active.On(%d) { %s := %s; return %s }; ", r.mutant(DropError, x), left,
				r.raw(last), strings.Join(names, ", ")))
		}
	default:
		if t != nil && isError(t) {
			r.around(last, fmt.Sprintf("active.Drop(%d, ", r.mutant(DropError, x)), ")")
		}
	}
}

// jump goes on with a loop where the code leaves it, or the other way round.
func (r *rewriter) jump(x *ast.BranchStmt, stack []ast.Node) {
	if x.Label != nil {
		return
	}
	other := map[token.Token]string{token.CONTINUE: "break", token.BREAK: "continue"}[x.Tok]
	for i := len(stack) - 1; i >= 0 && other != ""; i-- {
		switch stack[i].(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if x.Tok == token.BREAK {
				return
			}
		case *ast.ForStmt, *ast.RangeStmt:
			r.insert(x.Pos(), fmt.Sprintf("if active.On(%d) { %s }; ", r.mutant(Jump, x), other))
			return
		}
	}
}

// binary changes an operator.
func (r *rewriter) binary(x *ast.BinaryExpr, parent ast.Node) {
	switch x.Op {
	case token.LAND, token.LOR:
		// By De Morgan, with all three sides turned round if the mutant is active.
		on := fmt.Sprintf(") != active.On(%d)", r.mutant(Swap, x))
		r.around(x, "(((", on+on+")")
		e := r.at(x.X.End())
		e.after = slices.Insert(e.after, 0, on)
		r.insert(x.Y.Pos(), "(")
	case token.EQL, token.NEQ:
		if c, ok := parent.(*ast.BinaryExpr); !ok || c.Op == token.LAND || c.Op == token.LOR {
			r.around(x, "((", fmt.Sprintf(") != active.On(%d))", r.mutant(Negate, x)))
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if b, ok := r.info.TypeOf(x.X).Underlying().(*types.Basic); !ok || b.Info()&types.IsOrdered == 0 {
			return
		}
		r.around(x, fmt.Sprintf("active.%s(%d, ", bounds[x.Op], r.mutant(Bound, x)), ")")
		op := r.at(x.OpPos)
		op.before, op.cut = append(op.before, ","), len(x.Op.String())
	}
}

// bounds are the functions of package active for comparisons.
var bounds = map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast"}

// number makes a constant larger or smaller by one.
func (r *rewriter) number(x *ast.BasicLit, parent ast.Node) {
	if b, ok := parent.(*ast.BinaryExpr); x.Kind != token.INT || ok && (b.Op == token.SHL || b.Op == token.SHR) {
		return
	}
	if kv, ok := parent.(*ast.KeyValueExpr); ok && kv.Key == x {
		return
	}
	t := r.info.TypeOf(x)
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	known := true
	name := types.TypeString(t, func(p *types.Package) string {
		alias, imported := r.imports[p.Path()]
		known = known && (imported || p.Name() == r.file.Name.Name)
		switch {
		case !imported:
			return ""
		case alias != "":
			return alias
		}
		return p.Name()
	})
	if !known {
		return
	}
	larger, smaller := r.mutant(PlusOne, x), 0
	if x.Value != "0" {
		smaller = r.mutant(MinusOne, x)
	}
	r.around(x, fmt.Sprintf("active.Plus[%s](%d, %d, ", name, larger, smaller), ")")
}
