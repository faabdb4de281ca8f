package sim

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/model/history"
)

// valueHasher hashes what code keeps.
type valueHasher struct {
	c        *Client
	sum      hash.Hash
	visited  map[visit]int64 // what was added, and as which number
	channels []<-chan zk.Event
	traits   map[reflect.Type]trait
}

// A field with the tag kept:"-" is not counted.
const keptTag, uncounted = "kept", "-"

// trait is what valueHasher knows about a type.
type trait struct {
	context bool   // of the standard library or this package; contexts of other types are read like any value
	skip    []bool // fields that are not counted, by their tag; nil: all count
}

// visit is a value at an address.
type visit struct {
	at   unsafe.Pointer
	kind reflect.Type
}

var (
	contextType  = reflect.TypeFor[context.Context]()
	deadlineType = reflect.TypeFor[deadline]()
	valueType    = reflect.TypeOf(context.WithValue(context.Background(), deadlineKey{}, nil))
	endlessType  = reflect.TypeOf(context.WithoutCancel(context.Background()))

	clientType   = reflect.TypeFor[*Client]()
	locationType = reflect.TypeFor[*time.Location]()
	mapType      = reflect.TypeFor[map[struct{}]struct{}]() // stands for all maps: one may have several types
	channelType  = reflect.TypeFor[chan struct{}]()         // stands for all channels, whatever their direction
)

func (k *valueHasher) reset(c *Client) {
	k.c, k.sum, k.channels = c, 0, k.channels[:0]
	clear(k.visited)
}

// addAny adds one thing that is kept.
func (k *valueHasher) addAny(x any) {
	if k.sum = k.sum.Bool(x == nil); x != nil {
		k.typed(reflect.ValueOf(x))
	}
}

// visitOf returns the visit of v at an address. The type only counts for structs and arrays, whose parts are visited
// too.
func visitOf(at unsafe.Pointer, v reflect.Value) visit {
	if kind := v.Kind(); kind != reflect.Struct && kind != reflect.Array {
		return visit{at, nil}
	}
	return visit{at, v.Type()}
}

// typed adds a value and its type.
func (k *valueHasher) typed(v reflect.Value) {
	k.sum = k.sum.Type(v.Type())
	k.add(v)
}

// traitOf returns the trait of a type.
func (k *valueHasher) traitOf(t reflect.Type) trait {
	x, known := k.traits[t]
	if known {
		return x
	}
	of := t
	if t.Kind() == reflect.Pointer {
		of = t.Elem()
	}
	x.context = t.Implements(contextType) && (of.PkgPath() == contextType.PkgPath() || of == deadlineType) &&
		t.Kind() != reflect.Interface
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if t.Field(i).Tag.Get(keptTag) == uncounted {
				if x.skip == nil {
					x.skip = make([]bool, t.NumField())
				}
				x.skip[i] = true
			}
		}
	}
	if k.traits == nil {
		k.traits = map[reflect.Type]trait{}
	}
	k.traits[t] = x
	return x
}

// refusal says in words what cannot be kept.
type refusal string

func (k *valueHasher) refuse(v reflect.Value, why string) {
	panic(refusal(fmt.Sprintf("%s keeps a %s, %s", k.c.Name(), v.Type(), why)))
}

// add adds a value and all that can be reached from it, and which parts of that are the same memory. For a function it
// adds which one it is, but not what it has captured; for a context, how it has ended, or which of the client's
// deadlines it is.
func (k *valueHasher) add(v reflect.Value) {
	if v.CanAddr() && v.Type().Size() > 0 && !k.first(visitOf(v.Addr().UnsafePointer(), v)) {
		return
	}
	sum, ok := k.sum.Scalar(v)
	if k.sum = sum; ok {
		return
	}
	switch v.Kind() {
	case reflect.Invalid:
		k.sum = k.sum.Int(-1)
	case reflect.Func:
		k.function(v)
	case reflect.UnsafePointer:
		if k.sum = k.sum.Bool(v.IsNil()); !v.IsNil() {
			k.refuse(v, "which can point to anything, as in a sync.Map or an atomic.Pointer; keep what it stands for")
		}
	case reflect.Interface:
		if k.sum = k.sum.Bool(v.IsNil()); !v.IsNil() && !k.context(v.Elem()) {
			k.typed(v.Elem())
		}
	case reflect.Pointer:
		k.pointer(v)
	case reflect.Chan:
		k.channel(v)
	case reflect.Slice:
		k.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			k.add(v.Index(i))
		}
	case reflect.Map:
		k.table(v)
	case reflect.Struct:
		x := k.traitOf(v.Type())
		if x.context {
			k.context(v)
			return
		}
		for i := range v.NumField() {
			if x.skip == nil || !x.skip[i] {
				k.add(v.Field(i))
			}
		}
	}
}

// function adds which function it is. All instances of a generic one share a name, as do the functions in them.
func (k *valueHasher) function(v reflect.Value) {
	if k.sum = k.sum.Bool(v.IsNil()); v.IsNil() {
		return
	}
	name := runtime.FuncForPC(v.Pointer()).Name()
	if strings.Contains(name, "[...]") {
		k.refuse(v, name+", of a generic function, whose instances cannot be told apart; keep what it stands for")
	}
	k.sum = k.sum.String(name)
}

func (k *valueHasher) pointer(v reflect.Value) {
	if k.sum = k.sum.Bool(v.IsNil()); v.IsNil() {
		return
	}
	if v.Type() == clientType { // a connection
		k.sum = k.sum.Int(int64(readable(v).(*Client).Line()))
		return
	}
	if n := history.Distinct(v.UnsafePointer()); n > 0 {
		k.sum = k.sum.Int(n)
		return
	}
	switch {
	case v.Type() == locationType:
		k.location(v)
	case !k.context(v):
		k.add(v.Elem())
	}
}

// location adds a time zone, without the cached result of its last lookup.
func (k *valueHasher) location(v reflect.Value) {
	if !k.first(visit{v.UnsafePointer(), locationType}) {
		return
	}
	k.sum = k.sum.String(readable(v).(*time.Location).String()) // the machine's own zone is only read now
	for _, name := range []string{"zone", "tx", "extend"} {
		k.add(v.Elem().FieldByName(name)) // no value if this version of Go has no such field
	}
}

// first reports whether something is added for the first time. If not, it adds the number that it had.
func (k *valueHasher) first(x visit) bool {
	i, known := k.visited[x]
	if !known {
		if k.visited == nil {
			k.visited = map[visit]int64{}
		}
		i = int64(len(k.visited))
		k.visited[x] = i
		k.sum = k.sum.Int(-1)
		return true
	}
	k.sum = k.sum.Int(i)
	return false
}

func (k *valueHasher) slice(v reflect.Value) {
	if k.sum = k.sum.Bool(v.IsNil()).Int(int64(v.Len())); v.Len() == 0 {
		return
	}
	for i := range v.Len() {
		k.add(v.Index(i))
	}
}

// context adds v if it is a context, and reports whether it is. It refuses a context that can still end, other than by
// a deadline of the client: nothing says which one it is.
func (k *valueHasher) context(v reflect.Value) bool {
	t := v.Type()
	if !k.traitOf(t).context {
		return false
	}
	if t.Kind() == reflect.Pointer {
		if k.sum = k.sum.Bool(v.IsNil()); v.IsNil() || !k.first(visit{v.UnsafePointer(), t}) {
			return true
		}
	}
	if t.Kind() == reflect.Struct && !parentOf(v).IsValid() { // context.Background, or one like it
		k.sum = k.sum.Int(3).Type(t)
		return true
	}
	if t == endlessType {
		k.sum = k.sum.Int(5)
		k.inherited(v)
		return true
	}
	ctx, ok := readable(v).(context.Context)
	if !ok {
		k.refuse(v, "which cannot be read; keep what it stands for")
	}
	d, timed := ctx.(*deadline)
	switch {
	case ctx.Err() != nil:
		k.sum = hashContext(k.sum, ctx)
		k.addAny(context.Cause(ctx))
		if d, ok := ctx.Value(deadlineKey{}).(*deadline); ok {
			k.sum = k.sum.Int(d.at.UnixNano())
		}
		k.inherited(v)
	case timed:
		k.sum = hashContext(k.sum, ctx)
		k.add(parentOf(reflect.ValueOf(d.Context))) // its end is also that of d
	case ctx == k.c.interruptible: // there is one at a time
		k.sum = k.sum.Int(4)
	case t == valueType:
		k.valued(v.Elem())
		k.add(parentOf(v))
	default:
		k.refuse(v, "which cannot be told from another one; keep what it stands for")
	}
	return true
}

// valued adds the key and value of a context of context.WithValue.
func (k *valueHasher) valued(v reflect.Value) {
	k.add(v.FieldByName("key"))
	k.add(v.FieldByName("val"))
}

// inherited adds the values of a context and of all that it was derived from.
func (k *valueHasher) inherited(v reflect.Value) {
	for ; v.IsValid(); v = parentOf(v) {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch {
		case v.Type() == valueType:
			k.valued(v.Elem())
		case !k.traitOf(v.Type()).context:
			k.add(v)
			return
		}
	}
}

// parentOf returns what a context was derived from, which is in a field of interface type; the zero value if there is
// no such field.
func parentOf(v reflect.Value) reflect.Value {
	if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	parent := v.FieldByName("Context")
	if !parent.IsValid() {
		parent = v.FieldByName("c") // of context.WithoutCancel
	}
	return parent
}

// table adds a map, with its keys in a fixed order.
func (k *valueHasher) table(v reflect.Value) {
	if k.sum = k.sum.Bool(v.IsNil()); v.IsNil() || !k.first(visit{v.UnsafePointer(), mapType}) {
		return
	}
	if !ordered(v.Type().Key()) {
		k.refuse(v, "whose keys have no order; they must be strings, integers, or arrays or structs of these")
	}
	k.sum = k.sum.Int(int64(v.Len()))
	keys := v.MapKeys() // order-free: they are sorted
	of := func(key reflect.Value) uint64 {
		one := valueHasher{c: k.c}
		one.add(key)
		return uint64(one.sum)
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(of(a), of(b)) })
	for _, key := range keys {
		k.sum = k.sum.Uint64(of(key))
		k.add(v.MapIndex(key))
	}
}

// ordered reports whether what counts of the values of a type tells them apart.
func ordered(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return ordered(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !ordered(f.Type) || f.Tag.Get(keptTag) == uncounted {
				return false
			}
		}
		return true
	}
	return t.Kind() == reflect.String || t.Kind() >= reflect.Bool && t.Kind() <= reflect.Uintptr
}

// channel adds what a channel contains and what it waits for. For one that code has made it adds who waits for it: of
// two such channels that are otherwise the same, an event in one of them wakes another goroutine.
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
			k.first(visit{v.UnsafePointer(), channelType}) // two variables may have one channel, or two
			return
		}
	}
	for i := range c.sessionChans { // all of these get the same event, too
		if is(c.sessionChans[i].ch) {
			k.sum = k.sum.Int(2)
			k.first(visit{v.UnsafePointer(), channelType})
			return
		}
	}
	q := queueOf(v)
	if q == nil {
		k.refuse(v, "whose content cannot be read with this version of Go")
	}
	k.sum = k.sum.Int(3).Bool(q.closed != 0).Int(int64(v.Len())).Int(int64(v.Cap()))
	if !k.first(visit{v.UnsafePointer(), channelType}) {
		return
	}
	for _, g := range c.coroutines {
		if g.status == awaiting && slices.ContainsFunc(g.chans, is) {
			k.sum = k.sum.Uint64(g.title)
		}
	}
	for _, x := range c.fired {
		if v.Len() > 0 && is(x.ch) {
			k.sum = k.sum.Uint64(x.what)
			return
		}
	}
	for i := range v.Len() {
		k.add(q.item(i, v.Type().Elem()))
	}
}

// readable returns what v holds, which may be from an unexported field; nil if it cannot be read.
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
