package zksim_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Limits in lines: from func to the closing brace, and of whole files.
const (
	maxFunc     = 70
	maxFile     = 500
	maxTestFile = 800
)

// sizeExceptions is what is longer than its limit and why, by "path/file.go" for
// a file and "path/file.go Type.Method" or "path/file.go Func" for a function,
// with the present number of lines. The test keeps the numbers from growing and
// asks for a lower one, or none, as soon as that is possible.
var sizeExceptions = map[string]int{}

// sizeProblems measures every file and function, tests included.
func sizeProblems(t *tree, exceptions map[string]int) []string {
	var problems []string
	unused := maps.Clone(exceptions)
	measure := func(where, name string, lines, limit int) {
		allowed, excepted := unused[name]
		delete(unused, name)
		switch {
		case excepted && lines <= limit:
			problems = append(problems, fmt.Sprintf("%s has %d lines, expected its exception to be removed", where, lines))
		case excepted && lines < allowed:
			problems = append(problems, fmt.Sprintf("%s is down to %d lines, expected its exception of %d to follow", where, lines, allowed))
		case excepted && lines > allowed:
			problems = append(problems, fmt.Sprintf("%s has grown to %d lines, expected at most its exception of %d", where, lines, allowed))
		case !excepted && lines > limit:
			problems = append(problems, fmt.Sprintf("%s has %d lines, expected at most %d", where, lines, limit))
		}
	}
	for _, p := range t.packages {
		for _, f := range p.files {
			limit := maxFile
			if f.test {
				limit = maxTestFile
			}
			measure(f.path+":1: file", f.path, strings.Count(string(f.code), "\n"), limit)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				name := ""
				switch n := n.(type) {
				case *ast.FuncDecl:
					name = funcName(n)
				case *ast.FuncLit:
					name = "func literal"
				default:
					return true
				}
				lines := t.fset.PositionFor(n.End(), false).Line - t.fset.PositionFor(funcPos(n), false).Line + 1
				measure(t.at(funcPos(n), "%s", name), f.path+" "+name, lines, maxFunc)
				return false // what is inside is shorter
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		problems = append(problems, fmt.Sprintf("sizeExceptions names %q, which does not exist, expected it to be removed", name))
	}
	return problems
}

// funcPos leaves out the doc comment.
func funcPos(n ast.Node) token.Pos {
	if d, ok := n.(*ast.FuncDecl); ok {
		return d.Type.Pos()
	}
	return n.Pos()
}

// funcName is Func or Type.Method.
func funcName(d *ast.FuncDecl) string {
	if receiver := receiverName(d); receiver != "" {
		return receiver + "." + d.Name.Name
	}
	return d.Name.Name
}

func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.ParenExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// nameProblems refuses package names that say nothing, as package or folder.
func nameProblems(t *tree) []string {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc"}
	var problems []string
	for _, p := range t.packages {
		for _, f := range p.files {
			name := strings.TrimSuffix(f.ast.Name.Name, "_test")
			if slices.Contains(vague, name) || slices.Contains(vague, path.Base(p.dir)) {
				problems = append(problems, t.at(f.ast.Package, "package %s in folder %s, expected a name that says what it is for", name, p.dir))
			}
		}
	}
	return problems
}

// docProblems asks for a comment on every package and, outside of cmd, on
// everything that it exports.
func docProblems(t *tree) []string {
	var problems []string
	for _, p := range t.packages {
		files := p.product()
		if len(files) == 0 {
			continue
		}
		if !slices.ContainsFunc(files, func(f *source) bool { return f.ast.Doc.Text() != "" }) {
			problems = append(problems, t.at(files[0].ast.Package, "package %s has no comment, expected what it is for and must not know", p.dir))
		}
		if under(p.dir, "cmd") {
			continue
		}
		for _, f := range files {
			for _, decl := range f.ast.Decls {
				for _, id := range undocumented(decl) {
					problems = append(problems, t.at(id.Pos(), "exported %s has no comment, expected one", id.Name))
				}
			}
		}
	}
	return problems
}

// undocumented returns the exported names of a declaration that have no comment.
// One comment is enough for a group of constants or variables.
func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := receiverName(d)
		if d.Name.IsExported() && d.Doc.Text() == "" && (receiver == "" || ast.IsExported(receiver)) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				grouped := d.Lparen.IsValid()
				if s.Name.IsExported() && s.Doc.Text() == "" && (grouped || d.Doc.Text() == "") {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc.Text()+s.Doc.Text()+s.Comment.Text() != "" {
					continue
				}
				for _, id := range s.Names {
					if id.IsExported() {
						names = append(names, id)
					}
				}
			}
		}
		return names
	}
	return nil
}

// The patterns are put together so that this file does not match them.
var (
	machinePath = regexp.MustCompile(`(?:^|[^\w.}-])(/(?:work|root|home)/)`)
	undone      = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX\b)`)
	sharedPath  = regexp.MustCompile(`(\.\./` + `shared|\bshared` + `/)`)
)

// wordingProblems finds paths of one machine and marks of undone work.
func wordingProblems(t *tree) []string {
	var problems []string
	for _, f := range t.texts {
		problems = append(problems, f.find(machinePath, "a path of one machine, expected a relative path")...)
		problems = append(problems, f.find(undone, "a mark of undone work, expected it done or in the issue")...)
	}
	return problems
}

// sharedProblems finds dependence on the folder beside the checkout, which a
// clone does not have.
func sharedProblems(t *tree) []string {
	var problems []string
	for _, f := range t.texts {
		if path.Ext(f.path) == ".go" || path.Base(f.path) == "go.mod" {
			problems = append(problems, f.find(sharedPath, "a path outside of the checkout, expected what is needed to be in it")...)
		}
	}
	return problems
}

// find reports the lines that match.
func (f text) find(pattern *regexp.Regexp, message string) []string {
	if !pattern.MatchString(f.body) {
		return nil
	}
	var problems []string
	number := 0
	for line := range strings.Lines(f.body) {
		number++
		if m := pattern.FindStringSubmatch(line); m != nil {
			problems = append(problems, fmt.Sprintf("%s:%d: %q is %s", f.path, number, m[1], message))
		}
	}
	return problems
}
