package zktest

import (
	"reflect"
	"testing"
	"unsafe"
)

// cleaned has what code gives to t.Cleanup called when it returns, or panics, in the run. Package testing would do so
// at the end of the test, when the connections and channels of the run are those of another bubble, or never, since the
// process for runs just ends; and what a mock has missed would be lost.
func cleaned(t *testing.T, code func(c *Cluster)) func(c *Cluster) {
	list := cleanups(t)
	return func(c *Cluster) {
		defer cleanUp(list, len(*list))
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

// cleanups returns where package testing keeps what was given to t.Cleanup, or an empty list if it does so otherwise
// than expected.
func cleanups(t *testing.T) *[]func() {
	list := reflect.ValueOf(t).Elem().FieldByName("cleanups")
	if !list.IsValid() || list.Type() != reflect.TypeFor[[]func()]() {
		return new([]func())
	}
	return (*[]func())(unsafe.Pointer(list.UnsafeAddr()))
}
