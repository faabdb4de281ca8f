package checkers

import "zksim/model/history"

// DoubledEffect is the promise of acknowledgements: a consumer that may
// acknowledge an item, and so keep what it did with it, is the only one. All
// others to whom the item was delivered learn that their claim was lost.
type DoubledEffect struct{}

// Name implements [Checker].
func (DoubledEffect) Name() string { return "doubled-effect" }

// Doc implements [Checker].
func (DoubledEffect) Doc() string { return "an item is acknowledged by one of those who got it" }

// Check implements [Checker].
func (c DoubledEffect) Check(h *history.History) Verdict {
	ops := queueOps(h)
	for i := range ops {
		for k := range ops {
			a, b := &ops[i], &ops[k]
			if a.name == "ack" && b.name == "ack" && a.item == b.item && a.succeeded() && b.succeeded() && a.end < b.end {
				return violated(c, b.end, "c%d acknowledged item %d, which c%d had acknowledged before", b.client, b.item, a.client)
			}
		}
	}
	return Verdict{}
}
