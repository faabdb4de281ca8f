package zksim_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where the three restricted libraries and go-zookeeper's connection belong,
// whatever the table says.
const (
	porcupinePath = "github.com/anishathalye/porcupine"
	plotPath      = "gonum.org/v1/plot"
	plotHome      = "reports/plots"
	rapidPath     = "pgregory.net/rapid"
	zkPath        = "github.com/go-zookeeper/zk"
	zkHome        = "recipes/live"
	examplesHome  = "examples" // modules of their own, which import what this one does not
)

// importTable is the table of ARCHITECTURE.md that starts with the header
//
//	| package | may import |
//
// A row is about the folder it names and the folders below it that have no row
// of their own; packages of one row may import each other. The second column
// lists, separated by commas, other rows, modules of third parties, and
// zksim/... for every package of this module. The standard library goes without
// saying.
type importTable map[string][]string

const everything = module + "/..."

func loadTable(root string) (importTable, error) {
	doc, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		return nil, fmt.Errorf("ARCHITECTURE.md holds the rules of this test: %w", err)
	}
	return parseTable(string(doc))
}

// parseTable finds and reads the table, and refuses one that it would have to
// guess about.
func parseTable(markdown string) (importTable, error) {
	var table importTable
	inside := false
	number := 0
	for line := range strings.Lines(markdown) {
		number++
		cells := splitRow(line)
		switch {
		case len(cells) == 2 && strings.EqualFold(cells[0], "package") && strings.EqualFold(cells[1], "may import"):
			if table != nil {
				return nil, fmt.Errorf("ARCHITECTURE.md:%d: a second table | package | may import |, expected one", number)
			}
			table, inside = importTable{}, true
		case !inside:
		case cells == nil:
			inside = false
		case len(cells) != 2:
			return nil, fmt.Errorf("ARCHITECTURE.md:%d: a row of %d cells, expected 2", number, len(cells))
		case strings.Trim(cells[0]+cells[1], "-:") == "": // the line below the header
		default:
			if _, twice := table[cells[0]]; twice {
				return nil, fmt.Errorf("ARCHITECTURE.md:%d: a second row for %s", number, cells[0])
			}
			table[cells[0]] = splitCell(cells[1])
		}
	}
	if len(table) == 0 {
		return nil, errors.New("ARCHITECTURE.md: no table with the header | package | may import |")
	}
	return table, table.validate()
}

// splitRow returns the cells of a row of a Markdown table, without backticks, or
// nil if the line is none.
func splitRow(line string) []string {
	line = strings.TrimSpace(strings.ReplaceAll(line, "`", ""))
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(line[1:], "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

func splitCell(cell string) []string {
	var names []string
	for name := range strings.SplitSeq(cell, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// validate finds names that match nothing, which a typing error would be.
func (table importTable) validate() error {
	var errs []error
	for row, names := range table {
		for _, name := range names {
			if _, ok := table[name]; !ok && name != everything && isStandard(name) {
				errs = append(errs, fmt.Errorf("ARCHITECTURE.md: row %s: %q is neither a row of the table nor a module nor %s",
					row, name, everything))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// row returns the most specific row for a folder, or "".
func (table importTable) row(dir string) string {
	best := ""
	for row := range table {
		if under(dir, row) && len(row) > len(best) {
			best = row
		}
	}
	return best
}

func (table importTable) allows(row, name string) bool {
	if isStandard(name) {
		return true
	}
	if !under(name, module) {
		return under(name, table[row]...)
	}
	target := table.row(strings.TrimPrefix(name, module+"/"))
	return target != "" && (target == row || slices.Contains(table[row], target) || slices.Contains(table[row], everything))
}

// importProblems holds the imports of every file that is no test against the
// table of the tree's ARCHITECTURE.md.
func importProblems(t *tree) []string {
	table, err := loadTable(t.root)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, p := range t.packages {
		row := table.row(p.dir)
		for i, f := range p.product() {
			if row == "" {
				if i == 0 {
					problems = append(problems, t.at(f.ast.Package,
						"package %s has no row in the table of ARCHITECTURE.md, expected one for it or a folder above", p.dir))
				}
				continue
			}
			for _, spec := range f.ast.Imports {
				if name := importPath(spec); !table.allows(row, name) {
					problems = append(problems, t.at(spec.Pos(), "%s imports %s; row %s of ARCHITECTURE.md allows: %s",
						p.dir, name, row, strings.Join(append([]string{"the standard library"}, table[row]...), ", ")))
				}
			}
		}
	}
	return problems
}

// thirdPartyProblems keeps three libraries replaceable: porcupine in one file,
// plot in one folder, and rapid, which registers flags, in tests.
func thirdPartyProblems(t *tree) []string {
	var problems []string
	var judge *source
	for _, p := range t.packages {
		for _, f := range p.product() {
			for _, spec := range f.ast.Imports {
				switch name := importPath(spec); {
				case under(name, porcupinePath) && judge == nil:
					judge = f
				case under(name, porcupinePath):
					problems = append(problems, t.at(spec.Pos(), "import of porcupine, expected in one file only and %s has it", judge.path))
				case under(name, plotPath) && !under(p.dir, plotHome):
					problems = append(problems, t.at(spec.Pos(), "import of %s, expected only below %s", name, plotHome))
				case under(name, rapidPath):
					problems = append(problems, t.at(spec.Pos(), "import of rapid, expected only in _test.go files"))
				}
			}
		}
	}
	return problems
}

var connectionNames = []string{zkPath + ".Conn", zkPath + ".Connect", zkPath + ".ConnectWithDialer"}

// connectionProblems keeps go-zookeeper's connection, which is a network and
// goroutines, in one package. The one line that shows that it is a recipes.Conn
// may name its type.
func connectionProblems(t *tree) []string {
	const assertion = "var _ Conn = (*zk.Conn)(nil)"
	var problems []string
	asserted := ""
	for _, p := range t.packages {
		if under(p.dir, zkHome, examplesHome) || !p.imports(zkPath) {
			continue
		}
		c := t.check(p)
		if c.err != nil {
			problems = append(problems, fmt.Sprintf("%v (%s must type-check before its use of zk can be judged)", c.err, p.dir))
		}
		for _, f := range p.product() {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				obj := c.info.Uses[id]
				if obj == nil || !slices.Contains(connectionNames, fullName(obj)) {
					return true
				}
				if p.dir == "recipes" && asserted == "" && t.line(f, id.Pos()) == assertion {
					asserted = f.path
					return true
				}
				problems = append(problems, t.at(id.Pos(), "use of zk.%s, expected only below %s and once in recipes as %q",
					obj.Name(), zkHome, assertion))
				return true
			})
		}
	}
	return problems
}

func (p *pkg) imports(name string) bool {
	return slices.ContainsFunc(p.product(), func(f *source) bool {
		return slices.ContainsFunc(f.ast.Imports, func(spec *ast.ImportSpec) bool { return importPath(spec) == name })
	})
}

// line returns the source line at pos, without its indentation.
func (t *tree) line(f *source, pos token.Pos) string {
	number := t.fset.PositionFor(pos, false).Line
	return strings.TrimSpace(strings.Split(string(f.code), "\n")[number-1])
}
