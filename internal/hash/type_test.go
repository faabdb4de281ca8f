package hash

import (
	"reflect"
	"testing"
)

type thing struct{}

func local() any {
	type thing struct{}
	return thing{}
}

// TestTypesAreToldApart has types that are different, and types that have one name.
func TestTypesAreToldApart(t *testing.T) {
	seen := map[Hash]reflect.Type{}
	for _, x := range []any{1, uint(1), "", thing{}, &thing{}, []thing{}, [2]thing{}, [3]thing{}, map[string]thing{},
		map[thing]string{}, struct{ a int }{}, struct{ b int }{}, func(int) {}, func() int { return 0 }, make(chan int),
		[]any{}, []error{}} {
		h := Hash(0).Type(reflect.TypeOf(x))
		if twin := seen[h]; twin != nil {
			t.Errorf("%T and %v are one", x, twin)
		}
		if seen[h] = reflect.TypeOf(x); h != Hash(0).Type(reflect.TypeOf(x)) {
			t.Errorf("%T is another one when it is asked again", x)
		}
	}
	defer func() {
		if x := recover(); x != Twins("zksim/internal/hash.thing") {
			t.Errorf("%v", x)
		}
	}()
	Hash(0).Type(reflect.TypeOf(local()))
}
