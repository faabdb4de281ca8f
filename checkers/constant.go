package checkers

import (
	"reflect"
	"strings"
)

// Constant is a field of a monitor whose value stays the same as long as the monitor is used, such as a function that
// the checker was made with. Exhaustive search does not read it, so it may hold anything.
type Constant[T any] struct{ value T }

// ConstantOf returns a constant with that value.
func ConstantOf[T any](value T) Constant[T] { return Constant[T]{value} }

// Value returns the value.
func (c Constant[T]) Value() T { return c.value }

// IsConstant reports whether a type is a Constant, and not a type that embeds one.
func IsConstant(t reflect.Type) bool {
	own := reflect.TypeFor[Constant[int]]()
	return t.PkgPath() == own.PkgPath() && generic(t) == generic(own)
}

// generic returns the name of a type without its type parameters.
func generic(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}
