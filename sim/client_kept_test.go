package sim

import (
	"context"
	"errors"
	"testing"
	"time"
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

// TestWhatCodeCanTellApartIsKeptApart has values that differ in one way each.
func TestWhatCodeCanTellApartIsKeptApart(t *testing.T) {
	one, two := 1, 1
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
