package perturb

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

type tree struct {
	name  string
	leafs []*leaf
	one   leaf
	err   error
	by    map[string]*leaf
	up    *tree
	f     func()
}

type leaf struct {
	n    int
	u    uint8
	ok   bool
	data []byte
}

// TestEveryFieldIsChangedAndRestored prints a value after each change.
func TestEveryFieldIsChangedAndRestored(t *testing.T) {
	x := &tree{name: "a", leafs: []*leaf{{n: 1}}, by: map[string]*leaf{"k": {n: 7}}}
	x.up = x
	print := func() string {
		return fmt.Sprint(x.name, len(x.leafs), *x.leafs[:1][0], x.one, x.err, *x.by["k"])
	}
	begin, seen := print(), map[string]int{}
	Each(x, func(t reflect.Type) bool { return true }, func(name string, change func() func()) {
		if change == nil {
			seen[name+" followed"]++
			return
		}
		restore := change()
		if print() == begin {
			t.Errorf("%s was not changed", name)
		}
		if restore(); print() != begin {
			t.Errorf("%s was not restored", name)
		}
		seen[name]++
	})
	want := map[string]int{"perturb.tree.name": 1, "perturb.tree.leafs": 1, "perturb.tree.one followed": 1,
		"perturb.tree.err":         1,
		"perturb.tree.by followed": 1, "perturb.tree.up followed": 1, "perturb.tree.f followed": 1,
		"perturb.leaf.n": 3, "perturb.leaf.u": 3, "perturb.leaf.ok": 3, "perturb.leaf.data": 3}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("%v, want %v", seen, want)
	}
}

func TestOnlySomeTypesAreFollowed(t *testing.T) {
	var names []string
	Each(&tree{}, func(t reflect.Type) bool { return t == reflect.TypeFor[tree]() },
		func(name string, _ func() func()) { names = append(names, name) })
	if len(names) != 7 || slices.Contains(names, "perturb.leaf.n") {
		t.Error(names)
	}
}
