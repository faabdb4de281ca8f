package zktest

import (
	"context"
	"reflect"
	"testing"
	"unsafe"
)

// cleaned has what code gives to t.Cleanup called when it returns, or panics, in the run, and before that t.Context
// cancelled. Package testing would do so at the end of the test, when the connections and channels of the run are those
// of another bubble, or never, since the process for runs just ends; and what a mock has missed would be lost.
func cleaned(t *testing.T, code func(c *Cluster)) func(c *Cluster) {
	list, ctx := field[[]func()](t, "cleanups"), field[context.Context](t, "ctx")
	whole := *ctx
	return func(c *Cluster) {
		defer cleanUp(list, len(*list))
		if whole != nil {
			var cancel context.CancelFunc
			*ctx, cancel = context.WithCancel(whole) // until the next run: what ends may ask for it again
			defer cancel()
		}
		code(c)
	}
}

// cleanUp calls the functions in the list from the last one to that with a number, and takes them out.
func cleanUp(list *[]func(), first int) {
	n := len(*list) - 1
	if n < first {
		return
	}
	defer cleanUp(list, first) // whatever comes of this one
	f := (*list)[n]
	*list = (*list)[:n]
	f()
}

// field returns where package testing keeps something of a test, or an empty one if it does so otherwise than expected.
func field[T any](t *testing.T, name string) *T {
	x := reflect.ValueOf(t).Elem().FieldByName(name)
	if !x.IsValid() || x.Type() != reflect.TypeFor[T]() {
		return new(T)
	}
	return (*T)(unsafe.Pointer(x.UnsafeAddr()))
}

// contextKept returns what gives a test back the context that it has.
func contextKept(t *testing.T) (restore func()) {
	ctx := field[context.Context](t, "ctx")
	whole := *ctx
	return func() { *ctx = whole }
}
