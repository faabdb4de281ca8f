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

// distinct are the errors that are told apart by which they are.
var distinct = map[unsafe.Pointer]int64{}

func init() {
	Distinguish(zk.ErrNoServer, zk.ErrInvalidPath, zk.ErrConnectionClosed, zk.ErrUnknown, zk.ErrAPIError, zk.ErrNoNode,
		zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
		zk.ErrSessionExpired, zk.ErrInvalidACL, zk.ErrInvalidFlags, zk.ErrAuthFailed, zk.ErrClosing, zk.ErrNothing,
		zk.ErrSessionMoved, zk.ErrReconfigDisabled, zk.ErrBadArguments, zk.ErrDeadlock, zk.ErrNotLocked,
		zk.ErrUnhandledFieldType, zk.ErrPtrExpected, zk.ErrShortBuffer, context.Canceled)
}

// Distinguish has exhaustive search tell these errors, which are pointers, from others of the same type and text, as
// code does by == and [errors.Is]. It knows those of go-zookeeper, of package recipes and of package context. It must
// be called before anything runs, from an init function.
func Distinguish(errs ...error) {
	for _, err := range errs {
		distinct[reflect.ValueOf(err).UnsafePointer()] = int64(len(distinct)) + 1
	}
}

// Distinct returns a number of the error that a pointer is; 0 if it is none of those that are told apart.
func Distinct(p unsafe.Pointer) int64 { return distinct[p] }

// HashError appends to a hash all that an error can tell: what it says, what it holds, and which ones it wraps.
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

// errorHasher hashes what an error holds; of functions and channels it counts whether there is one.
type errorHasher struct {
	sum hash.Hash
	met map[unsafe.Pointer]int64 // pointers, and when
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
