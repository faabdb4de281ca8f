package vet

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const ignoreMark = "//zksim:ignore"

// ignore is a comment that silences findings in some lines of a file.
type ignore struct {
	pos         token.Pos
	file        string
	first, last int // lines
	used        bool
}

// ignores are the comments of a package; comments for one line come before those for a function or a file.
type ignores []*ignore

// silence reports whether a comment covers pos.
func (all ignores) silence(fset *token.FileSet, pos token.Pos) bool {
	at := fset.PositionFor(pos, false)
	for _, x := range all {
		if x.file == at.Filename && x.first <= at.Line && at.Line <= x.last {
			x.used = true
			return true
		}
	}
	return false
}

// idle returns findings for the comments that have silenced nothing.
func (all ignores) idle() []analysis.Diagnostic {
	var found []analysis.Diagnostic
	for _, x := range all {
		if !x.used {
			found = append(found, analysis.Diagnostic{Pos: x.pos, Message: ignoreMark + " silences nothing; remove it"})
		}
	}
	return found
}

// ignoresOf reads the comments of a package, and reports those that say too little.
func ignoresOf(pass *analysis.Pass) (ignores, []analysis.Diagnostic, error) {
	var lines, functions, files ignores
	var found []analysis.Diagnostic
	for _, f := range pass.Files {
		docs := map[*ast.CommentGroup]ast.Node{f.Doc: f}
		for _, decl := range f.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Doc != nil {
				docs[d.Doc] = d
			}
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				verdict := complain(c.Text)
				if verdict != "" {
					found = append(found, analysis.Diagnostic{Pos: c.Pos(), Message: verdict})
				}
				if !isIgnore(c.Text) {
					continue
				}
				x, err := newIgnore(pass, c, group, docs[group])
				if err != nil {
					return nil, nil, err
				}
				switch docs[group] {
				case nil:
					lines = append(lines, x)
				case f:
					files = append(files, x)
				default:
					functions = append(functions, x)
				}
			}
		}
	}
	return slices.Concat(lines, functions, files), found, nil
}

func isIgnore(text string) bool {
	rest, ok := strings.CutPrefix(text, ignoreMark)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// complain says what is wrong with a comment, or "".
func complain(text string) string {
	switch {
	case isIgnore(text):
		if reason, _, _ := strings.Cut(text[len(ignoreMark):], "//"); strings.TrimSpace(reason) == "" {
			return ignoreMark + " without a reason; say after it why the run stays the same"
		}
	case strings.HasPrefix(text, "//zksim:"):
		name, _, _ := strings.Cut(text, " ")
		return fmt.Sprintf("%s is no directive; write %s and a reason", name, ignoreMark)
	case strings.HasPrefix(text, "// zksim:ignore"):
		return fmt.Sprintf("a directive has no space after the slashes; write %s and a reason", ignoreMark)
	}
	return ""
}

// newIgnore finds what a comment covers: the function or the file that it belongs to, its own line, or the line below
// it.
func newIgnore(pass *analysis.Pass, c *ast.Comment, group *ast.CommentGroup, of ast.Node) (*ignore, error) {
	line := func(pos token.Pos) int { return pass.Fset.PositionFor(pos, false).Line }
	at := pass.Fset.PositionFor(c.Pos(), false)
	x := &ignore{pos: c.Pos(), file: at.Filename, first: at.Line, last: at.Line}
	if of != nil {
		x.first, x.last = line(of.Pos()), line(of.End())
		return x, nil
	}
	code, err := pass.ReadFile(at.Filename)
	if err != nil {
		return nil, err
	}
	if begin := at.Offset - (at.Column - 1); len(bytes.TrimSpace(code[begin:at.Offset])) == 0 {
		x.first = line(group.End()) + 1
		x.last = x.first
	}
	return x, nil
}
