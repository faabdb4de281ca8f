package checkers

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// TestTheTableNamesThePathsAndNumbersThatDecide leaves the Path or the Value out of the events of one word, in random
// histories of every sort. Where that changes a verdict, the table says that the word has one, or an answer.
func TestTheTableNamesThePathsAndNumbersThatDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	everySort(r, func(c Checker, history func() *history.History) {
		seen := map[string]bool{}
		for range 60 {
			h := history()
			want := c.Check(h).Level
			for _, w := range c.(Declaring).Needs().Words {
				for _, kind := range kindsOf(w) {
					for _, field := range [...]string{"Path", "Value"} {
						said := strings.Contains(w.Doc, field) || strings.Contains(w.Doc, "answered by")
						if what := w.Op + field; !said && !seen[what] && c.Check(lacking(h, w.Op, kind, field)).Level != want {
							seen[what] = true
							t.Errorf("%s goes by the %s of the %v of %q, which %s", c.Name(), field, kind, w.Op, w.Doc)
						}
					}
				}
			}
		}
	})
}

// kindsOf returns the kinds of the events that have a word.
func kindsOf(w Word) (kinds []history.Kind) {
	for _, k := range [...]history.Kind{history.Invoke, history.Return, history.Told} {
		if c, _ := ClassOf(k); c == w.Class {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// lacking returns a history in which the events of a kind and word have no Path, or no Value.
func lacking(h *history.History, op string, kind history.Kind, field string) *history.History {
	x := *h
	x.Events = slices.Clone(h.Events)
	for i := range x.Events {
		if e := &x.Events[i]; e.Kind == kind && e.Op == op {
			if field == "Path" {
				e.Path = ""
			} else {
				e.Value = 0
			}
		}
	}
	return &x
}
