package checkers

import "zksim/model/history"

// DoubledItem is the promise to consumers: an item is in the queue as often as it
// was put, once. What was taken, or acknowledged, is not there any more and is not
// taken again. That an item which was only claimed is claimed again is no doubling.
type DoubledItem struct{}

// Name implements [Checker].
func (DoubledItem) Name() string { return "doubled-item" }

// Doc implements [Checker].
func (DoubledItem) Doc() string {
	return "an item that was put once is there once: nothing is taken twice, invented, or left after it was removed"
}

// Check implements [Checker].
func (c DoubledItem) Check(h *history.History) Verdict {
	ops := queueOps(h)
	for i := range ops {
		o := &ops[i]
		if !o.delivers() {
			continue
		}
		known := false
		for k := range ops {
			p := &ops[k]
			switch {
			case p.item != o.item:
			case p.name == "put" && p.begin < o.end && !p.refused:
				known = true
			case o.takes() && p.takes() && p.succeeded() && p.end < o.end:
				return violated(c, o.end, "c%d took item %d, which c%d had taken before", o.client, o.item, p.client)
			}
		}
		if !known {
			return violated(c, o.end, "c%d got item %d, which nobody has put", o.client, o.item)
		}
	}
	return c.atEnd(h, ops)
}

// atEnd looks for items that should not be in the queue any more.
func (c DoubledItem) atEnd(h *history.History, ops []queueOp) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	for i := range ops {
		o := &ops[i]
		switch n := queued(h, o.item); {
		case o.removes() && n > 0:
			return violated(c, -1, "item %d is in the queue although c%d has removed it", o.item, o.client)
		case o.name == "put" && o.refused && n > 0:
			return violated(c, -1, "item %d is in the queue although c%d was told that it was not put", o.item, o.client)
		case o.name == "put" && n > 1:
			return violated(c, -1, "item %d, put once by c%d, is in the queue %d times", o.item, o.client, n)
		}
	}
	return Verdict{}
}
