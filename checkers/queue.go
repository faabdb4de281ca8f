package checkers

import (
	"slices"
	"strconv"

	"zksim/internal/hash"
	"zksim/model/history"
)

// queueOp is an operation on a queue. The history names them put, take, trytake, claim, tryclaim, ack and return. It
// tells items apart by their Value, which no other put has; the data of an item's znode is that number in decimal. An
// operation that returns with an error and OK, "refused", certainly did nothing.
type queueOp struct {
	caller
	name  string
	item  int64 // put, acknowledged, returned or got; 0: none
	begin int   // position
	open  bool  // it has not returned

	failed, refused bool
	interrupted     bool // its caller gave up
}

// returns notes that the operation has returned.
func (o *queueOp) returns(e *history.Event) {
	o.open, o.failed, o.refused = false, e.Err != nil, e.OK
	o.interrupted = gaveUp(e.Err)
	if e.Value != 0 {
		o.item = e.Value
	}
}

// queueOps are the operations in progress, in the order in which they began. They are part of a world's state, except
// those of clients that have crashed. An object may have several, as when one goroutine puts and another one takes.
type queueOps []queueOp

// step returns the operation that begins or ends with event i, if one does.
func (q *queueOps) step(h *history.History, i int) (o queueOp, ok bool) {
	e := &h.Events[i]
	switch e.Kind {
	case history.Invoke:
		o = queueOp{caller: callerOf(e), name: e.Op, item: e.Value, begin: i, open: true}
		*q = append(*q, o)
		return o, true
	case history.Return:
		for k := len(*q) - 1; k >= 0; k-- {
			if o = (*q)[k]; o.object == e.Object && o.name == e.Op {
				*q = slices.Delete(*q, k, k+1)
				o.returns(e)
				return o, true
			}
		}
	}
	return queueOp{}, false
}

// any reports whether an operation of that name on an item is in progress.
func (q queueOps) any(name string, item int64) bool {
	return slices.ContainsFunc(q, func(o queueOp) bool { return o.name == name && o.item == item })
}

// taking returns how many takes are in progress.
func (q queueOps) taking() (n int) {
	for i := range q {
		if q[i].takes() {
			n++
		}
	}
	return n
}

// consumes reports whether the operation asks for an item.
func (o *queueOp) consumes() bool { return o.takes() || o.claims() }

func (o *queueOp) takes() bool  { return o.name == "take" || o.name == "trytake" }
func (o *queueOp) claims() bool { return o.name == "claim" || o.name == "tryclaim" }
func (o *queueOp) tries() bool  { return o.name == "trytake" || o.name == "tryclaim" }

// succeeded reports whether the operation did what it was asked to.
func (o *queueOp) succeeded() bool { return !o.open && !o.failed }

// doubtful reports whether it may have had its effect without saying so.
func (o *queueOp) doubtful() bool { return o.open || o.failed && !o.refused }

// delivers reports whether it gave an item to its caller.
func (o *queueOp) delivers() bool { return o.consumes() && o.succeeded() }

// removes reports whether it removed the item from the queue, and said so.
func (o *queueOp) removes() bool { return (o.takes() || o.name == "ack") && o.succeeded() }

// printOfItems returns a hash of a set of items.
func printOfItems(set []int64) uint64 {
	sum := hash.Hash(0)
	for _, item := range set {
		sum += hash.Hash(0).Uint64(uint64(item))
	}
	return uint64(sum)
}

// queued returns how often an item is in the queue at the end of a run.
func queued(h *history.History, item int64) (n int) {
	data := strconv.FormatInt(item, 10)
	for i := range h.Tree {
		if h.Tree[i].Data == data {
			n++
		}
	}
	return n
}
