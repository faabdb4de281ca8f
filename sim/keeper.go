package sim

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// keeper hashes what code keeps.
type keeper struct {
	c        *Client
	d        digest
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
	statType     = reflect.TypeFor[zk.Stat]()
)

// statFields says of each field of zk.Stat what it is. Times do not count, as in answers.
var statFields = func() (list []int) {
	for i := range statType.NumField() {
		switch statType.Field(i).Name {
		case "Czxid", "Mzxid", "Pzxid":
			list = append(list, isZxid)
		case "Ctime", "Mtime":
			list = append(list, isTime)
		default:
			list = append(list, isNumber)
		}
	}
	return list
}()

const (
	isNumber = iota
	isZxid
	isTime
)

// addAny adds what is kept of one thing. Most are results.
func (k *keeper) addAny(x any) {
	switch x := x.(type) {
	case *error:
		if *x == nil {
			k.d.add(0)
			return
		}
	case *string:
		k.d.addString(*x)
		return
	case *bool:
		k.d.add(bit(*x))
		return
	}
	k.add(reflect.ValueOf(x))
}

// isContext reports whether a type is one of contexts.
func (k *keeper) isContext(t reflect.Type) bool {
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

// add adds a value and all that can be reached from it. Functions and contexts count as
// constants.
func (k *keeper) add(v reflect.Value) {
	d := &k.d
	switch v.Kind() {
	case reflect.Invalid, reflect.Func, reflect.UnsafePointer:
		d.add(bit(v.Kind() == reflect.Func && !v.IsNil()))
	case reflect.Bool:
		d.add(bit(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		d.add(uint64(v.Int()))
	case reflect.Int64:
		n := v.Int()
		if k.c.w.Detail.Epoch { // else it may be any number
			n = k.c.w.Rank(n)
		}
		d.add(uint64(n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		d.add(v.Uint())
	case reflect.String:
		d.addString(v.String())
	case reflect.Float32, reflect.Float64:
		d.add(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		d.add(math.Float64bits(real(v.Complex())))
		d.add(math.Float64bits(imag(v.Complex())))
	case reflect.Interface:
		if v.IsNil() || k.isContext(v.Elem().Type()) {
			d.add(bit(v.IsNil()))
			return
		}
		d.addString(v.Elem().Type().String())
		k.add(v.Elem())
	case reflect.Pointer:
		k.pointer(v)
	case reflect.Chan:
		k.channel(v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			d.addBytes(v.Bytes())
			return
		}
		d.add(uint64(v.Len()))
		for i := range v.Len() {
			k.add(v.Index(i))
		}
	case reflect.Map:
		k.table(v)
	case reflect.Struct:
		k.structure(v)
	}
}

func (k *keeper) pointer(v reflect.Value) {
	k.d.add(bit(v.IsNil()))
	if v.IsNil() || v.Type() == clientType || v.Type() == locationType || k.isContext(v.Type()) {
		return
	}
	x := visit{v.Pointer(), v.Type()}
	for i := range k.visited {
		if k.visited[i] == x {
			k.d.add(uint64(i))
			return
		}
	}
	k.visited = append(k.visited, x)
	k.add(v.Elem())
}

func (k *keeper) structure(v reflect.Value) {
	if v.Type() == statType {
		for i, kind := range statFields {
			switch n := v.Field(i).Int(); kind {
			case isZxid:
				k.d.add(uint64(k.c.w.Rank(n)))
			case isNumber:
				k.d.add(uint64(n))
			}
		}
		return
	}
	for i := range v.NumField() {
		k.add(v.Field(i))
	}
}

// table adds a map, in the order of its keys.
func (k *keeper) table(v reflect.Value) {
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
	k.d.add(uint64(v.Len()))
	keys := v.MapKeys() // order-free: they are sorted
	slices.SortFunc(keys, order)
	for _, key := range keys {
		k.add(key)
		k.add(v.MapIndex(key))
	}
}

// channel adds what a channel has and what it waits for.
func (k *keeper) channel(v reflect.Value) {
	k.d.add(bit(v.IsNil()))
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
			c.w.sweeping.Mistaken += int(bit(x.scope.left() == nil))
			k.d.add(uint64(x.kind)<<8 | 1)
			k.d.addString(x.path)
			return
		}
	}
	for i := range c.sessionChans { // as all of these do
		if is(c.sessionChans[i].ch) {
			k.d.add(2)
			return
		}
	}
	for _, ch := range c.buried {
		if is(ch) {
			c.unearth(ch)
		}
	}
	k.d.add(uint64(v.Len())<<8 | 3)
	if v.Len() > 0 {
		for _, x := range c.fired {
			if is(x.ch) {
				k.d.add(x.what)
			}
		}
	}
}
