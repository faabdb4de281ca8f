package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// scan looks for findings in the files of a package.
type scan struct {
	pass     *analysis.Pass
	info     *types.Info
	holder   holder
	units    []*unit // in the order of the source
	byObject map[types.Object]*unit
	stack    []place
	comms    map[ast.Node]bool // sends and receives that are cases of a select
	rooms    map[types.Object]*room
}

// newScan returns a scan that is ready for the files of a package.
func newScan(pass *analysis.Pass) *scan {
	s := &scan{
		pass:     pass,
		info:     pass.TypesInfo,
		holder:   holder{pkg: pass.Pkg},
		byObject: map[types.Object]*unit{},
		comms:    map[ast.Node]bool{},
		rooms:    map[types.Object]*room{},
	}
	for _, f := range pass.Files {
		s.findRooms(f)
	}
	return s
}

// place is a node on the path to the current one, and the unit that it belongs to.
type place struct {
	node ast.Node
	unit *unit
}

// file scans the declarations of a file.
func (s *scan) file(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			u := s.unit(s.info.Defs[d.Name])
			if fn, ok := u.object.(*types.Func); ok {
				u.name = shortName(fn)
				u.simulated = s.holder.simulates(fn.Signature())
			}
			s.walk(d, u)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					s.variables(v)
				}
			}
		}
	}
}

// variables scans the initial values of package variables.
func (s *scan) variables(v *ast.ValueSpec) {
	for i, value := range v.Values {
		u := s.unit(s.info.Defs[v.Names[i]])
		u.name = v.Names[i].Name
		if len(v.Values) < len(v.Names) { // one call with several results
			for _, name := range v.Names {
				s.byObject[s.info.Defs[name]] = u
			}
		}
		s.walk(value, u)
	}
}

func (s *scan) unit(o types.Object) *unit {
	u := &unit{object: o}
	s.units = append(s.units, u)
	if o != nil {
		s.byObject[o] = u
	}
	return u
}

func (s *scan) walk(n ast.Node, u *unit) {
	s.stack = append(s.stack[:0], place{nil, u})
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			s.stack = s.stack[:len(s.stack)-1]
			return true
		}
		u := s.stack[len(s.stack)-1].unit
		if lit, ok := n.(*ast.FuncLit); ok && !u.simulated && s.simulates(lit) {
			name := u.name
			u = s.unit(nil)
			u.name, u.simulated = "the function literal in "+name, true
		}
		s.stack = append(s.stack, place{n, u})
		s.visit(n)
		return true
	})
}

func (s *scan) simulates(lit *ast.FuncLit) bool {
	sig, ok := s.info.TypeOf(lit).(*types.Signature)
	return ok && s.holder.simulates(sig)
}

func (s *scan) find(pos token.Pos, what, why string) {
	s.add(finding{pos: pos, what: what, why: why})
}

func (s *scan) add(f finding) {
	u := s.stack[len(s.stack)-1].unit
	u.findings = append(u.findings, f)
}

const (
	awaitInstead  = "blocks outside of the simulator; use Env.Await"
	sortedInstead = "has another order in each run; use slices.Sorted(maps.Keys(m))"
)

func (s *scan) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		s.find(n.Pos(), "a go statement", "starts a goroutine outside of the simulator; use Env.Go")
	case *ast.SelectStmt:
		s.selects(n)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !s.comms[n] {
			s.find(n.Pos(), "a channel receive", awaitInstead)
		}
	case *ast.SendStmt:
		if !s.comms[n] && !s.hasRoom(n) {
			s.find(n.Pos(), "a channel send", "blocks outside of the simulator when there is no room; "+
				"send once to a channel that this function makes with room, and receive with Env.Await")
		}
	case *ast.RangeStmt:
		t := s.info.TypeOf(n.X)
		switch {
		case t == nil:
		case ranges[*types.Chan](t):
			s.find(n.Pos(), "a range over a channel", awaitInstead)
		case ranges[*types.Map](t) && n.Key != nil && !s.orderFree(n):
			s.find(n.Pos(), "a range over a map", sortedInstead)
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && address.MatchString(strings.ReplaceAll(n.Value, "%%", "")) {
			s.find(n.Pos(), "the verb %p", "writes an address, another one in each run; write what names the value")
		}
	case *ast.Ident:
		s.mention(n)
	}
}

// address matches a verb of package fmt that writes an address.
var address = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

// IsPoll reports whether a select statement has one case and a default: it never waits, and the channel alone decides
// what it does.
func IsPoll(n *ast.SelectStmt) bool {
	isDefault := func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil }
	return len(n.Body.List) == 2 && slices.ContainsFunc(n.Body.List, isDefault)
}

// selects judges a select statement.
func (s *scan) selects(n *ast.SelectStmt) {
	for _, c := range n.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case *ast.SendStmt:
			s.comms[comm] = true
		case *ast.ExprStmt:
			s.comms[ast.Unparen(comm.X)] = true
		case *ast.AssignStmt:
			s.comms[ast.Unparen(comm.Rhs[0])] = true
		}
	}
	if !IsPoll(n) {
		s.find(n.Pos(), "a select", "waits outside of the simulator, and picks at random among what is ready; use Env.Await")
	}
}

// mention judges the use of a name.
func (s *scan) mention(id *ast.Ident) {
	o := s.info.Uses[id]
	if o == nil || o.Pkg() == nil {
		return
	}
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	if o.Pkg() == s.pass.Pkg {
		if _, ok := o.(*types.Func); ok || o.Parent() == s.pass.Pkg.Scope() {
			u := s.stack[len(s.stack)-1].unit
			u.mentions = append(u.mentions, o)
		}
		return
	}
	name := FullName(o)
	pos := s.begin(id)
	if why := Banned(o); why != "" {
		s.find(pos, name, why)
		return
	}
	if iterators[name] {
		if !s.iteratesFree() {
			s.find(pos, name, sortedInstead)
		}
		return
	}
	if f, ok := o.(*types.Func); ok {
		if found, ok := s.elsewhere(pos, f); ok {
			s.add(found)
		}
	}
}

// begin is where the current name begins, including its package qualifier if there is one.
func (s *scan) begin(id *ast.Ident) token.Pos {
	if sel, ok := s.stack[len(s.stack)-2].node.(*ast.SelectorExpr); ok && sel.Sel == id {
		if x, ok := sel.X.(*ast.Ident); ok {
			if _, ok := s.info.Uses[x].(*types.PkgName); ok {
				return x.Pos()
			}
		}
	}
	return id.Pos()
}

// ranges reports whether a range over t is a range over a T, or may be one if t is a type parameter.
func ranges[T types.Type](t types.Type) bool {
	switch u := t.Underlying().(type) {
	case T:
		return true
	case *types.Interface: // the constraint of a type parameter
		for embedded := range u.EmbeddedTypes() {
			if ranges[T](embedded) {
				return true
			}
		}
	case *types.Union:
		for term := range u.Terms() {
			if ranges[T](term.Type()) {
				return true
			}
		}
	}
	return false
}
