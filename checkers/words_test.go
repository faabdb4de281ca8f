package checkers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyChecker is all of them; TestEveryCheckerSaysWhatItNeeds keeps it whole.
var everyChecker = []Checker{Acknowledged{}, Alarm{}, Always{}, Atomicity{}, Barrier{}, Belief{},
	Belief{Leases: 2}, Claim{}, Claim{Of: ClaimedPlace}, Claim{Of: ClaimedMember}, Conflict{}, Convergence{}, Counter{},
	Departure{}, DoubledEffect{}, DoubledItem{}, Entry{}, Exit{}, Fenced{}, FIFO{}, Finally{},
	FinallyOf{Heeds: []string{"lock"}}, Gather{}, Herd{PerEvent: 1},
	Leftover{}, Length{}, Linearizability{}, Liveness{}, LostItem{}, LostRevoke{}, Monotone{}, Names{}, Overdue{},
	Overtaken{Flag: "changing"}, Ownership{},
	Ownership{Leases: 2}, Passage{},
	Presence{}, PriorityOrder{Of: func(item int64) int64 { return item }}, Quiescence{}, Recency{}, Refusal{},
	Refusal{Leases: 2}, Replaced{},
	Rounds{}, Settled{}, StaleLeader{}, Steps{}, Suspicion{}, Taken{}, Tasks{}, Torn{}, Tree{}, Validity{},
	Waits{}, Waits{Leases: 2}, Waits{For: AwaitedItem}, Watches{}, Znodes{}}

// sources parses the files of the package that are no tests.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestEveryCheckerSaysWhatItNeeds(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range everyChecker {
		listed[c.Name()] = true
		d, ok := c.(Declaring)
		if !ok {
			t.Errorf("%s does not say what it needs", c.Name())
			continue
		}
		seen := map[word]bool{}
		for _, w := range d.Needs().Words {
			if x := (word{w.Op, w.Class}); w.Op == "" || w.Doc == "" || seen[x] {
				t.Errorf("%s: %+v is empty or there twice", c.Name(), w)
			} else {
				seen[x] = true
			}
		}
		for _, n := range d.Needs().Seen {
			if n.What == "" || n.Hint == "" || n.In == nil {
				t.Errorf("%s: %+v is not whole", c.Name(), n)
			}
		}
	}
	for file, f := range sources(t) {
		for _, d := range f.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "Name" || f.Recv == nil {
				continue
			}
			name, _ := strconv.Unquote(f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value)
			if !listed[name] {
				t.Errorf("%s: everyChecker lacks %s", file, name)
			}
		}
	}
}

// machine is what checkers compare beside words that programs choose: words of watch events, of
// sessions and of znodes, and what tests for nothing.
var machine = []string{"", "child", "deleted", "StateHasSession", "/candidates", "assign", "status",
	"tasks", "workers", "yes", "aborted", "read-", "-read-", "__READ__", "__rlock__", "/assign", "/", "getW",
	"existsW", "childrenW", "closeSession"}

// TestEveryWordThatIsComparedIsDeclared looks for all strings that are compared with something, in
// whatever way, and for all exported constants that are words.
func TestEveryWordThatIsComparedIsDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, c := range everyChecker {
		for _, w := range c.(Declaring).Needs().Words {
			declared[w.Op] = true
		}
	}
	prefixes := map[string]bool{"try": true} // of strings.HasPrefix
	found, idle := 0, slices.Clone(machine)
	for file, f := range sources(t) {
		if file == "needs.go" || file == "words.go" || file == "vocabulary.go" {
			continue
		}
		for _, s := range compared(f) {
			found++
			idle = slices.DeleteFunc(idle, func(x string) bool { return x == s })
			if !declared[s] && !prefixes[s] && !slices.Contains(machine, s) {
				t.Errorf("%s compares with %q, which is no word of a checker's Needs", file, s)
			}
		}
	}
	if found < 80 || len(idle) > 0 {
		t.Errorf("only %d comparisons were found, and none with %q", found, idle)
	}
}

// compared returns the strings in a file that are compared, cases of a switch, arguments of a function
// that tests, keys of a map, or constants.
func compared(f *ast.File) (list []string) {
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, _ := strconv.Unquote(lit.Value)
			list = append(list, s)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Name.Name != "Needs" // that is where words are declared
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				add(n.X)
				add(n.Y)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				add(e)
			}
		case *ast.KeyValueExpr:
			add(n.Key)
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				if slices.Contains([]string{"HasPrefix", "HasSuffix", "Contains", "EqualFold", "any", "of"},
					f.Sel.Name) {
					for _, e := range n.Args {
						add(e)
					}
				}
			}
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				for _, spec := range n.Specs {
					for _, e := range spec.(*ast.ValueSpec).Values {
						add(e)
					}
				}
			}
		}
		return true
	})
	return list
}

func TestWordsHaveOneClassInEachChecker(t *testing.T) {
	for _, c := range everyChecker {
		classes := map[string]Class{}
		for _, w := range c.(Declaring).Needs().Words {
			if old, ok := classes[w.Op]; ok && old != w.Class {
				t.Errorf("%s knows %q as %v and %v", c.Name(), w.Op, old, w.Class)
			}
			classes[w.Op] = w.Class
		}
	}
	for a, b := range map[string]string{"trylock": "trylok", "unlock": "unlok", "take": "takes", "enter": "entry"} {
		known := slices.Sorted(maps.Keys(map[string]bool{"trylock": true, "unlock": true, "take": true, "enter": true,
			"ack": true}))
		if got := slices.MinFunc(known, func(x, y string) int { return distance(x, b) - distance(y, b) }); got != a {
			t.Errorf("%s is nearest to %s, not to %s", b, got, a)
		}
	}
	if distance("kitten", "sitting") != 3 || distance("", "abc") != 3 || distance(strings.Repeat("x", 1000), "") != 60 {
		t.Error("distances")
	}
}
