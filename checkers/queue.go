package checkers

import (
	"context"
	"errors"
	"strconv"

	"zksim/model/history"
)

// queueOp is an operation on a queue. The history names them put, take, trytake,
// claim, tryclaim, ack and return, and tells items apart by their Value, which no
// other put has; the data of an item's znode are that number in decimal. An
// operation that returns with an error and OK, "refused", certainly did nothing.
type queueOp struct {
	name       string
	client     int32
	object     int32
	item       int64 // put, acknowledged, returned or got; 0: none
	begin, end int   // positions; end is after the last event if it never returned
	err        error
	refused    bool
	open       bool // it never returned
}

// queueOps returns the operations in the order in which they began.
func queueOps(h *history.History) []queueOp {
	var ops []queueOp
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Invoke:
			ops = append(ops, queueOp{name: e.Op, client: e.Client, object: e.Object, item: e.Value, begin: i, end: len(h.Events), open: true})
		case history.Return:
			for k := len(ops) - 1; k >= 0; k-- {
				if o := &ops[k]; o.object == e.Object && o.open {
					o.end, o.err, o.refused, o.open = i, e.Err, e.OK, false
					if e.Value != 0 {
						o.item = e.Value
					}
					break
				}
			}
		}
	}
	return ops
}

func (o *queueOp) takes() bool  { return o.name == "take" || o.name == "trytake" }
func (o *queueOp) claims() bool { return o.name == "claim" || o.name == "tryclaim" }
func (o *queueOp) tries() bool  { return o.name == "trytake" || o.name == "tryclaim" }

// succeeded reports whether the operation did what it was asked to.
func (o *queueOp) succeeded() bool { return !o.open && o.err == nil }

// doubtful reports whether it may have had its effect without saying so.
func (o *queueOp) doubtful() bool { return o.open || o.err != nil && !o.refused }

// delivers reports whether it gave an item to its caller.
func (o *queueOp) delivers() bool { return (o.takes() || o.claims()) && o.succeeded() }

// removes reports whether it removed the item from the queue, and said so.
func (o *queueOp) removes() bool { return (o.takes() || o.name == "ack") && o.succeeded() }

// interrupted reports whether it ended because its caller gave up.
func (o *queueOp) interrupted() bool {
	return errors.Is(o.err, context.Canceled) || errors.Is(o.err, context.DeadlineExceeded)
}

// queued returns how often an item is in the queue at the end of a run.
func queued(h *history.History, item int64) (n int) {
	for _, z := range h.Tree {
		if z.Data == strconv.FormatInt(item, 10) {
			n++
		}
	}
	return n
}
