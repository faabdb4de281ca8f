package zksim_test

import (
	"cmp"
	"fmt"
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
	deterministicRoots = []string{"model", "sim", "faults", "recipes", "checkers", "internal/mutants"}
	harnessRoots       = []string{"scenarios/catalog", "scenarios/workload", "scenarios/engine", "scenarios/herd",
		"internal/pipeline",
		"scenarios/prove"}
)

// bannedImports bring goroutines, the machine or its randomness. A name covers the packages below it, apart from the
// pure ones, which only parse and print. What is banned by name is what simulated code of users must not mention.
var (
	bannedImports = []string{"crypto/rand", "hash/maphash", "math/rand", "net", "os", "sync"}
	pureImports   = []string{"math/rand/v2", "net/netip", "net/url"}
	workerImports = []string{zkPath, "golang.org/x/sync", "net", "os", "runtime", "sync"} // for the harness
)

// bannedHere is what users do not meet, as what vet.Banned knows.
var bannedHere = map[string]string{
	"github.com/anishathalye/porcupine.CheckOperationsTimeout": "ends by the real clock; count the steps of the model",
}

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
	{"scenarios/prove/tries.go", "time", "measures"},
}

const orderFree = "// order-free:"

// scan looks for what could make two runs of one schedule differ in one file.
type scan struct {
	tree     *tree
	file     *file
	lines    []string
	info     *types.Info
	harness  bool
	orders   map[int]int // the lines of order-free comments, by the lines that they cover
	excused  []string    // the packages of excuses that were used
	sorted   ast.Node    // what gives slices.Sorted its argument
	problems []string
}

func determinismProblems(t *tree) (problems []string) {
	for _, f := range t.code {
		s := &scan{tree: t, file: f, lines: strings.Split(f.body, "\n"), harness: under(f.dir, harnessRoots...)}
		if !s.harness && !under(f.dir, deterministicRoots...) || under(f.dir, zkHome) {
			continue
		}
		s.info, s.problems = t.check(f)
		s.run()
		problems = append(problems, s.problems...)
	}
	return problems
}

func (s *scan) run() {
	s.orders = map[int]int{}
	for i, line := range s.lines {
		covers := i
		for strings.Contains(line, orderFree) && strings.HasPrefix(strings.TrimSpace(s.lines[covers]), "//") {
			covers++ // a comment that stands alone is about the line below it
		}
		if strings.Contains(line, orderFree) {
			s.orders[covers+1] = i + 1
		}
	}
	for _, i := range s.tree.imports {
		if i.by == s.file && under(i.name, bannedImports...) && !slices.Contains(pureImports, i.name) && !s.may(i.name) {
			s.report(s.line(i.pos), "import of %s, expected none in a deterministic package", i.name)
		}
	}
	for n := range ast.Preorder(s.file.ast) {
		s.visit(n)
	}
	for _, at := range s.orders {
		s.report(at, "%s beside no map iteration, expected no such comment", orderFree)
	}
	for _, e := range excuses {
		if e.file == s.file.path && !slices.Contains(s.excused, e.uses) {
			s.report(1, "no use of %s, expected no excuse for it", e.uses)
		}
	}
}

func (s *scan) line(pos token.Pos) int { return s.tree.fset.PositionFor(pos, false).Line }

func (s *scan) report(line int, format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf("%s:%d: %s", s.file.path, line, fmt.Sprintf(format, args...)))
}

func (s *scan) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		if !s.harness {
			s.report(s.line(n.Pos()), "go statement, expected Env.Go or a coroutine of the world")
		}
	case *ast.SelectStmt:
		if !s.harness && !vet.IsPoll(n) {
			s.report(s.line(n.Pos()), "select statement, expected Env.Await")
		}
	case *ast.RangeStmt:
		if of := s.info.TypeOf(n.X); of != nil && n.Key != nil && vet.RangesMap(of) {
			s.unordered(s.line(n.Pos()), "range over a map")
		}
	case *ast.CallExpr:
		if f := typeutil.Callee(s.info, n); f != nil && vet.FullName(f) == "slices.Sorted" {
			if inner, ok := n.Args[0].(*ast.CallExpr); ok {
				s.sorted = inner.Fun
			}
		}
	case *ast.Ident:
		o := s.info.Uses[n]
		if o == nil || o.Pkg() == nil {
			return
		}
		name := vet.FullName(o)
		why := cmp.Or(vet.Banned(o), bannedHere[name])
		if vet.Iterates(o) {
			if s.sorted == nil || n.Pos() < s.sorted.Pos() || s.sorted.End() < n.End() {
				s.unordered(s.line(n.Pos()), name)
			}
		} else if why != "" && (name == "(*sync.Map).Range" || !s.may(o.Pkg().Path())) {
			s.report(s.line(n.Pos()), "use of %s, which %s", name, why)
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
func (s *scan) unordered(line int, what string) {
	comment := s.orders[line]
	delete(s.orders, line)
	if comment == 0 {
		s.report(line, "%s, expected slices.Sorted(maps.Keys(m)) or a comment %q with the reason", what, orderFree)
	} else if strings.HasSuffix(s.lines[comment-1], orderFree) {
		s.report(comment, "%s without a reason, expected why the order does not matter", orderFree)
	}
}
