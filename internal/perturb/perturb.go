// Package perturb changes the fields of values one at a time, for tests that ask whether a hash or a copy covers all of
// them. It also changes unexported fields.
package perturb

import (
	"errors"
	"reflect"
	"unsafe"
)

// Each calls f for each field of the structs of a module that can be reached from root, a pointer, through fields,
// pointers, slices, arrays and the values of maps. f gets the name of the field, like "sim.Client.session", and a
// function that changes its value and returns one that restores it. A value that cannot be changed without breaking
// what it is part of (pointers, maps, functions, channels, interfaces except errors) is only followed; then change is
// nil.
//
// follow says which struct types are followed.
func Each(root any, follow func(t reflect.Type) bool, f func(name string, change func() (restore func()))) {
	w := walk{follow, f, map[visit]bool{}}
	w.value(reflect.ValueOf(root))
}

type walk struct {
	follow func(t reflect.Type) bool
	f      func(name string, change func() (restore func()))
	seen   map[visit]bool
}

type visit struct {
	at   unsafe.Pointer
	kind reflect.Type
}

// value follows a value, which is addressable unless it is a pointer, an interface or in one.
func (w *walk) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if x := (visit{v.UnsafePointer(), v.Type()}); !v.IsNil() && !w.seen[x] {
			w.seen[x] = true
			w.value(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.Elem().Kind() == reflect.Pointer {
			w.value(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Map:
		for _, x := range v.Seq2() { // order-free: each is followed by itself
			if x.Kind() == reflect.Pointer {
				w.value(x)
			}
		}
	case reflect.Struct:
		if !w.follow(v.Type()) {
			return
		}
		for i := range v.NumField() {
			field := writable(v.Field(i))
			w.f(v.Type().String()+"."+v.Type().Field(i).Name, changeOf(field))
			w.value(field)
		}
	}
}

// writable returns a field as if it were exported.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

var errOther = errors.New("another error")

// changeOf returns a function that changes v; nil if v must not be changed.
func changeOf(v reflect.Value) func() (restore func()) {
	set := func(to func(x reflect.Value)) func() func() {
		return func() func() {
			was := reflect.New(v.Type()).Elem()
			was.Set(v)
			to(v)
			return func() { v.Set(was) }
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return set(func(x reflect.Value) { x.SetBool(!x.Bool()) })
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return set(func(x reflect.Value) { x.SetInt(x.Int() + 1) })
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return set(func(x reflect.Value) { x.SetUint(x.Uint() + 1) })
	case reflect.String:
		return set(func(x reflect.Value) { x.SetString(x.String() + "x") })
	case reflect.Slice:
		switch {
		case v.Type().Elem().Kind() == reflect.Uint8:
			return set(func(x reflect.Value) { x.SetBytes(append(append([]byte{}, x.Bytes()...), 'x')) })
		case v.Len() > 0:
			return set(func(x reflect.Value) { x.Set(x.Slice(0, x.Len()-1)) })
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			return set(func(x reflect.Value) { x.Set(reflect.ValueOf(errOther)) })
		}
	}
	return nil
}
