package zksim_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

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
	for _, f := range t.code() {
		harness := under(f.dir, harnessRoots...)
		if !harness && !under(f.dir, deterministicRoots...) || under(f.dir, zkHome) {
			continue
		}
		if !t.builds(f) {
			problems = append(problems, t.at(f.ast.Package,
				"file is left out by a build constraint, expected %s to be the same everywhere", f.dir))
			continue
		}
		info, trouble := t.check(f)
		if trouble != "" {
			problems = append(problems, trouble)
		}
		s := scan{tree: t, file: f, info: info, harness: harness, orders: t.orders(f)}
		for n := range ast.Preorder(f.ast) {
			s.visit(n)
		}
		for _, o := range s.orders {
			s.report(o.Pos(), "%s beside no map iteration, expected no such comment", orderFree)
		}
		for _, e := range excuses {
			if e.file == f.path && !slices.Contains(s.excused, e.uses) {
				s.report(f.ast.Package, "no use of %s, expected no excuse for it", e.uses)
			}
		}
		problems = append(problems, s.problems...)
	}
	return problems
}

// scan looks for the bans in one file.
type scan struct {
	tree     *tree
	file     *file
	info     *types.Info
	harness  bool
	orders   map[int]*ast.Comment // that say why map iteration on a line is free
	excused  []string             // the packages of excuses that were used
	sorted   ast.Node             // what gives slices.Sorted its argument
	problems []string
}

// orders are the order-free comments by the line that each covers: its own, or if it stands alone the next.
func (t *tree) orders(f *file) map[int]*ast.Comment {
	found := map[int]*ast.Comment{}
	lines := strings.Split(f.body, "\n")
	for _, group := range f.ast.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, orderFree) {
				line := t.fset.PositionFor(group.End(), false).Line
				if strings.HasPrefix(strings.TrimSpace(lines[line-1]), "//") {
					line++
				}
				found[line] = comment
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
		if !s.harness && !vet.IsPoll(n) {
			s.report(n.Pos(), "select statement, expected Env.Await")
		}
	case *ast.RangeStmt:
		if of := s.info.TypeOf(n.X); of != nil && n.Key != nil && vet.RangesMap(of) {
			s.unordered(n.Pos(), "range over a map")
		}
	case *ast.CallExpr:
		if f := typeutil.Callee(s.info, n); f != nil && vet.FullName(f) == "slices.Sorted" {
			if inner, ok := n.Args[0].(*ast.CallExpr); ok {
				s.sorted = inner.Fun
			}
		}
	case *ast.Ident:
		if o := s.info.Uses[n]; o != nil && o.Pkg() != nil {
			s.mention(n, o)
		}
	}
}

// mention judges the use of a name of another package.
func (s *scan) mention(id *ast.Ident, o types.Object) {
	name := vet.FullName(o)
	if vet.Iterates(o) {
		if s.sorted == nil || id.Pos() < s.sorted.Pos() || s.sorted.End() < id.End() {
			s.unordered(id.Pos(), name)
		}
	} else if why := vet.Banned(o); why != "" && (name == "(*sync.Map).Range" || !s.may(o.Pkg().Path())) {
		s.report(id.Pos(), "use of %s, which %s", name, why)
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
	comment := s.orders[line]
	delete(s.orders, line)
	if comment == nil {
		s.report(pos, "%s, expected slices.Sorted(maps.Keys(m)) or a comment %q with the reason", what, orderFree)
	} else if strings.TrimSpace(comment.Text) == orderFree {
		s.report(comment.Pos(), "%s without a reason, expected why the order does not matter", orderFree)
	}
}
