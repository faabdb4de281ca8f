package zksim_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"

	"zksim/internal/vet"
)

// Where the restricted libraries and go-zookeeper's connection belong, whatever the table says.
const (
	porcupinePath = "github.com/anishathalye/porcupine"
	plotPath      = "gonum.org/v1/plot"
	plotHome      = "reports/plots"
	rapidPath     = "pgregory.net/rapid"
	zkPath        = "github.com/go-zookeeper/zk"
	zkHome        = "recipes/live"
)

// everything is each package of this module, in the table.
const everything = module + "/..."

// importTable is the table of ARCHITECTURE.md that starts with the header
//
//	| package | may import |
//
// Rows one after the other about the same package are one row in the table.
type importTable []*row

// row is about the folder it names and the folders below it that have no row of their own.
type row struct {
	name string
	line int
	may  []*permission
	used bool
}

// permission is to import another row, a module of a third party, or everything.
type permission struct {
	name string
	line int
	used bool
}

var bars = regexp.MustCompile(`\s*\|\s*`)

func isComma(c rune) bool { return c == ',' || c == ' ' }

// readTable finds and reads the table of a document, with the problems that it has by itself.
func readTable(f *file) (table importTable, problems []string) {
	inside, tables, number := false, 0, 0
	for line := range strings.Lines(f.body) {
		number++
		complain := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", f.path, number, fmt.Sprintf(format, args...)))
		}
		line = bars.ReplaceAllString(strings.ReplaceAll(line, "`", ""), "|")
		cells := strings.Split(strings.Trim(line, "|"), "|")
		switch {
		case strings.EqualFold(strings.Join(cells, "|"), "package|may import"):
			if tables++; tables > 1 {
				complain("a second table | package | may import |, expected one")
			}
			inside = true
		case !inside:
		case !strings.HasPrefix(line, "|"):
			inside = false
		case strings.Trim(line, "|:-") == "": // the line below the header
		case len(cells) > 2:
			complain("a row of %d cells, expected 2", len(cells))
		default:
			i := slices.IndexFunc(table, func(r *row) bool { return r.name == cells[0] })
			if i < 0 {
				i, table = len(table), append(table, &row{name: cells[0], line: number})
			} else if i < len(table)-1 {
				complain("a second row for %s, expected it below the first", cells[0])
			}
			for _, name := range strings.FieldsFunc(strings.Join(cells[1:], ""), isComma) {
				table[i].may = append(table[i].may, &permission{name: name, line: number})
			}
		}
	}
	if len(table) == 0 {
		problems = append(problems, f.path+": no table with the header | package | may import |")
	}
	return table, append(problems, table.strangers(f.path)...)
}

// strangers finds names that match nothing, which a typing error would be.
func (table importTable) strangers(document string) (problems []string) {
	for _, r := range table {
		for _, may := range r.may {
			known := slices.ContainsFunc(table, func(r *row) bool { return r.name == may.name })
			if !known && may.name != everything && isStandard(may.name) {
				problems = append(problems, fmt.Sprintf("%s:%d: row %s: %q is neither a row of the table nor a module nor %s",
					document, may.line, r.name, may.name, everything))
			}
		}
	}
	return problems
}

// row returns the most specific row for a folder, or nil.
func (table importTable) row(dir string) (best *row) {
	for _, r := range table {
		if under(dir, r.name) && (best == nil || len(r.name) > len(best.name)) {
			best = r
		}
	}
	return best
}

// allows reports whether packages of a row may import a name, and marks what allows it as used.
func (table importTable) allows(r *row, name string) bool {
	local, ours := strings.CutPrefix(name, module+"/")
	target := table.row(local)
	if isStandard(name) || ours && target == r {
		return true
	}
	allowed := false
	for _, may := range r.may {
		if ours && target != nil && (may.name == target.name || may.name == everything) || !ours && under(name, may.name) {
			may.used, allowed = true, true
		}
	}
	return allowed
}

func (r *row) String() string {
	names := []string{"the standard library"}
	for _, may := range r.may {
		names = append(names, may.name)
	}
	return strings.Join(names, ", ")
}

// tableProblems reads every document as if it had the table.
func tableProblems(t *tree) (problems []string) {
	for _, f := range t.files {
		if path.Ext(f.path) == ".md" {
			_, found := readTable(f)
			problems = append(problems, found...)
		}
	}
	return problems
}

// importProblems holds the imports of every file that is no test against the table of the tree's ARCHITECTURE.md, and
// the table against the imports.
func importProblems(t *tree) []string {
	at := slices.IndexFunc(t.files, func(f *file) bool { return f.path == "ARCHITECTURE.md" })
	if at < 0 {
		return []string{"ARCHITECTURE.md: no such file, expected the rules of this test"}
	}
	table, problems := readTable(t.files[at])
	for _, p := range t.packages {
		if r := table.row(p.dir); r != nil {
			r.used = true
		} else if len(p.files) > 0 {
			problems = append(problems, t.at(p.files[0].ast.Package,
				"package %s has no row in the table of ARCHITECTURE.md, expected one for it or a folder above", p.dir))
		}
	}
	for p, spec := range t.imports() {
		if r := table.row(p.dir); r != nil && !table.allows(r, importPath(spec)) {
			problems = append(problems, t.at(spec.Pos(), "%s imports %s; row %s of ARCHITECTURE.md allows: %s",
				p.dir, importPath(spec), r.name, r))
		}
	}
	for _, r := range table {
		if !r.used {
			problems = append(problems, fmt.Sprintf("ARCHITECTURE.md:%d: row %s is about no package, expected one", r.line, r.name))
			continue
		}
		for _, may := range r.may {
			if !may.used {
				problems = append(problems, fmt.Sprintf("ARCHITECTURE.md:%d: row %s allows %s, expected an import of it",
					may.line, r.name, may.name))
			}
		}
	}
	return problems
}

// thirdPartyProblems keeps three libraries replaceable: porcupine in one file, plot in one folder, and rapid, which
// registers flags, in tests.
func thirdPartyProblems(t *tree) (problems []string) {
	judge := ""
	for p, spec := range t.imports() {
		switch name := importPath(spec); {
		case under(name, porcupinePath) && judge == "":
			judge = t.fset.Position(spec.Pos()).Filename
		case under(name, porcupinePath):
			problems = append(problems, t.at(spec.Pos(), "import of porcupine, expected in one file only and %s has it", judge))
		case under(name, plotPath) && !under(p.dir, plotHome):
			problems = append(problems, t.at(spec.Pos(), "import of %s, expected only below %s", name, plotHome))
		case under(name, rapidPath):
			problems = append(problems, t.at(spec.Pos(), "import of rapid, expected only in _test.go files"))
		}
	}
	return problems
}

// connectionProblems keeps go-zookeeper's connection, which is a network and goroutines, in one package. The one line
// that shows that it is a recipes.Conn may name its type.
func connectionProblems(t *tree) (problems []string) {
	const assertion = "var _ Conn = (*zk.Conn)(nil)"
	names := []string{zkPath + ".Conn", zkPath + ".Connect", zkPath + ".ConnectWithDialer"}
	asserted := false
	for _, p := range t.packages {
		isZK := func(spec *ast.ImportSpec) bool { return importPath(spec) == zkPath }
		imports := func(f *file) bool { return slices.ContainsFunc(f.ast.Imports, isZK) }
		if under(p.dir, zkHome) || !slices.ContainsFunc(p.files, imports) {
			continue
		}
		checked, trouble := t.check(p)
		if trouble != "" {
			problems = append(problems, trouble)
		}
		for _, f := range p.files {
			for id := range ast.Preorder(f.ast) {
				id, ok := id.(*ast.Ident)
				if !ok || checked.TypesInfo.Uses[id] == nil ||
					!slices.Contains(names, vet.FullName(checked.TypesInfo.Uses[id])) {
					continue
				}
				line := strings.Split(f.body, "\n")[t.fset.PositionFor(id.Pos(), false).Line-1]
				if p.dir == "recipes" && !asserted && line == assertion {
					asserted = true
					continue
				}
				problems = append(problems, t.at(id.Pos(),
					"use of zk.%s, expected only below %s and once in recipes as %q", id.Name, zkHome, assertion))
			}
		}
	}
	return problems
}

// testsPackage is what tests of users import. It needs nothing of the folders and no module but these.
const testsPackage = "scenarios"

var (
	notForTests = []string{"scenarios/catalog", "scenarios/ensemble", "scenarios/simrun", "recipes/broken", "recipes/live",
		"reports/plots", "internal/conform"}
	modulesForTests = []string{zkPath, porcupinePath}
)

// reachProblems keeps what tests of users need small: our scenarios, mutants, plots, browsers, servers and command
// lines are not a part of it.
func reachProblems(t *tree) (problems []string) {
	reached := []string{testsPackage}
	for i := 0; i < len(reached); i++ {
		for p, spec := range t.imports() {
			name := importPath(spec)
			local, ours := strings.CutPrefix(name, module+"/")
			switch {
			case p.dir != reached[i]:
			case under(local, notForTests...) || !ours && !isStandard(name) && !under(name, modulesForTests...):
				problems = append(problems, t.at(spec.Pos(), "tests of users import %s, and with it %s and %s, expected less",
					testsPackage, p.dir, name))
			case ours && !slices.Contains(reached, local):
				reached = append(reached, local)
			}
		}
	}
	return problems
}
