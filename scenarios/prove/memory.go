package prove

import (
	"reflect"
	"slices"

	"zksim/checkers"
)

// What a monitor remembers is in its fields, and can be read there as a rule. Two histories after which they say the
// same go on alike, whatever the events were; so what an event adds is found out once for each memory, and not
// for each way to it.

// legible reports whether all that a monitor can hold can be read.
func legible(m checkers.Monitor) bool {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return plain(t)
}

// plain reports whether values of type t can be read: numbers, strings, and structs, slices and maps of these. With
// pointers it would make a difference which of them lead to the same. Checkers in a struct remember nothing.
func plain(t reflect.Type, within ...reflect.Type) bool {
	if slices.Contains(within, t) {
		return false
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return plain(t.Elem(), within...)
	case reflect.Map:
		return plain(t.Key(), within...) && plain(t.Elem(), within...)
	case reflect.Struct:
		for i := range t.NumField() {
			if x := t.Field(i).Type; !x.Implements(checkerType) && !plain(x, within...) {
				return false
			}
		}
		return true
	}
	return t.Kind() <= reflect.Uint64 || t.Kind() == reflect.String
}

var checkerType = reflect.TypeFor[checkers.Checker]()

// remember adds to p what a plain value holds.
func remember(p checkers.Print, v reflect.Value) checkers.Print {
	switch v.Kind() {
	case reflect.Bool:
		return p.Flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return p.Word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return p.Word(v.Uint())
	case reflect.String:
		return p.Text(v.String())
	case reflect.Slice, reflect.Array:
		p = p.Word(uint64(v.Len()))
		for i := range v.Len() {
			p = remember(p, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			p = remember(p, v.Field(i))
		}
	case reflect.Map:
		entries := checkers.Print(0) // in any order
		for key, x := range v.Seq2() {
			entries += remember(remember(0, key), x)
		}
		p = p.Word(uint64(v.Len())).Word(uint64(entries))
	}
	return p // a checker, and what is in it, stays as it is
}
