package checkers

import "zksim/model/history"

// FIFO is the order of a queue: no item is delivered, and the queue is not called
// empty, while an item that was put before it is free.
//
// The items that are certainly free during an operation are few: their put has
// returned, nobody has got them before, they are there afterwards, no other
// consumer could have claimed them for a moment, since none was at work, and none
// was cut off before, whose claim could still be there.
type FIFO struct{}

// Name implements [Checker].
func (FIFO) Name() string { return "fifo" }

// Doc implements [Checker].
func (FIFO) Doc() string { return "no consumer passes over an item that was put before and is free" }

// Check implements [Checker].
func (c FIFO) Check(h *history.History) Verdict {
	return passedOver(c, h, func(int64) int64 { return 0 })
}

// PriorityOrder is the order of a priority queue, in the manner of [FIFO]: no item
// is delivered while one of higher priority, which is the lower number, or an
// earlier one of the same priority is free.
type PriorityOrder struct {
	Of func(item int64) int64 // the priority of an item
}

// Name implements [Checker].
func (PriorityOrder) Name() string { return "priority-order" }

// Doc implements [Checker].
func (PriorityOrder) Doc() string {
	return "no consumer passes over an item of higher priority, or an earlier one of the same, that is free"
}

// Check implements [Checker].
func (c PriorityOrder) Check(h *history.History) Verdict { return passedOver(c, h, c.Of) }

// passedOver looks for consumers that got an item other than the first.
func passedOver(c Checker, h *history.History, priority func(item int64) int64) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{} // nobody knows what is in the queue
	}
	ops := queueOps(h)
	for i := range ops {
		got := &ops[i]
		empty := got.tries() && got.refused && !got.interrupted()
		if !got.delivers() && !empty || !alone(ops, got) {
			continue
		}
		for k := range ops {
			p := &ops[k]
			if p.name != "put" || !p.succeeded() || p.item == got.item || !free(h, ops, p, got) {
				continue
			}
			if empty && p.end < got.begin {
				return violated(c, got.end, "c%d was told that the queue is empty while item %d of c%d was in it", got.client, p.item, p.client)
			}
			if !empty && first(ops, p, got, priority) {
				return violated(c, got.end, "c%d got item %d while item %d of c%d, which comes first, was in the queue",
					got.client, got.item, p.item, p.client)
			}
		}
	}
	return Verdict{}
}

// alone reports whether no other consumer can have claimed anything during an
// operation that it has not got.
func alone(ops []queueOp, got *queueOp) bool {
	for i := range ops {
		o := &ops[i]
		if !o.takes() && !o.claims() || o.begin == got.begin || o.begin > got.end {
			continue
		}
		if o.end > got.begin || o.doubtful() || o.interrupted() {
			return false
		}
	}
	return true
}

// free reports whether the item of a put was in the queue up to the end of an
// operation: nobody had got it, and it was there later.
func free(h *history.History, ops []queueOp, put, got *queueOp) bool {
	later := queued(h, put.item) > 0
	for i := range ops {
		o := &ops[i]
		if !o.delivers() || o.item != put.item {
			continue
		}
		if o.end <= got.end {
			return false
		}
		later = true
	}
	return later
}

// first reports whether the item of a put certainly comes before the one that was
// got: by its priority if it was there when the operation began, or before the
// other one was put; among equals by the order of the puts.
func first(ops []queueOp, put, got *queueOp, priority func(item int64) int64) bool {
	earlier := false
	for i := range ops {
		if o := &ops[i]; o.name == "put" && o.item == got.item {
			earlier = put.end < o.begin
		}
	}
	mine, other := priority(put.item), priority(got.item)
	return mine < other && (earlier || put.end < got.begin) || mine == other && earlier
}
