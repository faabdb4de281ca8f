package zksim_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"zksim/internal/vet"
)

// homes are the only places of what must stay replaceable, whatever the table says. Rapid, which registers flags, is
// for tests.
var homes = map[string]string{
	"github.com/anishathalye/porcupine": "checkers/porcupine.go",
	"gonum.org/v1/plot":                 "internal/plots",
	"pgregory.net/rapid":                "_test.go files",
}

const (
	zkPath = "github.com/go-zookeeper/zk"
	zkHome = "recipes/live"
	zkTest = "scenarios/zktest" // which runs code that has such a connection
)

// importTable is the table of ARCHITECTURE.md that starts with the header
//
//	| package | may import |
//
// A row is about the folder it names and the folders below it that have no row of their own, and may be continued by
// another. It has entries for other rows, modules of third parties, or zksim/... for all of this module.
type importTable []*entry

// entry is that packages of a row may import a name, or with no name that there is the row.
type entry struct {
	row, name string
	line      int
	used      bool
}

var bars = regexp.MustCompile("[\\s`]*\\|[\\s`]*")

func readTable(t *tree) (table importTable, problems []string) {
	for _, f := range t.files {
		inside, number := false, 0
		for line := range strings.Lines(f.body) {
			number++
			cells := strings.Split(strings.TrimSuffix(bars.ReplaceAllString(line, "|"), "|"), "|")
			switch {
			case f.path != "ARCHITECTURE.md" || cells[0] != "" || len(cells) < 2:
				inside = false
			case strings.EqualFold(strings.Join(cells, "|"), "|package|may import"):
				inside = true
			case !inside || strings.Trim(strings.Join(cells, ""), "-:") == "":
			case len(cells) > 3:
				problems = append(problems, fmt.Sprintf("%s:%d: a row of %d cells, expected 2", f.path, number, len(cells)-1))
			default:
				isGap := func(c rune) bool { return strings.ContainsRune(" ,`", c) }
				for _, name := range append(strings.FieldsFunc(strings.Join(cells[2:], ""), isGap), "") {
					table = append(table, &entry{row: cells[1], name: name, line: number})
				}
			}
		}
	}
	return table, problems
}

// row returns the most specific row for a folder, or "".
func (table importTable) row(dir string) (best string) {
	for _, e := range table {
		if under(dir, e.row) && len(e.row) > len(best) {
			best = e.row
		}
	}
	return best
}

// uses reports whether packages of a row may import a name, and marks the entries that allow it.
func (table importTable) uses(row, name string) (allowed bool) {
	local, ours := strings.CutPrefix(name, module+"/")
	target := table.row(local)
	for _, e := range table {
		if e.row == row && (ours && target != "" && (e.name == target || e.name == module+"/...") ||
			!ours && under(name, e.name)) {
			e.used, allowed = true, true
		}
	}
	return allowed || ours && target == row || name != "" && isStandard(name)
}

// importProblems holds the imports of every file that is no test against the table of the tree's ARCHITECTURE.md, and
// the table against the imports.
func importProblems(t *tree) []string {
	table, problems := readTable(t)
	last := ""
	for _, f := range t.code {
		if !table.uses(table.row(f.dir), "") && f.dir != last {
			last = f.dir
			problems = append(problems, t.at(f.ast.Package,
				"package %s has no row in the table of ARCHITECTURE.md, expected one for it or a folder above", f.dir))
		}
	}
	for _, i := range t.imports {
		row := table.row(i.by.dir)
		if row == "" || table.uses(row, i.name) {
			continue
		}
		allowed := "the standard library"
		for _, e := range table {
			if e.row == row && e.name != "" {
				allowed += ", " + e.name
			}
		}
		problems = append(problems, t.at(i.pos, "%s imports %s; row %s of ARCHITECTURE.md allows: %s",
			i.by.dir, i.name, row, allowed))
	}
	for _, e := range table {
		what := "allows " + e.name + ", expected an import of it"
		if e.name == "" {
			what = "is about no package, expected one"
		}
		if !e.used {
			problems = append(problems, fmt.Sprintf("ARCHITECTURE.md:%d: row %s %s", e.line, e.row, what))
		}
	}
	return problems
}

// thirdPartyProblems keeps libraries in their homes.
func thirdPartyProblems(t *tree) (problems []string) {
	for _, i := range t.imports {
		for library, home := range homes {
			if under(i.name, library) && !under(i.by.path, home) {
				problems = append(problems, t.at(i.pos, "import of %s, expected only in %s", i.name, home))
			}
		}
	}
	return problems
}

// connectionProblems keeps go-zookeeper's connection, which is a network and goroutines, in two packages. The one line
// that shows that it is a recipes.Conn may name its type.
func connectionProblems(t *tree) (problems []string) {
	const assertion = "var _ Conn = (*zk.Conn)(nil)"
	names := []string{zkPath + ".Conn", zkPath + ".Connect", zkPath + ".ConnectWithDialer"}
	asserted := false
	for _, i := range t.imports {
		if under(i.by.dir, zkHome, zkTest) || i.name != zkPath {
			continue
		}
		info, trouble := t.check(i.by)
		problems = append(problems, trouble...)
		for n := range ast.Preorder(i.by.ast) {
			id, ok := n.(*ast.Ident)
			if !ok || info.Uses[id] == nil || !slices.Contains(names, vet.FullName(info.Uses[id])) {
				continue
			}
			line := strings.Split(i.by.body, "\n")[t.fset.PositionFor(id.Pos(), false).Line-1]
			if i.by.dir == "recipes" && !asserted && line == assertion {
				asserted = true
				continue
			}
			problems = append(problems, t.at(id.Pos(), "use of zk.%s, expected only below %s and %s, and once in recipes as %q",
				id.Name, zkHome, zkTest, assertion))
		}
	}
	return problems
}

// What tests of users import needs nothing of these folders, and no other modules: our scenarios, mutants, plots,
// browsers, servers and command lines are not a part of it.
var (
	testsImport = []string{"scenarios"}
	notForTests = []string{"scenarios/catalog", "scenarios/simrun", "recipes/live", "internal/ensemble",
		"internal/mutants", "internal/plots", "internal/conform"}
	modulesForTests = []string{zkPath, "github.com/anishathalye/porcupine"}
)

// reachProblems follows the imports from what tests import.
func reachProblems(t *tree) (problems []string) {
	reached := slices.Clone(testsImport)
	for at := 0; at < len(reached); at++ {
		for _, i := range t.imports {
			local, ours := strings.CutPrefix(i.name, module+"/")
			switch {
			case i.by.dir != reached[at]:
			case under(local, notForTests...) || !ours && !isStandard(i.name) && !under(i.name, modulesForTests...):
				problems = append(problems, t.at(i.pos, "tests of users import %s, and with it %s and %s, expected less",
					reached[0], i.by.dir, i.name))
			case ours && !slices.Contains(reached, local):
				reached = append(reached, local)
			}
		}
	}
	return problems
}
