package catalog

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// place is one in package recipes that scenarios must pass: the begin of an exported function or method, or the mention
// of an exported error that is returned, or becomes what is returned.
type place struct {
	at, end token.Position // the same: before a statement; else an expression
	unless  string         // what is wrong unless a scenario passes it
}

func (p place) id() string { return fmt.Sprintf("%s:%d", filepath.Base(p.at.Filename), p.at.Offset) }

// placesOf returns the places of a file.
func placesOf(file recipeFile, errs map[string]bool) (all []place) {
	for _, d := range file.syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		if f.Name.IsExported() && len(f.Body.List) > 0 {
			at := file.set.Position(f.Body.List[0].Pos())
			all = append(all, place{at, at, "no scenario calls " + receiver(f) + f.Name.Name})
		}
		for _, x := range makesErrors(f.Body, errs) {
			all = append(all, place{file.set.Position(x.Pos()), file.set.Position(x.End()),
				fmt.Sprintf("no scenario comes by where %s%s makes %s", receiver(f), f.Name.Name, types.ExprString(x))})
		}
	}
	return all
}

// recipeFile is a file of package recipes.
type recipeFile struct {
	set    *token.FileSet
	syntax *ast.File
}

func (f recipeFile) offset(p token.Pos) int { return f.set.Position(p).Offset }

func recipeFiles(t *testing.T) map[string]recipeFile {
	t.Helper()
	paths, err := filepath.Glob("../../recipes/*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]recipeFile{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = recipeFile{set, syntax}
	}
	return all
}

// exportedErrors returns the names of the errors that the package declares.
func exportedErrors(files map[string]recipeFile) map[string]bool {
	all := map[string]bool{}
	for _, f := range files {
		for _, d := range f.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") {
						all[name.Name] = true
					}
				}
			}
		}
	}
	return all
}

// makesErrors returns where an exported error, or zk.ErrInvalidPath or ErrBadArguments, is returned or assigned.
func makesErrors(body ast.Node, errs map[string]bool) (all []ast.Expr) {
	look := func(list []ast.Expr) {
		for _, e := range list {
			ast.Inspect(e, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.BinaryExpr, *ast.FuncLit:
					return false // a comparison; code of its own
				case *ast.SelectorExpr:
					if x.Sel.Name == "ErrInvalidPath" || x.Sel.Name == "ErrBadArguments" {
						all = append(all, x)
					}
				case *ast.Ident:
					if errs[x.Name] {
						all = append(all, x)
					}
				}
				return true
			})
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ReturnStmt:
			look(x.Results)
		case *ast.AssignStmt:
			look(x.Rhs)
		}
		return true
	})
	return all
}

// receiver returns the type of a method and a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	return typeName(f.Recv.List[0].Type)
}

// typeName returns the name of a type and a dot, without pointers and type parameters.
func typeName(x ast.Expr) string {
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
			continue
		case *ast.IndexExpr:
			x = y.X
			continue
		case *ast.Ident:
			return y.Name + "."
		}
		return ""
	}
}
