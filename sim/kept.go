package sim

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// valueHasher hashes what code keeps.
type valueHasher struct {
	c        *Client
	sum      hash.Hash
	visited  []visit
	channels []<-chan zk.Event
	contexts map[reflect.Type]bool // which types are contexts
}

type visit struct {
	at   uintptr
	kind reflect.Type
}

var (
	contextType  = reflect.TypeFor[context.Context]()
	clientType   = reflect.TypeFor[*Client]()
	locationType = reflect.TypeFor[*time.Location]()
)

func (k *valueHasher) reset(c *Client) {
	k.c, k.sum, k.visited, k.channels = c, 0, k.visited[:0], k.channels[:0]
}

// addAny adds what is kept of one thing. Most are results.
func (k *valueHasher) addAny(x any) {
	switch x := x.(type) {
	case *error:
		if *x == nil {
			k.sum = k.sum.Uint64(0)
			return
		}
	case *string:
		k.sum = k.sum.String(*x)
		return
	case *bool:
		k.sum = k.sum.Bool(*x)
		return
	}
	k.add(reflect.ValueOf(x))
}

// isContext reports whether a type is one of contexts.
func (k *valueHasher) isContext(t reflect.Type) bool {
	is, known := k.contexts[t]
	if !known {
		if k.contexts == nil {
			k.contexts = map[reflect.Type]bool{}
		}
		is = t.Implements(contextType)
		k.contexts[t] = is
	}
	return is
}

// add adds a value and all that can be reached from it. Of a function it counts only whether there
// is one; of a context, whether and how it has ended, and which of the client's deadlines it has.
func (k *valueHasher) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid, reflect.Func, reflect.UnsafePointer:
		k.sum = k.sum.Bool(v.Kind() == reflect.Func && !v.IsNil())
	case reflect.Bool:
		k.sum = k.sum.Bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.sum = k.sum.Int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		k.sum = k.sum.Uint64(v.Uint())
	case reflect.String:
		k.sum = k.sum.String(v.String())
	case reflect.Float32, reflect.Float64:
		k.sum = k.sum.Uint64(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		k.sum = k.sum.Uint64(math.Float64bits(real(v.Complex()))).Uint64(math.Float64bits(imag(v.Complex())))
	case reflect.Interface:
		if k.sum = k.sum.Bool(v.IsNil()); !v.IsNil() && !k.context(v.Elem()) {
			k.sum = k.sum.String(v.Elem().Type().String())
			k.add(v.Elem())
		}
	case reflect.Pointer:
		k.pointer(v)
	case reflect.Chan:
		k.channel(v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			k.sum = k.sum.Bytes(v.Bytes())
			return
		}
		k.sum = k.sum.Int(int64(v.Len()))
		for i := range v.Len() {
			k.add(v.Index(i))
		}
	case reflect.Map:
		k.table(v)
	case reflect.Struct:
		for i := range v.NumField() {
			k.add(v.Field(i))
		}
	}
}

// first reports whether something at an address has not been visited; if it has, it adds when.
func (k *valueHasher) first(x visit) bool {
	i := slices.Index(k.visited, x)
	if k.sum = k.sum.Int(int64(i)); i < 0 {
		k.visited = append(k.visited, x)
	}
	return i < 0
}

func (k *valueHasher) pointer(v reflect.Value) {
	k.sum = k.sum.Bool(v.IsNil())
	if v.IsNil() || v.Type() == clientType || v.Type() == locationType || k.context(v) {
		return
	}
	if k.first(visit{v.Pointer(), v.Type()}) {
		k.add(v.Elem())
	}
}

// context adds v if it is a context, and reports whether it is.
func (k *valueHasher) context(v reflect.Value) bool {
	if !k.isContext(v.Type()) {
		return false
	}
	if v.Kind() == reflect.Pointer && !k.first(visit{v.Pointer(), v.Type()}) {
		return true
	}
	if ctx, ok := readable(v).(context.Context); ok {
		k.sum = hashContext(k.sum, ctx)
	}
	return true
}

// table adds a map, in the order of its keys.
func (k *valueHasher) table(v reflect.Value) {
	order := func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case a.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		}
		panic("sim: what is kept of a " + v.Type().String() + " has no order; its keys must be strings or whole numbers")
	}
	k.sum = k.sum.Int(int64(v.Len()))
	keys := v.MapKeys() // order-free: they are sorted
	slices.SortFunc(keys, order)
	for _, key := range keys {
		k.add(key)
		k.add(v.MapIndex(key))
	}
}

// channel adds what a channel has and what it waits for.
func (k *valueHasher) channel(v reflect.Value) {
	k.sum = k.sum.Bool(v.IsNil())
	if v.IsNil() {
		return
	}
	c, at := k.c, v.Pointer()
	is := func(ch <-chan zk.Event) bool {
		same := reflect.ValueOf(ch).Pointer() == at
		if same {
			k.channels = append(k.channels, ch)
		}
		return same
	}
	for i := range c.watchers { // all of a kind for one znode get the same event
		if x := &c.watchers[i]; is(x.ch) {
			k.sum = k.sum.Int(1).Int(int64(x.kind)).String(x.path)
			return
		}
	}
	for i := range c.sessionChans { // as all of these do
		if is(c.sessionChans[i].ch) {
			k.sum = k.sum.Int(2)
			return
		}
	}
	k.sum = k.sum.Int(3).Int(int64(v.Len()))
	for _, x := range c.fired {
		if v.Len() > 0 && is(x.ch) {
			k.sum = k.sum.Uint64(x.what)
		}
	}
}

// readable returns what v holds, which may come from a field that is not exported; nil if it
// cannot be told.
func readable(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case v.CanInterface():
		return v.Interface()
	case v.Kind() == reflect.Pointer:
		return reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Interface()
	}
	return nil
}
