package zksim_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"zksim/internal/vet"
)

// deterministicRoots are the folders below which everything must come out of the scheduler's choices alone, apart from
// recipes/live. Below harnessRoots only the results must: workers, files and locks are in order there.
var (
	deterministicRoots = []string{"model", "sim", "faults", "recipes", "checkers"}
	harnessRoots       = []string{"scenarios/catalog", "scenarios/engine", "scenarios/herd", "scenarios/pipeline",
		"scenarios/prove"}
)

// bannedImports bring goroutines, the machine or its randomness. A name covers the packages below it, apart from the
// pure ones, which only parse and print. What is banned by name is what simulated code of users must not mention.
var (
	bannedImports = []string{"crypto/rand", "hash/maphash", "math/rand", "net", "os", "sync"}
	pureImports   = []string{"math/rand/v2", "net/netip", "net/url"}
	workerImports = []string{zkPath, "golang.org/x/sync", "net", "os", "runtime", "sync"} // for the harness
)

// excuses are packages that a file uses all the same, and why no result depends on it.
var excuses = []struct{ file, uses, why string }{
	{"checkers/porcupine.go", "hash/maphash", "finds states that may be equal; which are is asked then"},
	{"scenarios/engine/guard.go", "time", "a watchdog: only code that waits outside of its Env meets it, an error"},
	{"scenarios/engine/strict.go", "time", "the same watchdog"},
	{"scenarios/engine/turns.go", "time", "says that code which breaks the rules was slow"},
	{"scenarios/herd/live.go", "time", "runs on a real ensemble"},
	{"scenarios/prove/checkpoint.go", "time", "gives up on code that waits outside of its Env, which is an error"},
	{"scenarios/prove/prove.go", "time", "when to show progress and to write a checkpoint"},
	{"scenarios/prove/search.go", "time", "when to ask for progress and checkpoints"},
	{"scenarios/prove/widen.go", "time", "measures"},
}

const orderFree = "// order-free:"

// determinismProblems finds what could make two runs of one schedule differ.
func determinismProblems(t *tree) (problems []string) {
	for _, p := range t.packages {
		harness := under(p.dir, harnessRoots...)
		if !harness && !under(p.dir, deterministicRoots...) || under(p.dir, zkHome) || len(p.files) == 0 {
			continue
		}
		checked, trouble := t.check(p)
		if trouble != "" {
			problems = append(problems, trouble)
		}
		for _, f := range p.files {
			if !t.builds(f) {
				problems = append(problems, t.at(f.ast.Package,
					"file is left out by a build constraint, expected %s to be the same everywhere", p.dir))
			} else {
				s := scan{tree: t, file: f, info: checked.TypesInfo, harness: harness, orders: t.orders(f)}
				for n := range ast.Preorder(f.ast) {
					s.visit(n)
				}
				problems = append(problems, append(s.problems, s.leftOver()...)...)
			}
		}
	}
	return problems
}

// scan looks for the bans in one file.
type scan struct {
	tree     *tree
	file     *file
	info     *types.Info
	harness  bool
	orders   map[int]*order
	excused  []string     // the packages of excuses that were used
	sorted   []*ast.Ident // iterators that are the argument of slices.Sorted
	problems []string
}

// order is an order-free comment. It covers map iteration on one line: the comment's last or the next.
type order struct {
	pos    token.Pos
	reason bool
	line   int // that it covers; 0 until there is one
}

func (t *tree) orders(f *file) map[int]*order {
	found := map[int]*order{}
	for _, group := range f.ast.Comments {
		for _, comment := range group.List {
			if reason, ok := strings.CutPrefix(comment.Text, orderFree); ok {
				last := t.fset.PositionFor(group.End(), false).Line
				found[last] = &order{pos: comment.Pos(), reason: strings.TrimSpace(reason) != ""}
			}
		}
	}
	return found
}

func (s *scan) report(pos token.Pos, format string, args ...any) {
	s.problems = append(s.problems, s.tree.at(pos, format, args...))
}

func (s *scan) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.ImportSpec:
		if name := importPath(n); under(name, bannedImports...) && !slices.Contains(pureImports, name) && !s.may(name) {
			s.report(n.Pos(), "import of %s, expected none in a deterministic package", name)
		}
	case *ast.GoStmt:
		if !s.harness {
			s.report(n.Pos(), "go statement, expected Env.Go or a coroutine of the world")
		}
	case *ast.SelectStmt:
		if !s.harness && !isPoll(n) {
			s.report(n.Pos(), "select statement, expected Env.Await")
		}
	case *ast.RangeStmt:
		if tv, ok := s.info.Types[n.X]; ok && n.Key != nil && vet.RangesMap(tv.Type) {
			s.unordered(n.Pos(), "range over a map")
		}
	case *ast.CallExpr:
		if obj := s.info.Uses[callee(n)]; obj != nil && vet.FullName(obj) == "slices.Sorted" {
			if inner, ok := n.Args[0].(*ast.CallExpr); ok {
				s.sorted = append(s.sorted, callee(inner))
			}
		}
	case *ast.Ident:
		if obj := s.info.Uses[n]; obj == nil || obj.Pkg() == nil {
		} else if name := vet.FullName(obj); vet.Iterates(obj) {
			if !slices.Contains(s.sorted, n) {
				s.unordered(n.Pos(), name)
			}
		} else if why := vet.Banned(obj); why != "" && (name == "(*sync.Map).Range" || !s.may(obj.Pkg().Path())) {
			s.report(n.Pos(), "use of %s, which %s", name, why)
		}
	}
}

// may reports whether the file may use a package that is banned elsewhere.
func (s *scan) may(path string) bool {
	for _, e := range excuses {
		if e.file == s.file.path && e.uses == path {
			s.excused = append(s.excused, path)
			return true
		}
	}
	return s.harness && under(path, workerImports...)
}

// unordered reports map iteration unless a comment says why its order is free.
func (s *scan) unordered(pos token.Pos, what string) {
	line := s.tree.fset.PositionFor(pos, false).Line
	for _, at := range []int{line, line - 1} {
		o := s.orders[at]
		if o == nil || o.line != 0 && o.line != line {
			continue
		}
		o.line = line
		if !o.reason {
			s.report(o.pos, "%s without a reason, expected why the order does not matter", orderFree)
		}
		return
	}
	s.report(pos, "%s, expected slices.Sorted(maps.Keys(m)) or a comment %q with the reason", what, orderFree)
}

// leftOver lists the comments and excuses that excuse nothing.
func (s *scan) leftOver() (problems []string) {
	for _, o := range s.orders {
		if o.line == 0 {
			problems = append(problems, s.tree.at(o.pos, "%s beside no map iteration, expected no such comment", orderFree))
		}
	}
	for _, e := range excuses {
		if e.file == s.file.path && !slices.Contains(s.excused, e.uses) {
			problems = append(problems, e.file+":1: no use of "+e.uses+", expected no excuse for it")
		}
	}
	return problems
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

// isPoll reports whether a select is the language's non-blocking receive or send: one case and a default. Its outcome
// is determined by the channel; a select with more cases picks among the ready ones at random.
func isPoll(n *ast.SelectStmt) bool {
	isDefault := func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil }
	return len(n.Body.List) == 2 && slices.ContainsFunc(n.Body.List, isDefault)
}
