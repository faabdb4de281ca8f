package history

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"unsafe"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// distinct has a number for each error that is told apart by its identity.
var distinct = map[unsafe.Pointer]int64{}

func init() {
	Distinguish(zk.ErrNoServer, zk.ErrInvalidPath, zk.ErrConnectionClosed, zk.ErrUnknown, zk.ErrAPIError, zk.ErrNoNode,
		zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
		zk.ErrSessionExpired, zk.ErrInvalidACL, zk.ErrInvalidFlags, zk.ErrAuthFailed, zk.ErrClosing, zk.ErrNothing,
		zk.ErrSessionMoved, zk.ErrReconfigDisabled, zk.ErrBadArguments, zk.ErrDeadlock, zk.ErrNotLocked,
		zk.ErrUnhandledFieldType, zk.ErrPtrExpected, zk.ErrShortBuffer, context.Canceled)
}

// Distinguish makes exhaustive search tell these errors, which are pointers, from others of the same type and text,
// as code does with == and [errors.Is]. The errors of go-zookeeper, of package recipes and of package context are
// already known; to name one again changes nothing. Call it from an init function, before anything runs. It panics for
// an error that is not a pointer.
func Distinguish(errs ...error) {
	for _, err := range errs {
		if p := reflect.ValueOf(err).UnsafePointer(); distinct[p] == 0 {
			distinct[p] = int64(len(distinct)) + 1
		}
	}
}

// Distinct returns the number of the error at p, or 0 if it is not one that is told apart.
func Distinct(p unsafe.Pointer) int64 { return distinct[p] }

// HashError appends to a hash everything that an error can tell: its text, its contents, and the errors that it
// wraps.
func HashError(h hash.Hash, err error) hash.Hash {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		if n := Distinct(v.UnsafePointer()); n > 0 {
			return h.Int(n)
		}
	}
	x := errorHasher{h.Int(0).String(err.Error()), map[unsafe.Pointer]int64{}}
	x.typed(v)
	return x.sum
}

// errorHasher hashes the contents of an error. Of functions and channels only whether they are nil counts.
type errorHasher struct {
	sum hash.Hash
	met map[unsafe.Pointer]int64 // pointers met, and in which order
}

// typed adds a value and its type.
func (x *errorHasher) typed(v reflect.Value) {
	x.sum = x.sum.Type(v.Type())
	x.add(v)
}

func (x *errorHasher) add(v reflect.Value) {
	sum, ok := x.sum.Scalar(v)
	if x.sum = sum; ok {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			x.add(v.Field(i))
		}
		return
	case reflect.Array:
		for i := range v.Len() {
			x.add(v.Index(i))
		}
		return
	}
	if x.sum = x.sum.Bool(v.IsNil()); v.IsNil() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		x.typed(v.Elem())
	case reflect.Pointer:
		at := v.UnsafePointer()
		if n := cmp.Or(Distinct(at), -x.met[at]); n != 0 {
			x.sum = x.sum.Int(n)
			return
		}
		x.met[at] = int64(len(x.met)) + 1
		x.add(v.Elem())
	case reflect.Slice:
		x.sum = x.sum.Int(int64(v.Len()))
		for i := range v.Len() {
			x.add(v.Index(i))
		}
	case reflect.Map:
		all := uint64(0)
		for key, of := range v.Seq2() {
			one := errorHasher{met: maps.Clone(x.met)}
			one.add(key)
			one.add(of)
			all += hash.Mix(uint64(one.sum))
		}
		x.sum = x.sum.Int(int64(v.Len())).Uint64(all)
	}
}
