package hash

import (
	"math"
	"reflect"
)

// Scalar appends a boolean, a number or a string, and reports whether v is one.
func (h Hash) Scalar(v reflect.Value) (sum Hash, ok bool) {
	switch v.Kind() {
	case reflect.Bool:
		return h.Bool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return h.Int(v.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return h.Uint64(v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return h.Uint64(math.Float64bits(v.Float())), true
	case reflect.Complex64, reflect.Complex128:
		return h.Uint64(math.Float64bits(real(v.Complex()))).Uint64(math.Float64bits(imag(v.Complex()))), true
	case reflect.String:
		return h.String(v.String()), true
	}
	return h, false
}
