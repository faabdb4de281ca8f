package checkers

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// workload is a sort of small histories, for a checker with a monitor. Clients are c1 to
// c3, who may crash; object o4 is a second one of c1.
type workload struct {
	name    string
	checker Monitored
	naive   func(h *history.History) Level // the property, said in another way

	// next returns an event that can follow on those of h, right or wrong; Kind Calm
	// if it has no idea.
	next func(r *rand.Rand, h *history.History) history.Event
	// end says how everything stands at the end.
	end func(r *rand.Rand, h *history.History)
	// world returns what else the state of the world contains.
	world func(h *history.History) string
	most  int // events of a history; 0: usualMost
}

const usualMost = 21

// grow adds up to n events to h.
func (f *workload) grow(r *rand.Rand, h *history.History, n int) {
	for range n {
		e := f.next(r, h)
		if e.Client == 0 {
			e.Client = (e.Object-1)%3 + 1
		}
		if e.Kind != history.Calm {
			h.Add(e)
		}
	}
}

// anyObject returns a random object of a client that has not crashed, rather one at
// work, and the Invoke of its operation in progress, nil if there is none; 0 if all have crashed.
func anyObject(r *rand.Rand, h *history.History) (object int32, begun *history.Event) {
	for range 4 {
		o := int32(1 + r.IntN(4))
		if slices.ContainsFunc(h.Events, func(e history.Event) bool {
			return e.Kind == history.Crashed &&
				e.Client == (o-1)%3+1
		}) {
			continue
		}
		if object, begun = o, progress(h, o); begun != nil {
			break
		}
	}
	return object, begun
}

// progress returns the Invoke of an object's operation in progress.
func progress(h *history.History, object int32) *history.Event {
	for i := len(h.Events) - 1; i >= 0; i-- {
		switch e := &h.Events[i]; {
		case e.Object == object && e.Kind == history.Return:
			return nil
		case e.Object == object && e.Kind == history.Invoke:
			return e
		}
	}
	return nil
}

// state returns what the state of the world contains: who has crashed, and of the
// others which objects there are and what they are at.
func (f *workload) state(h *history.History) string {
	var b strings.Builder
	var crashed [4]bool
	for _, e := range h.Events {
		crashed[e.Client] = crashed[e.Client] || e.Kind == history.Crashed
	}
	var seen []int32
	for _, e := range h.Events {
		if e.Object != 0 && !crashed[e.Client] && !slices.Contains(seen, e.Object) {
			seen = append(seen, e.Object)
		}
	}
	slices.SortStableFunc(seen, func(a, b int32) int { return int((a-1)%3 - (b-1)%3) })
	fmt.Fprint(&b, crashed)
	for _, o := range seen {
		fmt.Fprint(&b, " o", o)
		if e := progress(h, o); e != nil {
			fmt.Fprint(&b, *e, e.Value)
		}
	}
	if f.world != nil {
		b.WriteString(f.world(h))
	}
	return b.String()
}

// quiet steps the monitor through h, and reports whether it finds nothing.
func quiet(m Monitor, h *history.History) bool {
	m.Reset()
	return follow(h, m).Level == OK
}

// proper reports whether h is one that a run can record, whatever the recipe does wrong:
// operations of an object one after the other, nothing after a crash, no value put or
// submitted twice.
func proper(h *history.History) bool {
	var open [8]string
	var crashed [4]bool
	given := map[int64]bool{}
	for _, e := range h.Events {
		at := &open[e.Object]
		if crashed[e.Client] || e.Kind == history.Invoke && *at != "" || e.Kind == history.Return && *at != e.Op {
			return false
		}
		switch e.Kind {
		case history.Invoke:
			*at = e.Op
			if e.Op == "put" || e.Op == "submit" {
				if given[e.Value] {
					return false
				}
				given[e.Value] = true
			}
		case history.Return:
			*at = ""
		case history.Crashed:
			crashed[e.Client] = true
		}
	}
	return true
}

// mutated returns h with a few events left out, exchanged or changed.
func (f *workload) mutated(r *rand.Rand, h *history.History) *history.History {
	x := *h
	x.Events = slices.Clone(h.Events)
	for range 1 + r.IntN(3) {
		if len(x.Events) < 2 || !proper(&x) {
			break
		}
		i := r.IntN(len(x.Events) - 1)
		e := &x.Events[i]
		switch r.IntN(5) {
		case 0:
			x.Events = slices.Delete(x.Events, i, i+1)
		case 1:
			if e.Client != x.Events[i+1].Client {
				x.Events[i], x.Events[i+1] = x.Events[i+1], x.Events[i]
			}
		case 2: // an operation that is over
			k := slices.IndexFunc(x.Events[i+1:], func(y history.Event) bool {
				return y.Kind == history.Return &&
					y.Object == e.Object
			})
			if e.Kind == history.Invoke && k >= 0 {
				x.Events = slices.Delete(x.Events, i+1+k, i+2+k)
				x.Events = slices.Delete(x.Events, i, i+1)
			}
		case 3: // two objects have each other's part
			a, b := int32(1+r.IntN(4)), int32(1+r.IntN(4))
			for k := range x.Events {
				switch y := &x.Events[k]; y.Object {
				case a:
					y.Object, y.Client = b, (b-1)%3+1
				case b:
					y.Object, y.Client = a, (a-1)%3+1
				}
			}
		case 4: // another answer
			part := x
			part.Events = slices.Clone(x.Events[:i])
			if y := f.next(r, &part); y.Kind == e.Kind && y.Object == e.Object {
				if y.Client == 0 {
					y.Client = e.Client
				}
				*e = y
			}
		}
	}
	return &x
}

// testAgreement compares the verdicts of Check, and of the monitor, with the naive
// ones on random histories.
func (f *workload) testAgreement(t *testing.T) {
	const histories = 20_000
	r := rand.New(rand.NewPCG(7, 8))
	m := f.checker.Monitor()
	illegal, early := 0, 0
	for range histories {
		h := &history.History{}
		h.Reset(3)
		h.Txns = true
		f.grow(r, h, 2+r.IntN(cmp.Or(f.most, usualMost)-1))
		f.end(r, h)
		want := f.naive(h)
		if got := f.checker.Check(h); got.Level != want {
			t.Fatalf("Check says %v, the naive statement %v:\n%s%v", got, want, describe(h), h.Tree)
		}
		if want == Violated {
			illegal++
		}
		if !quiet(m, h) {
			if early++; want != Violated {
				t.Fatalf("the monitor finds a violation, the naive statement says %v:\n%s", want, describe(h))
			}
		}
	}
	t.Logf("%d histories: %d illegal, %d before their end", histories, illegal, early)
	if illegal < histories/20 || illegal > histories*19/20 {
		t.Error("one of the kinds is too rare to show anything")
	}
}

// testForgetting looks for two prefixes that the monitor takes for the same, in
// the same state of the world, and a continuation that they do not share the verdict of.
func (f *workload) testForgetting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	m := f.checker.Monitor()
	groups := map[string][]*history.History{}
	var keys []string
	add := func(h *history.History) {
		if !proper(h) || !quiet(m, h) {
			return
		}
		key := fmt.Sprint(digest(m), f.state(h))
		same := func(x *history.History) bool { return slices.Equal(x.Events, h.Events) }
		if g := groups[key]; len(g) < 8 && !slices.ContainsFunc(g, same) {
			if len(g) == 0 {
				keys = append(keys, key)
			}
			groups[key] = append(g, h)
		}
	}
	for range 6000 {
		h := &history.History{}
		h.Reset(3)
		h.Txns = true
		f.grow(r, h, 1+r.IntN(12))
		add(h)
		for range 4 {
			add(f.mutated(r, h))
		}
	}
	pairs, illegal := 0, 0
	for _, key := range keys {
		g := groups[key]
		for _, b := range g[1:] {
			pairs++
			for range 12 {
				a := g[0]
				if f.differ(t, r, a, b, &illegal) {
					return
				}
			}
		}
	}
	t.Logf("%d states, %d pairs; %d of their continuations are illegal", len(keys), pairs, illegal)
	if pairs < 2000 || illegal < 2000 {
		t.Errorf("%d pairs and %d illegal continuations show nothing", pairs, illegal)
	}
}

// differ continues a and b in the same way, and reports whether the verdicts differ.
func (f *workload) differ(t *testing.T, r *rand.Rand, a, b *history.History, illegal *int) bool {
	x := *a
	x.Events = slices.Clone(a.Events)
	f.grow(r, &x, r.IntN(9))
	f.end(r, &x)
	y := x
	y.Events = append(slices.Clone(b.Events), x.Events[len(a.Events):]...)
	if !proper(&y) {
		return false
	}
	v, w := f.checker.Check(&x), f.checker.Check(&y)
	if v.Level == Violated {
		*illegal++
	}
	if v.Level != w.Level {
		t.Errorf("the same to the monitor for %d and %d events:\n%s%v\n\n%s%v\n%v", len(a.Events), len(b.Events),
			describe(&x), v, describe(&y), w, x.Tree)
	}
	return v.Level != w.Level
}

// TestMonitors is about the monitors that workloads are made for.
func TestMonitors(t *testing.T) {
	long(t)
	for _, f := range slices.Concat(queueFamilies, []workload{counterFamily, namesFamily, tasksFamily}, waitsFamilies,
		watchesFamilies) {
		t.Run(f.name, func(t *testing.T) {
			t.Run("verdicts", f.testAgreement)
			t.Run("forgetting", f.testForgetting)
		})
	}
}
