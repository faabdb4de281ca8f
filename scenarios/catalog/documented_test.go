package catalog

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// docs are the sentences of the doc comments of what package recipes exports: of types and their methods, and, by the
// names of their types, of constructors, fields and constants. A method of a type that is embedded counts for that.
// Interfaces are left out, which say what recipes need, and errors, of which docs/errors.md is.
type docs struct {
	says map[string][]string // by member
	must map[string]bool     // what must have a line: members, and structs that have methods
}

// documented reads the doc comments. Protocols, and what texts leave out, are no promises, and need no line.
func documented(files map[string]recipeFile) (says map[string][]string, must map[string]bool) {
	d, structs := docs{map[string][]string{}, map[string]bool{}}, map[string]bool{}
	for _, f := range files { // order-free: each declaration by itself
		for _, x := range f.syntax.Decls {
			switch x := x.(type) {
			case *ast.FuncDecl:
				d.function(x)
			case *ast.GenDecl:
				for _, s := range x.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if fields, ok := s.Type.(*ast.StructType); ok && x.Doc != nil {
							structs[s.Name.Name] = true
							d.structure(s.Name, x.Doc, fields)
						}
					case *ast.ValueSpec:
						if x.Tok == token.CONST {
							d.constant(s)
						}
					}
				}
			}
		}
	}
	for member := range d.must { // order-free: each by itself
		if !strings.Contains(member, ".") && !structs[member] {
			delete(d.must, member)
		}
	}
	for _, settled := range []string{"Membership", "QueueItem", "Task"} { // their methods say it all
		delete(d.must, settled)
	}
	return d.says, d.must
}

// add adds what is said of a member, if anything is.
func (d docs) add(member string, says ...*ast.CommentGroup) {
	for _, c := range says {
		if c != nil {
			d.says[member], d.must[member] = append(d.says[member], sentences(c.Text())...), true
		}
	}
}

// function adds a method, or a constructor, which counts for the type that it returns.
func (d docs) function(f *ast.FuncDecl) {
	of := receiver(f)
	switch {
	case !f.Name.IsExported() || of == "hold." || of == "bound.": // these have methods, but none that users call
	case f.Recv != nil:
		d.add(of+f.Name.Name, f.Doc)
		if ast.IsExported(of) {
			d.must[strings.TrimSuffix(of, ".")] = true
		}
	case strings.HasPrefix(f.Name.Name, "New"):
		d.add(typeName(f.Type.Results.List[0].Type)+f.Name.Name, f.Doc)
	}
}

// structure adds a struct and its exported fields.
func (d docs) structure(name *ast.Ident, doc *ast.CommentGroup, fields *ast.StructType) {
	d.says[name.Name] = sentences(doc.Text())
	if !name.IsExported() {
		return
	}
	for _, f := range fields.Fields.List {
		for _, x := range f.Names {
			if x.IsExported() {
				d.add(name.Name+"."+x.Name, f.Doc, f.Comment)
			}
		}
	}
}

// constant adds a constant.
func (d docs) constant(s *ast.ValueSpec) {
	for _, x := range s.Names {
		if x.IsExported() {
			d.add("Constants."+x.Name, s.Doc, s.Comment)
		}
	}
}

var (
	heading     = regexp.MustCompile(`(?m)^# .*$`)
	space       = regexp.MustCompile(`\s+`)
	sentenceEnd = regexp.MustCompile(`[.:]\s+[A-Zf"]`)
)

// sentences splits a doc comment.
func sentences(doc string) (all []string) {
	doc = strings.NewReplacer("[", "", "]", "").Replace(heading.ReplaceAllString(doc, "\n"))
	for _, paragraph := range strings.Split(doc, "\n\n") {
		rest := strings.TrimSpace(space.ReplaceAllString(paragraph, " "))
		for rest != "" {
			at := sentenceEnd.FindStringIndex(rest)
			for at != nil && rest[at[0]] == ':' {
				next := sentenceEnd.FindStringIndex(rest[at[0]+1:])
				if next == nil {
					at = nil
					break
				}
				at = []int{at[0] + 1 + next[0], 0}
			}
			if at == nil {
				all = append(all, rest)
				break
			}
			all = append(all, rest[:at[0]+1])
			rest = strings.TrimSpace(rest[at[0]+1:])
		}
	}
	return all
}
