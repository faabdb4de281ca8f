package zktest

import (
	"context"
	"reflect"
	"testing"
	"unsafe"
)

// cleaned wraps code so that, inside the run, its t.Context is cancelled and then its functions for t.Cleanup are
// called when it returns or panics. Package testing would do so at the end of the test, when the connections and
// channels of the run belong to another bubble, or never, because the process for runs just ends. What a mock has
// missed would be lost.
func cleaned(t *testing.T, code func(c *Cluster)) func(c *Cluster) {
	list, ctx := field[[]func()](t, "cleanups"), field[context.Context](t, "ctx")
	whole := *ctx
	return func(c *Cluster) {
		defer cleanUp(list, len(*list))
		if whole != nil {
			var cancel context.CancelFunc
			*ctx, cancel = context.WithCancel(whole) // until the next run: code that is ending may ask for it again
			defer cancel()
		}
		code(c)
	}
}

// cleanUp removes and calls the functions in the list, from the last one down to index first.
func cleanUp(list *[]func(), first int) {
	n := len(*list) - 1
	if n < first {
		return
	}
	defer cleanUp(list, first) // even if this one panics
	f := (*list)[n]
	*list = (*list)[:n]
	f()
}

// field returns a pointer to a field of a test of package testing, or to an empty value if the field is not as
// expected.
func field[T any](t *testing.T, name string) *T {
	x := reflect.ValueOf(t).Elem().FieldByName(name)
	if !x.IsValid() || x.Type() != reflect.TypeFor[T]() {
		return new(T)
	}
	return (*T)(unsafe.Pointer(x.UnsafeAddr()))
}

// contextKept returns a function that restores the current context of a test.
func contextKept(t *testing.T) (restore func()) {
	ctx := field[context.Context](t, "ctx")
	whole := *ctx
	return func() { *ctx = whole }
}
