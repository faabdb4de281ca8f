package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// TestWordsThatAreSaidToChangeNoVerdictChangeNone adds events of the words that a checker does not judge to random
// histories of every sort, and gives all such events another name.
func TestWordsThatAreSaidToChangeNoVerdictChangeNone(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	everySort(r, func(c Checker, history func() *history.History) {
		t.Run(fmt.Sprintf("%s %+v", c.Name(), c), func(t *testing.T) {
			for _, w := range c.(Declaring).Needs().Words {
				for n := 0; w.Unjudged && n < 200; n++ {
					h := saidMore(r, history(), w)
					if got, want := c.Check(h), c.Check(renamed(h, w)); got.Level != want.Level {
						t.Fatalf("%v, and %v if %q has another name:\n%s", got, want, w.Op, listed(h))
					}
				}
			}
		})
	})
}

// saidMore returns a history in which objects also say w, at any time.
func saidMore(r *rand.Rand, h *history.History, w Word) *history.History {
	x := *h
	x.Events = slices.Clone(h.Events)
	for range r.IntN(4) {
		if len(h.Events) == 0 {
			break
		}
		said, of := h.Events[r.IntN(len(h.Events))], h.Events[r.IntN(len(h.Events))]
		e := history.Event{Kind: history.Told, Client: of.Client, Object: of.Object, Op: w.Op, Path: said.Path,
			Value: said.Value}
		if w.Class == Operation {
			e.Kind = []history.Kind{history.Invoke, history.Return}[r.IntN(2)]
		}
		if e.Object > 0 {
			x.Events = slices.Insert(x.Events, r.IntN(len(x.Events)+1), e)
		}
	}
	return &x
}

// renamed returns a history in which the events of w have a name that no checker knows.
func renamed(h *history.History, w Word) *history.History {
	x := *h
	x.Events = slices.Clone(h.Events)
	for i := range x.Events {
		if class, ok := ClassOf(x.Events[i].Kind); ok && class == w.Class && x.Events[i].Op == w.Op {
			x.Events[i].Op = "of no checker"
		}
	}
	return &x
}
