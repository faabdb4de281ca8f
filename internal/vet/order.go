package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// iterators range over a map.
var iterators = map[string]bool{
	"maps.All": true, "maps.Keys": true, "maps.Values": true, "(reflect.Value).MapRange": true,
}

// Iterates reports whether an object is a function that ranges over a map, in any order.
func Iterates(o types.Object) bool {
	name := FullName(o)
	return iterators[name] || name == "(reflect.Value).MapKeys"
}

// RangesMap reports whether a range over t is a range over a map, or may be one if t is a type parameter.
func RangesMap(t types.Type) bool { return ranges[*types.Map](t) }

// consumers take an iterator, and do the same in any order.
var consumers = []string{"slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect", "maps.Insert"}

// sorters sort their first argument.
var sorters = []string{
	"slices.Sort", "slices.SortFunc", "slices.SortStableFunc",
	"sort.Float64s", "sort.Ints", "sort.Slice", "sort.SliceStable", "sort.Sort", "sort.Stable", "sort.Strings",
}

// iteratesFree reports whether the order of the current iterator over a map cannot show. It cannot if something like
// slices.Sorted consumes it. A range or a slices.Collect is judged like a range over the map.
func (s *scan) iteratesFree() bool {
	i := len(s.stack) - 1 // at the identifier
	if _, ok := s.stack[i-1].node.(*ast.SelectorExpr); ok {
		i--
	}
	call, ok := s.stack[i-1].node.(*ast.CallExpr)
	if !ok || call.Fun != s.stack[i].node || i < 3 {
		return false
	}
	switch outer := s.stack[i-2].node.(type) {
	case *ast.RangeStmt:
		return outer.Key == nil || s.orderFree(outer)
	case *ast.CallExpr:
		name := s.callee(outer)
		if slices.Contains(consumers, name) {
			return true
		}
		assign, ok := s.stack[i-3].node.(*ast.AssignStmt)
		return ok && (name == "slices.Collect" || name == "slices.AppendSeq") && len(assign.Lhs) == 1 &&
			s.sortedAfter(assign.Lhs[0], assign.End())
	}
	return false
}

// callee is the full name of the called function of another package, or "".
func (s *scan) callee(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok { // explicit type arguments
		fun = x.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if f, ok := s.info.Uses[sel.Sel].(*types.Func); ok {
		return FullName(f)
	}
	return ""
}

// sortedAfter reports whether the slice is sorted after pos, in the same function.
func (s *scan) sortedAfter(list ast.Expr, pos token.Pos) bool {
	var body ast.Node
	for i := len(s.stack) - 1; i >= 0 && body == nil; i-- {
		switch n := s.stack[i].node.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			body = n
		}
	}
	if body == nil {
		return false
	}
	want, found := types.ExprString(list), false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < pos || len(call.Args) == 0 || !slices.Contains(sorters, s.callee(call)) {
			return !found
		}
		ast.Inspect(call.Args[0], func(n ast.Node) bool { // also sort.Sort(byName(list))
			if e, ok := n.(ast.Expr); ok && types.ExprString(e) == want {
				found = true
			}
			return !found
		})
		return !found
	})
	return found
}
