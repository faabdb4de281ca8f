package checkers

import (
	"fmt"
	"hash/maphash"
	"html"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"zksim/model/history"
)

// maxSteps bounds porcupine's search for one history. The search takes some seconds, and the verdict is the same on
// every machine.
const maxSteps = 3_000_000

// patience bounds the search for a drawing, which gives no verdict.
const patience = 10 * time.Second

// span is the client of an operation, and the positions of a history between which it was made.
type span struct {
	client    int32
	call, ret int
}

func (s span) when() span { return s }

// spanned is an operation that has a span.
type spanned interface{ when() span }

// linearizable searches for an order of the operations that a sequential specification accepts. step returns whether an
// operation, with what it answered, is possible in a state, and the next state. An operation that may not have happened
// at all ends after the history. The order in which they end is tried first, because most histories need no search.
// Then porcupine searches, in time exponential in the number of operations that are under way together. After maxSteps
// the search is given up, as Unknown.
func linearizable[S comparable, O spanned](ops []O, init S, step func(S, O) (bool, S)) Level {
	if possible(ops, init, step) {
		return OK
	}
	return withinSteps(ops, init, step, maxSteps)
}

// withinSteps is the part of linearizable that porcupine does, in a limited number of steps.
func withinSteps[S comparable, O spanned](ops []O, init S, step func(S, O) (bool, S), limit int) Level {
	model, steps := modelOf(init, step), 0
	model.Step = func(state, input, _ any) (bool, any) { // in one goroutine, because the model has no partitions
		if steps++; steps > limit {
			return false, state // so that the search ends soon
		}
		return step(state.(S), input.(O))
	}
	switch {
	case porcupine.CheckOperations(model, operationsOf(ops)):
		return OK
	case steps > limit:
		return Unknown
	}
	return Violated
}

func operationsOf[O spanned](ops []O) []porcupine.Operation {
	list := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		s := o.when()
		list[i] = porcupine.Operation{ClientId: int(s.client), Input: o, Call: int64(s.call), Return: int64(s.ret)}
	}
	return list
}

func modelOf[S comparable, O any](init S, step func(S, O) (bool, S)) porcupine.Model {
	seed := maphash.MakeSeed()
	return porcupine.Model{
		Init:              func() any { return init },
		Step:              func(state, input, _ any) (bool, any) { return step(state.(S), input.(O)) },
		Equal:             func(a, b any) bool { return a == b },
		Hash:              func(state any) uint64 { return maphash.Comparable(seed, state.(S)) },
		DescribeOperation: func(input, _ any) string { return clipped(fmt.Sprint(input)) },
		// the page takes it for HTML
		DescribeState: func(state any) string { return html.EscapeString(clipped(fmt.Sprint(state))) },
	}
}

// draw writes porcupine's page about the operations.
func draw[S comparable, O spanned](w io.Writer, h *history.History, ops []O, init S,
	step func(S, O) (bool, S)) (bool, error) {
	if len(ops) == 0 || len(ops) > maxDrawn {
		return false, nil
	}
	model := modelOf(init, step)
	_, info := porcupine.CheckOperationsVerbose(model, operationsOf(ops), patience)
	var notes []porcupine.Annotation
	for _, r := range asides(h) {
		if len(notes) < maxDrawn {
			notes = append(notes, porcupine.Annotation{Tag: r.row, Start: int64(r.begin), End: int64(r.end),
				Description: clipped(r.text)})
		}
	}
	info.AddAnnotations(notes)
	return true, porcupine.Visualize(model, info, w)
}

// possible tries the order in which the operations end.
func possible[S any, O spanned](ops []O, s S, step func(S, O) (bool, S)) bool {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b O) int { return a.when().ret - b.when().ret })
	for _, o := range ops {
		var ok bool
		if ok, s = step(s, o); !ok {
			return false
		}
	}
	return true
}

// tooLong is the verdict when the steps have run out.
func tooLong(c Checker) Verdict {
	return Verdict{Unknown, c.Name(), "the history is too long to be judged in time", -1}
}
