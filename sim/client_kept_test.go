package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/go-zookeeper/zk"
)

// kept returns the hash of what a client keeps, and why that is refused if it is.
func kept(t *testing.T, x any) (h uint64, refused string) {
	t.Helper()
	w := NewWorld()
	defer w.Close()
	w.Reset(Config{Clients: 1, Servers: 1}, nil, func(*Client) {})
	k := &valueHasher{}
	k.reset(w.Clients()[0])
	defer func() {
		if why, ok := recover().(refusal); ok {
			refused = string(why)
		}
	}()
	k.addAny(x)
	return uint64(k.sum), ""
}

// filled returns a channel with values in it.
func filled(room int, values ...int) chan int {
	ch := make(chan int, room)
	for _, v := range values {
		ch <- v
	}
	return ch
}

func closed(ch chan int) chan int {
	close(ch)
	return ch
}

// turned returns a channel whose values do not begin where its memory does.
func turned(values ...int) chan int {
	ch := filled(len(values)+1, make([]int, len(values)+1)...)
	for _, v := range values {
		<-ch
		ch <- v
	}
	<-ch
	return ch
}

func over(why error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	return ctx
}

func valued(x any) context.Context {
	return context.WithValue(context.WithValue(context.Background(), "key", x), "other", 0)
}

func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// named is a context by itself.
type named struct {
	of   context.Context
	name string
}

func (n named) Deadline() (time.Time, bool) { return n.of.Deadline() }
func (n named) Done() <-chan struct{}       { return n.of.Done() }
func (n named) Err() error                  { return n.of.Err() }
func (n named) Value(key any) any           { return n.of.Value(key) }

// another is another type with nothing in it.
type another struct{}

func zone(name string, offset int) *time.Location { return time.FixedZone(name, offset) }

// noted has a field that does not count.
type noted struct {
	n    int
	note string `kept:"-"`
}

// words is another type of the same maps, and word of the same strings.
type (
	words map[string]bool
	word  string
)

// instance returns a function that has the same name for all types.
//
//go:noinline
func instance[T any]() func() int {
	return func() int { return int(unsafe.Sizeof(*new(T))) }
}

// TestWhatCodeCanTellApartIsKeptApart has values that differ in one way each.
func TestWhatCodeCanTellApartIsKeptApart(t *testing.T) {
	one, two := 1, 1
	list, text, texts := words{}, "a", [2]string{"a", "a"}
	same := filled(1)
	bytes, alike := []byte("aab"), []byte("aac")
	for name, x := range map[string][2]any{ // order-free: each by itself
		"a number":                  {1, 2},
		"a channel that is closed":  {filled(1), closed(filled(1))},
		"room in a channel":         {filled(1, 7), filled(2, 7)},
		"content":                   {filled(2, 7), filled(2, 8)},
		"the order of content":      {filled(2, 7, 8), filled(2, 8, 7)},
		"content for one direction": {(<-chan int)(filled(1, 7)), (<-chan int)(filled(1, 8))},
		"content of a closed one":   {closed(filled(1, 7)), closed(filled(1, 8))},
		"which of two channels":     {[]chan int{filled(1), filled(1)}, []chan int{same, same}},
		"which of two pointers":     {[]*int{&one, &two}, []*int{&one, &one}},
		"one map by two types":      {[]any{list, map[string]bool(list)}, []any{list, map[string]bool{}}},
		"one string by two types":   {[]any{&text, (*word)(&text)}, []any{&texts[0], (*word)(&texts[1])}},
		"which function":            {func() int { return 1 }, func() int { return 2 }},
		"bytes behind a prefix":     {[][]byte{bytes[:1], bytes}, [][]byte{alike[:1], alike}},
		"bytes that are shared":     {[][]byte{bytes, bytes[1:]}, [][]byte{bytes, []byte("ab")}},
		"a value of a context":      {valued(1), valued(2)},
		"... that has ended":        {ended(valued(1)), ended(valued(2))},
		"... without the end of it": {ended(context.WithoutCancel(valued(1))), ended(context.WithoutCancel(valued(2)))},
		"a context of another kind": {named{context.Background(), "a"}, named{context.Background(), "b"}},
		"... that has ended, too":   {named{over(nil), "a"}, named{over(nil), "b"}},
		"... that is the origin":    {ended(named{context.Background(), "a"}), ended(named{context.Background(), "b"})},
		"the cause of an end":       {over(errors.New("a")), over(errors.New("b"))},
		"an end":                    {context.Background(), over(nil)},
		"nil and empty":             {[]int(nil), []int{}},
		"the type of a number":      {uint8(1), uint16(1)},
		"the type of nothing":       {struct{}{}, another{}},
		"an error and its text":     {zk.ErrNoNode, fmt.Errorf("%v", zk.ErrNoNode)},
		"what a cause wraps":        {over(fmt.Errorf("%w", zk.ErrNoNode)), over(fmt.Errorf("%v", zk.ErrNoNode))},
		"a time zone's offset":      {zone("x", 1), zone("x", 2)},
		"a time zone's name":        {zone("x", 1), zone("y", 1)},
		"the time zone of a time":   {time.Unix(0, 0).In(zone("x", 1)), time.Unix(0, 0).In(zone("x", 2))},
		"a context that never ends": {context.WithoutCancel(valued(1)), context.WithoutCancel(valued(2))},
		"whether it ever ends":      {context.WithoutCancel(context.Background()), context.Background()},
	} {
		a, why := kept(t, x[0])
		b, whyNot := kept(t, x[1])
		if why != "" || whyNot != "" || a == b {
			t.Errorf("%s: %x, %x; %s%s", name, a, b, why, whyNot)
		}
	}
}

func TestWhatCodeCannotTellApartIsKeptAsOne(t *testing.T) {
	for name, x := range map[string][2]any{ // order-free: each by itself
		"where in its memory a channel begins": {filled(3, 7, 8), turned(7, 8)},
		"addresses":                            {new(int), new(int)},
		"a field that does not count":          {noted{1, "a"}, noted{1, "b"}},
	} {
		a, why := kept(t, x[0])
		b, whyNot := kept(t, x[1])
		if why != "" || whyNot != "" || a != b {
			t.Errorf("%s: %x, %x; %s%s", name, a, b, why, whyNot)
		}
	}
}

// TestWhatCannotBeKeptIsRefused has values of which nobody can say what code may do with them.
func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	within, stop := context.WithCancel(context.Background())
	defer stop()
	for want, x := range map[string]any{
		"c1 keeps a *context.timerCtx, which cannot be told from another one; keep what it stands for": ctx,
		"c1 keeps a *context.cancelCtx, which cannot be told from another one; keep what it stands for": context.WithValue(
			within, "key", 1),
		"c1 keeps a map[float64]int, whose keys have no order; they must be strings, integers, or arrays or structs of " +
			"these": map[float64]int{1: 1},
		"c1 keeps a map[sim.noted]int, whose keys have no order; they must be strings, integers, or arrays or structs of " +
			"these": map[noted]int{{1, "a"}: 1},
		"c1 keeps a func() int, zksim/sim.instance[...].func1, of a generic function, whose instances cannot be told " +
			"apart; keep what it stands for": instance[int8](),
	} {
		if _, refused := kept(t, x); refused != want {
			t.Errorf("%q, not %q", refused, want)
		}
	}
}

// TestChannelsAreKnown fails with a Go whose channels look otherwise: then nothing that has one can be kept.
func TestChannelsAreKnown(t *testing.T) {
	if !queueKnown {
		t.Error("channels of this Go are not known")
	}
}
