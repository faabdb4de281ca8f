package checkers

import "zksim/model/history"

// LostItem is the promise to producers: an item that was put, so that the
// producer was told, is delivered or still in the queue. Delivered means taken,
// or claimed and acknowledged. An operation that was cut off, by a crash or with
// an unknown outcome, may have removed an item that it did not deliver: a take
// any one, an acknowledgement its own.
type LostItem struct{}

// Name implements [Checker].
func (LostItem) Name() string { return "lost-item" }

// Doc implements [Checker].
func (LostItem) Doc() string { return "an item that was put is delivered or still in the queue" }

// Check implements [Checker].
func (c LostItem) Check(h *history.History) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	ops := queueOps(h)
	var missing []*queueOp
	cut := 0
	for i := range ops {
		o := &ops[i]
		switch {
		case o.takes() && o.doubtful():
			cut++
		case o.name == "put" && o.succeeded() && queued(h, o.item) == 0 && !removed(ops, o.item):
			missing = append(missing, o)
		}
	}
	if len(missing) <= cut {
		return Verdict{}
	}
	o := missing[len(missing)-1]
	if cut > 0 {
		return violated(c, -1, "%d items are lost, among them item %d of c%d; only %d could have gone with a take that was cut off",
			len(missing), o.item, o.client, cut)
	}
	return violated(c, -1, "item %d of c%d is lost: it was put, nobody has got it, and it is not in the queue", o.item, o.client)
}

// removed reports whether an operation has, or could have, removed that very
// item and delivered it.
func removed(ops []queueOp, item int64) bool {
	for i := range ops {
		o := &ops[i]
		if o.item == item && (o.removes() || o.name == "ack" && o.doubtful()) {
			return true
		}
	}
	return false
}
