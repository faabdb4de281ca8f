package zksim_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sizes are limits in lines: from func to the closing brace, and of whole files.
type sizes struct{ function, file, test int }

// problems measures every file and function, tests included.
func (limits sizes) problems(t *tree) (problems []string) {
	measure := func(what string, lines, limit int) {
		if lines > limit {
			problems = append(problems, fmt.Sprintf("%s has %d lines, expected at most %d", what, lines, limit))
		}
	}
	for _, f := range slices.Concat(t.code, t.tests) {
		limit := limits.file
		if slices.Contains(t.tests, f) {
			limit = limits.test
		}
		measure(f.path+":1: file", strings.Count(f.body, "\n"), limit)
		for n := range ast.Preorder(f.ast) {
			name, begin := "func literal", n
			if d, ok := n.(*ast.FuncDecl); ok {
				name, begin = strings.TrimPrefix(receiverName(d)+"."+d.Name.Name, "."), d.Type // below the comment
			} else if _, ok := n.(*ast.FuncLit); !ok {
				continue
			}
			lines := t.fset.PositionFor(n.End(), false).Line - t.fset.PositionFor(begin.Pos(), false).Line + 1
			measure(t.at(begin.Pos(), "%s", name), lines, limits.function)
		}
	}
	return problems
}

func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(strings.Trim(types.ExprString(d.Recv.List[0].Type), "*()"), "[")
	return name
}

// nameProblems refuses package names that say nothing, as package or folder.
func nameProblems(t *tree) (problems []string) {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc"}
	for _, f := range slices.Concat(t.code, t.tests) {
		name := strings.TrimSuffix(f.ast.Name.Name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(f.dir)) {
			problems = append(problems, t.at(f.ast.Package,
				"package %s in folder %s, expected a name that says what it is for", name, f.dir))
		}
	}
	return problems
}

// docProblems asks for a comment on every package and, outside of cmd, on everything that it exports.
func docProblems(t *tree) (problems []string) {
	for i, f := range t.code {
		commented := func(g *file) bool { return g.dir == f.dir && g.ast.Doc.Text() != "" }
		if (i == 0 || t.code[i-1].dir != f.dir) && !slices.ContainsFunc(t.code, commented) {
			problems = append(problems, t.at(f.ast.Package,
				"package %s has no comment, expected what it is for and must not know", f.dir))
		}
		for _, decl := range f.ast.Decls {
			for _, id := range undocumented(decl) {
				if id.IsExported() && !under(f.dir, "cmd") {
					problems = append(problems, t.at(id.Pos(), "exported %s has no comment, expected one", id.Name))
				}
			}
		}
	}
	return problems
}

// undocumented returns the names of a declaration that have no comment. One comment is enough for a group of constants
// or variables.
func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if receiver := receiverName(d); d.Doc.Text() == "" && (receiver == "" || ast.IsExported(receiver)) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc.Text() == "" && (d.Lparen.IsValid() || d.Doc.Text() == "") {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc.Text()+s.Doc.Text()+s.Comment.Text() == "" {
					names = append(names, s.Names...)
				}
			}
		}
	}
	return names
}

// The patterns are put together so that this file does not match them.
var (
	machinePath = regexp.MustCompile(`(?:^|[^\w.}-])(/(?:work|root|home)/)`)
	undone      = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX\b)`)
	sharedPath  = regexp.MustCompile(`(\.\./` + `shared|\bshared` + `/)`)
)

// wordingProblems finds paths of one machine, marks of undone work, and in code dependence on the folder beside the
// checkout, which a clone does not have.
func wordingProblems(t *tree) (problems []string) {
	for _, f := range t.files {
		find := func(pattern *regexp.Regexp, message string) {
			for _, m := range pattern.FindAllStringSubmatchIndex(f.body, -1) {
				problems = append(problems, fmt.Sprintf("%s:%d: %q is %s", f.path, 1+strings.Count(f.body[:m[2]], "\n"),
					f.body[m[2]:m[3]], message))
			}
		}
		find(machinePath, "a path of one machine, expected a relative path")
		find(undone, "a mark of undone work, expected it done or in the issue")
		if path.Ext(f.path) == ".go" || path.Base(f.path) == "go.mod" {
			find(sharedPath, "a path outside of the checkout, expected what is needed to be in it")
		}
	}
	return problems
}
