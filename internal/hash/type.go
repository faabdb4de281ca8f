package hash

import (
	"reflect"
	"sync"
)

// Twins is what Type panics with: the name that two types share.
type Twins string

// String says what is wrong.
func (t Twins) String() string {
	return "two types are called " + string(t) + ", as in two functions of a package; give them different names"
}

var (
	types sync.Map // by reflect.Type, the hash of its name
	named sync.Map // by name, the reflect.Type
)

// Type appends which type t is: the same number in every program that has it. It panics with Twins if the name does not
// identify the type.
func (h Hash) Type(t reflect.Type) Hash {
	x, known := types.Load(t)
	if !known {
		x, _ = types.LoadOrStore(t, uint64(nameType(0, t)))
	}
	return h.Uint64(x.(uint64))
}

// nameType appends the names of a type and of its component types.
func nameType(h Hash, t reflect.Type) Hash {
	h = h.Int(int64(t.Kind()))
	if t.Name() != "" {
		name := t.PkgPath() + "." + t.Name()
		if first, _ := named.LoadOrStore(name, t); first != t {
			panic(Twins(name))
		}
		return h.String(name)
	}
	switch t.Kind() {
	case reflect.Map:
		return nameType(nameType(h, t.Key()), t.Elem())
	case reflect.Array:
		return nameType(h.Int(int64(t.Len())), t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		return nameType(h, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			h = nameType(h.String(t.Field(i).Name), t.Field(i).Type)
		}
		return h
	case reflect.Func:
		for i := range t.NumIn() {
			h = nameType(h, t.In(i))
		}
		h = h.Int(-1)
		for i := range t.NumOut() {
			h = nameType(h, t.Out(i))
		}
		return h
	}
	return h.String(t.String()) // an interface
}
