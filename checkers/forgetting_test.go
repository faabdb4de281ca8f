package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// family is a sort of histories, a checker of them, and its property said in another
// way: naively, by looking at the whole history.
type family struct {
	checker Monitored
	naive   func(h *history.History) Level
	start   stage
}

// stage is what programs and znodes say of a history so far: what a state of the world
// contains. Objects, and zxids, are numbered from 1 in it; a history has other
// numbers, in the same order.
type stage interface {
	// propose returns an event that might come next.
	propose(r *rand.Rand) history.Event
	// take takes an event, unless it cannot come next.
	take(e *history.Event) bool
	clone() stage
	// key is the same for stages after which the same can happen.
	key() string
}

// extend adds n events at random.
func extend(r *rand.Rand, s stage, n int) (events []history.Event) {
	for range 10 * n {
		if e := s.propose(r); len(events) < n && s.take(&e) {
			events = append(events, e)
		}
	}
	return events
}

// after returns the stage after events, false if they cannot happen.
func (f family) after(events []history.Event) (stage, bool) {
	s := f.start.clone()
	for i := range events {
		if !s.take(&events[i]) {
			return nil, false
		}
	}
	return s, true
}

// numbering is how a run happens to number its objects and txns.
type numbering struct {
	objects [6]int32
	step    int64 // from one zxid to the next
}

func newNumbering(r *rand.Rand) numbering {
	return numbering{[][6]int32{{0, 1, 2, 3, 4, 5}, {0, 3, 1, 2, 5, 4}, {0, 20, 40, 10, 50, 30}}[r.IntN(3)],
		1 + r.Int64N(3)}
}

// history returns the history of these events.
func (n numbering) history(events ...[]history.Event) *history.History {
	h := &history.History{}
	h.Reset(4)
	h.Txns = true
	for _, e := range slices.Concat(events...) {
		e.Object, e.Zxid = n.objects[e.Object], e.Zxid*n.step
		if e.Kind == history.Return && e.Op == "enter" {
			e.Value *= n.step
		}
		h.Add(e)
	}
	return h
}

// agrees compares the verdicts on random histories with those of the naive property.
func (f family) agrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const all = 20_000
	illegal := 0
	for range all {
		h := newNumbering(r).history(extend(r, f.start.clone(), r.IntN(28)))
		got, want := f.checker.Check(h), f.naive(h)
		if got.Level != want {
			show(t, h)
			t.Fatalf("%s says %+v, looking at everything %v", f.checker.Name(), got, want)
		}
		if want != OK {
			illegal++
		}
	}
	if illegal < all/100 || illegal > all*99/100 {
		t.Errorf("%s: %d of %d histories are illegal: too few of one sort", f.checker.Name(), illegal, all)
	}
}

func show(t *testing.T, h *history.History) {
	for _, e := range h.Events {
		t.Log(e, "object", e.Object, "value", e.Value)
	}
}

// prefix is a history so far.
type prefix struct {
	events []history.Event
	numbering
	stage
}

// forgets makes prefixes of which the monitor remembers the same, and the world as
// well, and goes on with both in the same way: the verdicts must be the same.
func (f family) forgets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	groups := map[string][]prefix{}
	var order []string
	for range 6_000 {
		events := extend(r, f.start.clone(), r.IntN(12))
		for range 3 {
			p := prefix{events: events, numbering: newNumbering(r)}
			if hash, ok := f.remembered(&p); ok {
				k := fmt.Sprint(hash, p.key())
				if len(groups[k]) == 0 {
					order = append(order, k)
				}
				same := func(q prefix) bool { return slices.Equal(q.events, p.events) }
				if len(groups[k]) < 5 && !slices.ContainsFunc(groups[k], same) {
					groups[k] = append(groups[k], p)
				}
			}
			events = mutated(r, events)
		}
	}
	pairs, illegal := 0, 0
	for _, k := range order {
		for i, p := range groups[k] {
			for _, q := range groups[k][:i] {
				pairs++
				for range 4 {
					illegal += f.goOn(t, r, p, q)
				}
			}
		}
	}
	if pairs < 3000 || illegal < 200 {
		t.Errorf("%s: only %d pairs of prefixes, which go wrong in %d of %d ways", f.checker.Name(), pairs, illegal, 4*pairs)
	}
}

// remembered returns what the monitor remembers of a prefix, and notes its stage. It
// returns false if it cannot happen or is violated.
func (f family) remembered(p *prefix) (hash uint64, ok bool) {
	if p.stage, ok = f.after(p.events); !ok {
		return 0, false
	}
	m, h := f.checker.Monitor(), p.history(p.events)
	for i := range h.Events {
		if m.Step(h, i).Level != OK {
			return 0, false
		}
	}
	return digest(m), true
}

// mutated returns the events with something left out, swapped or changed, which may
// make it impossible.
func mutated(r *rand.Rand, events []history.Event) []history.Event {
	list := slices.Clone(events)
	if len(list) < 2 {
		return list
	}
	i := r.IntN(len(list) - 1)
	switch x := list[i]; r.IntN(5) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1: // all of an object
		return slices.DeleteFunc(list, func(e history.Event) bool { return x.Object != 0 && e.Object == x.Object })
	case 2: // an operation
		for k := i + 1; k < len(list); k++ {
			if e := list[k]; x.Kind == history.Invoke && e.Kind == history.Return && e.Object == x.Object {
				return slices.Delete(slices.Delete(list, k, k+1), i, i+1)
			}
		}
	case 3:
		list[i].Value = 1 + r.Int64N(3)
	}
	list[i], list[i+1] = list[i+1], list[i]
	return list
}

// goOn goes on with two prefixes in the same way, and compares the verdicts. It
// returns 1 if both are violated.
func (f family) goOn(t *testing.T, r *rand.Rand, p, q prefix) int {
	more := extend(r, p.clone(), 1+r.IntN(10))
	s := q.clone()
	for i := range more {
		if !s.take(&more[i]) {
			t.Fatalf("%s: after stages with the key %s the same can not happen", f.checker.Name(), p.key())
		}
	}
	x, y := p.history(p.events, more), q.history(q.events, more)
	a, b := f.naive(x), f.naive(y)
	if a != b {
		show(t, x)
		t.Log("and")
		show(t, y)
		t.Fatalf("%s: the monitor remembers the same of the first %d and %d events, but %v and %v comes of it",
			f.checker.Name(), len(p.events), len(q.events), a, b)
	}
	if a == Violated {
		return 1
	}
	return 0
}
