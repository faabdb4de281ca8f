package prove

import (
	"math"
	"reflect"
	"slices"
	"sync"

	"zksim/checkers"
	"zksim/internal/hash"
)

// What a monitor remembers is in its fields, and is read from there. Two histories with equal memories continue alike,
// whatever their events were. So the effect of an event is found out once for each memory, not for each way to it.

// illegible names the first field of a monitor that cannot be read, with its type; "" if all can.
func illegible(m checkers.Monitor) string {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return unread(t, t.String())
}

// shared reports whether two monitors keep their memory in the same place.
func shared(a, b checkers.Monitor) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.Type() != w.Type() {
		return false
	}
	return v.Kind() == reflect.Map && v.Pointer() == w.Pointer() ||
		v.Kind() == reflect.Pointer && v.Pointer() == w.Pointer() && v.Type().Elem().Size() > 0
}

// unread names what cannot be read in a value of type t, whose name is path. Readable are numbers, strings, and
// structs, slices, arrays and maps of these. With pointers it would matter which of them point to the same value, and a
// function or an interface can hold anything.
func unread(t reflect.Type, path string, within ...reflect.Type) string {
	if slices.Contains(within, t) {
		return path + ", a " + t.String() + ", which contains itself"
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return unread(t.Elem(), path+"[]", within...)
	case reflect.Map:
		if x := unread(t.Key(), path+"[key]", within...); x != "" {
			return x
		}
		return unread(t.Elem(), path+"[]", within...)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if checkers.IsConstant(f.Type) {
				continue
			}
			if x := unread(f.Type, path+"."+f.Name, within...); x != "" {
				return x
			}
		}
		return ""
	}
	if t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String {
		return ""
	}
	return path + " is a " + t.String()
}

// remember adds everything that a monitor holds to a hash.
func remember(h hash.Hash, m checkers.Monitor) hash.Hash {
	v := reflect.Indirect(reflect.ValueOf(m))
	return readerOf(v.Type())(h, v)
}

// reader adds what a value of one type holds to a hash.
type reader func(h hash.Hash, v reflect.Value) hash.Hash

// readers caches the readers by type: making one takes longer than using it.
var readers sync.Map

func readerOf(t reflect.Type) reader {
	if r, ok := readers.Load(t); ok {
		return r.(reader)
	}
	r := newReader(t)
	readers.Store(t, r)
	return r
}

// newReader returns the reader of a type that can be read.
func newReader(t reflect.Type) reader {
	switch t.Kind() {
	case reflect.Bool:
		return func(h hash.Hash, v reflect.Value) hash.Hash { return h.Bool(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(h hash.Hash, v reflect.Value) hash.Hash { return h.Int(v.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(h hash.Hash, v reflect.Value) hash.Hash { return h.Uint64(v.Uint()) }
	case reflect.Float32, reflect.Float64:
		return func(h hash.Hash, v reflect.Value) hash.Hash { return h.Uint64(math.Float64bits(v.Float())) }
	case reflect.Complex64, reflect.Complex128:
		return func(h hash.Hash, v reflect.Value) hash.Hash {
			return h.Uint64(math.Float64bits(real(v.Complex()))).Uint64(math.Float64bits(imag(v.Complex())))
		}
	case reflect.String:
		return func(h hash.Hash, v reflect.Value) hash.Hash { return h.String(v.String()) }
	case reflect.Slice:
		return sliceReader(readerOf(t.Elem()))
	case reflect.Array:
		return arrayReader(readerOf(t.Elem()))
	case reflect.Struct:
		return structReader(t)
	case reflect.Map:
		return mapReader(readerOf(t.Key()), readerOf(t.Elem()))
	}
	panic(t.String() + " cannot be read") // see illegible
}

func sliceReader(each reader) reader {
	items := arrayReader(each)
	return func(h hash.Hash, v reflect.Value) hash.Hash {
		return items(h.Int(int64(v.Len())), v)
	}
}

func arrayReader(each reader) reader {
	return func(h hash.Hash, v reflect.Value) hash.Hash {
		for i := range v.Len() {
			h = each(h, v.Index(i))
		}
		return h
	}
}

func structReader(t reflect.Type) reader {
	each := make([]reader, t.NumField())
	for i := range each {
		if f := t.Field(i).Type; !checkers.IsConstant(f) {
			each[i] = readerOf(f)
		}
	}
	return func(h hash.Hash, v reflect.Value) hash.Hash {
		for i, read := range each {
			if read != nil {
				h = read(h, v.Field(i))
			}
		}
		return h
	}
}

func mapReader(ofKey, ofValue reader) reader {
	return func(h hash.Hash, v reflect.Value) hash.Hash {
		entries := uint64(0) // in any order
		for key, x := range v.Seq2() {
			entries += hash.Mix(uint64(ofValue(ofKey(0, key), x)))
		}
		return h.Int(int64(v.Len())).Uint64(entries)
	}
}
