package zksim_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// deterministicRoots are the folders below which everything must come out of the
// scheduler's choices alone, apart from recipes/live.
var deterministicRoots = []string{"model", "sim", "faults", "recipes"}

func deterministic(dir string) bool {
	return under(dir, deterministicRoots...) && !under(dir, zkHome)
}

// bannedImports bring goroutines, the machine or its randomness. A name covers
// the packages below it, apart from the pure ones.
var bannedImports = []string{
	"crypto/rand",
	"hash/maphash", // a new seed in every process
	"net",
	"os",
	"sync",
}

// pureImports only parse and print.
var pureImports = []string{"net/netip", "net/url"}

// bannedObjects are functions and variables by types.Func.FullName, with what to
// use in their place. Mentioning one is enough: a function can be called later.
var bannedObjects = map[string]string{
	"time.Now":                  "Env.Now or the world's clock",
	"time.Since":                "Env.Now or the world's clock",
	"time.Until":                "Env.Now or the world's clock",
	"time.Sleep":                "Env.Sleep",
	"time.After":                "Env.Sleep",
	"time.AfterFunc":            "Env.Go and Env.Sleep",
	"time.NewTimer":             "Env.Sleep",
	"time.NewTicker":            "Env.Sleep",
	"time.Tick":                 "Env.Sleep",
	"time.Local":                "time.UTC",
	"time.LoadLocation":         "time.UTC",
	"context.WithTimeout":       "Env.WithTimeout",
	"context.WithTimeoutCause":  "Env.WithTimeout",
	"context.WithDeadline":      "Env.WithTimeout",
	"context.WithDeadlineCause": "Env.WithTimeout",
	"context.AfterFunc":         "Env.Await", // starts a goroutine
}

// unorderedIterators range over a map. As the argument of slices.Sorted they do
// no harm.
var unorderedIterators = []string{"maps.All", "maps.Keys", "maps.Values", "(reflect.Value).MapKeys", "(reflect.Value).MapRange"}

const orderFree = "// order-free:"

// determinismProblems finds what could make two runs of one schedule differ, in
// the packages where every choice is the scheduler's.
func determinismProblems(t *tree) []string {
	var problems []string
	for _, p := range t.packages {
		if !deterministic(p.dir) || p.product() == nil {
			continue
		}
		c := t.check(p)
		if c.err != nil {
			problems = append(problems, fmt.Sprintf("%v (%s must type-check before it can be judged)", c.err, p.dir))
		}
		for _, f := range p.product() {
			if !t.builds(f) {
				problems = append(problems, t.at(f.ast.Package,
					"file is left out by a build constraint, expected %s to be the same everywhere", p.dir))
			}
			s := scan{tree: t, info: c.info, excused: t.excuses(f)}
			ast.Inspect(f.ast, s.visit)
			problems = append(problems, s.problems...)
			problems = append(problems, s.leftOver()...)
		}
	}
	return problems
}

// scan looks for the bans in one file.
type scan struct {
	tree     *tree
	info     *types.Info
	excused  map[int]*excuse
	sorted   []*ast.Ident // iterators that are the argument of slices.Sorted
	problems []string
}

// excuse is an order-free comment. It covers map iteration on one line: the
// comment's last or the next.
type excuse struct {
	pos    token.Pos
	reason bool
	line   int // that it covers; 0 until there is one
}

func (t *tree) excuses(f *source) map[int]*excuse {
	found := map[int]*excuse{}
	for _, group := range f.ast.Comments {
		for _, comment := range group.List {
			if reason, ok := strings.CutPrefix(comment.Text, orderFree); ok {
				last := t.fset.PositionFor(group.End(), false).Line
				found[last] = &excuse{pos: comment.Pos(), reason: strings.TrimSpace(reason) != ""}
			}
		}
	}
	return found
}

func (s *scan) report(pos token.Pos, format string, args ...any) {
	s.problems = append(s.problems, s.tree.at(pos, format, args...))
}

func (s *scan) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		name := importPath(n)
		if name == "math/rand" || under(name, bannedImports...) && !slices.Contains(pureImports, name) {
			s.report(n.Pos(), "import of %s, expected none in a deterministic package", name)
		}
	case *ast.GoStmt:
		s.report(n.Pos(), "go statement, expected Env.Go or a coroutine of the world")
	case *ast.SelectStmt:
		if !isPoll(n) {
			s.report(n.Pos(), "select statement, expected Env.Await")
		}
	case *ast.RangeStmt:
		if tv, ok := s.info.Types[n.X]; ok && n.Key != nil && isMap(tv.Type) {
			s.unordered(n.Pos(), "range over a map")
		}
	case *ast.CallExpr:
		if argument, ok := s.sortedArgument(n); ok {
			s.sorted = append(s.sorted, argument)
		}
	case *ast.Ident:
		s.mention(n)
	}
	return true
}

// mention judges the use of a name of another package.
func (s *scan) mention(id *ast.Ident) {
	obj := s.info.Uses[id]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	name := fullName(obj)
	if instead, ok := bannedObjects[name]; ok {
		s.report(id.Pos(), "use of %s, expected %s", name, instead)
	}
	if slices.Contains(unorderedIterators, name) && !slices.Contains(s.sorted, id) {
		s.unordered(id.Pos(), name)
	}
	_, isFunc := obj.(*types.Func)
	if isFunc && obj.Pkg().Path() == "math/rand/v2" && obj.Parent() == obj.Pkg().Scope() &&
		!strings.HasPrefix(obj.Name(), "New") {
		s.report(id.Pos(), "use of %s, which draws from the global source, expected a method of a *rand.Rand", name)
	}
}

// unordered reports map iteration unless a comment says why its order is free.
func (s *scan) unordered(pos token.Pos, what string) {
	line := s.tree.fset.PositionFor(pos, false).Line
	for _, at := range []int{line, line - 1} {
		e := s.excused[at]
		if e == nil || e.line != 0 && e.line != line {
			continue
		}
		e.line = line
		if !e.reason {
			s.report(e.pos, "%s without a reason, expected why the order does not matter", orderFree)
		}
		return
	}
	s.report(pos, "%s, expected slices.Sorted(maps.Keys(m)) or a comment %q with the reason", what, orderFree)
}

// leftOver lists the comments that excuse nothing.
func (s *scan) leftOver() []string {
	var problems []string
	for _, e := range s.excused {
		if e.line == 0 {
			problems = append(problems, s.tree.at(e.pos, "%s beside no map iteration, expected no such comment", orderFree))
		}
	}
	slices.Sort(problems)
	return problems
}

// sortedArgument returns the iterator X of a call slices.Sorted(X(...)).
func (s *scan) sortedArgument(call *ast.CallExpr) (*ast.Ident, bool) {
	if obj := s.info.Uses[callee(call)]; obj == nil || fullName(obj) != "slices.Sorted" || len(call.Args) != 1 {
		return nil, false
	}
	inner, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	id := callee(inner)
	return id, id != nil
}

// callee returns the last identifier of what is called, or nil.
func callee(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) { // explicit type arguments
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

// fullName is the name of an object of package level or of a method, with its
// import path, and "" for others: a local variable has no full name.
func fullName(obj types.Object) string {
	if f, ok := obj.(*types.Func); ok {
		return f.Origin().FullName()
	}
	if obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// isMap reports whether ranging over t is, or for a type parameter may be,
// ranging over a map.
func isMap(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface: // the constraint of a type parameter
		for embedded := range u.EmbeddedTypes() {
			if isMap(embedded) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if isMap(term.Type()) {
				return true
			}
		}
	}
	return false
}

// isPoll reports whether a select is the language's non-blocking receive or
// send: one case and a default. Its outcome is determined by the channel; a
// select with more cases picks among the ready ones at random.
func isPoll(n *ast.SelectStmt) bool {
	hasDefault := false
	for _, c := range n.Body.List {
		if c.(*ast.CommClause).Comm == nil {
			hasDefault = true
		}
	}
	return hasDefault && len(n.Body.List) == 2
}
