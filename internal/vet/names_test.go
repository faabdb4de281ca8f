package vet

import (
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTheNamesExist looks every name up in its package: a misspelled one would never
// be found in any code.
func TestTheNamesExist(t *testing.T) {
	var names []string
	for _, list := range [][]string{
		slices.Collect(maps.Keys(bannedNames)), slices.Collect(maps.Keys(iterators)), consumers, sorters, marks,
	} {
		names = append(names, list...)
	}
	byPath := map[string][]string{}
	for _, name := range names {
		path := strings.TrimLeft(name, "(*")
		slash := strings.LastIndexByte(path, '/') + 1
		path = path[:slash+strings.IndexByte(path[slash:], '.')]
		byPath[path] = append(byPath[path], name)
	}
	config := &packages.Config{Env: append(os.Environ(), "GOOS=linux"), // which has all of them
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports |
			packages.NeedDeps | packages.NeedExportFile}
	loaded, err := packages.Load(config, append(slices.Sorted(maps.Keys(byPath)), purePackages...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Error(e)
		}
		for _, name := range byPath[p.PkgPath] {
			if !exists(p.Types, name) {
				t.Errorf("there is no %s", name)
			}
		}
		delete(byPath, p.PkgPath)
	}
	if len(byPath) > 0 {
		t.Errorf("not loaded: %v", byPath)
	}
}

// exists reports whether a package has what FullName calls name.
func exists(p *types.Package, name string) bool {
	receiver, method, ok := strings.Cut(strings.TrimPrefix(name, "("), ").")
	if !ok {
		return p.Scope().Lookup(strings.TrimPrefix(name, p.Path()+".")) != nil
	}
	o := p.Scope().Lookup(strings.TrimPrefix(strings.TrimPrefix(receiver, "*"), p.Path()+"."))
	if o == nil {
		return false
	}
	var t types.Type = o.Type()
	if receiver[0] == '*' {
		t = types.NewPointer(t)
	}
	f, _, _ := types.LookupFieldOrMethod(t, false, p, method)
	m, ok := f.(*types.Func)
	return ok && m.FullName() == name
}
