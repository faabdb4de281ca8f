package checkers

import (
	"fmt"
	"slices"
	"strconv"

	"zksim/model/history"
)

// Counter compares the answers of a counter with those of a sequential one. The operations in the history are "get"
// (the answer is in Value), "add" (Value is what to add, and the sum) and "cas", compare and set (Path is the old
// number in decimal, Value the new one; the answer is 1 or 0). A change that ended with an error was not made if the
// error is a legal answer. With another error, or without an end, it may have been made.
type Counter struct{}

// Name implements [Checker].
func (Counter) Name() string { return "counter" }

// Doc implements [Checker].
func (Counter) Doc() string {
	return "the answers are those of a counter that does one operation after the other"
}

// Needs implements [Declaring].
func (Counter) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("adds Value; answered by the sum", "add"),
			judged("sets the number to Value if it is Path; answered by 1 or 0", "cas"),
			judged("answered by the number", "get")),
		Seen: []Need{some("an answer of add, cas or get", "record it with Object.Record", succeeds("add", "cas",
			"get"))},
	}
}

// count is the state of the sequential counter.
type count int64

// counting is one operation on it.
type counting struct {
	span
	op       string
	old      int64 // of cas
	value    int64 // to be added or set
	answer   int64
	answered bool
}

func (n count) step(o counting) (bool, count) {
	next, answer := n.execute(&o)
	return !o.answered || answer == o.answer, next
}

// execute returns the number after the operation, and the answer.
func (n count) execute(o *counting) (next count, answer int64) {
	switch {
	case o.op == "add":
		next = n + count(o.value)
		return next, int64(next)
	case o.op == "cas" && int64(n) == o.old:
		return count(o.value), 1
	case o.op == "cas":
		return n, 0
	}
	return n, int64(n)
}

// isCounting reports whether an operation is one of a counter.
func isCounting(op string) bool { return op == "add" || op == "cas" || op == "get" }

// explicable reports whether the operations can be explained.
func explicable(ops []counting) Level { return linearizable(ops, 0, count.step) }

// Check implements [Checker].
func (c Counter) Check(h *history.History) Verdict {
	switch explicable(countings(h.Events)) {
	case Unknown:
		return tooLong(c)
	case Violated:
		for i := range h.Events { // the shortest part that cannot be explained
			e := &h.Events[i]
			if e.Kind == history.Return && explicable(countings(h.Events[:i+1])) == Violated {
				return c.inexplicable(h, i)
			}
		}
	}
	return Verdict{}
}

// inexplicable returns the verdict on the end of an operation, event i, that no order explains.
func (c Counter) inexplicable(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if e.Err != nil {
		return violated(c, i, "no order of the operations explains that c%d's %s was refused", e.Client, asked(h, i))
	}
	return violated(c, i, "no order of the operations explains the answer %d of c%d's %s", e.Value, e.Client, asked(h, i))
}

// asked describes the operation that ends at event i.
func asked(h *history.History, i int) string {
	e := &h.Events[i]
	for ; i > 0 && (h.Events[i].Kind != history.Invoke || ongoingOf(&h.Events[i]) != ongoingOf(e)); i-- {
	}
	switch x := &h.Events[i]; e.Op {
	case "add":
		return fmt.Sprintf("add of %d", x.Value)
	case "cas":
		return fmt.Sprintf("cas from %s to %d", x.Path, x.Value)
	}
	return e.Op
}

// countings translates a history. An operation without an answer may happen at any later moment, or never.
func countings(events []history.Event) []counting {
	var ops []counting
	pending := map[ongoing]int{} // index in ops
	for i := range events {
		e := &events[i]
		if !isCounting(e.Op) {
			continue
		}
		switch e.Kind {
		case history.Invoke:
			old, _ := strconv.ParseInt(e.Path, 10, 64)
			pending[ongoingOf(e)] = len(ops)
			ops = append(ops, counting{span: span{e.Client, i, len(events) + 1}, op: e.Op, old: old, value: e.Value})
		case history.Return:
			k, ok := pending[ongoingOf(e)]
			if !ok {
				continue
			}
			o := &ops[k]
			switch {
			case e.Err == nil:
				o.answer, o.answered, o.ret = e.Value, true, i
			case e.OK:
				o.op = "get" // changes nothing and has no answer
			}
		}
	}
	return ops
}
