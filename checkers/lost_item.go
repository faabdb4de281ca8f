package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// LostItem is the promise to producers: an item that was put, so that the producer was told, is delivered or still in
// the queue. Delivered means taken, or claimed and acknowledged. An operation that was cut off, by a crash or with an
// unknown outcome, may have removed an item that it did not deliver: a take any item, an acknowledgement its own. An
// item is in the queue if a znode has its number as data, in decimal, and nothing else.
type LostItem struct{}

// Name implements [Checker].
func (LostItem) Name() string { return "lost-item" }

// Doc implements [Checker].
func (LostItem) Doc() string { return "an item that was put is delivered or still in the queue" }

// Needs implements [Declaring].
func (LostItem) Needs() Needs {
	return Needs{Words: queueWords("claim", "tryclaim", "return"), Seen: []Need{wasPut, atRest}}
}

// Check implements [Checker].
func (c LostItem) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. All is judged at the end.
func (LostItem) Monitor() Monitor { return &debts{} }

// debts is the monitor of LostItem. It keeps the items that are owed to their producers.
type debts struct {
	recipeEvents
	LostItem
	ops  queueOps
	owed []debt // in the order in which their puts began
	cut  int    // takes of unknown outcome that may have removed an item
}

// debt is an item that is being put, or was put and not delivered yet.
type debt struct {
	item    int64
	client  int32
	put     bool // its producer was told
	removed bool // while it was being put
}

func (d *debts) Reset() { d.ops, d.owed, d.cut = d.ops[:0], d.owed[:0], 0 }

// Hash implements [Monitor]. At the end it makes no difference whether a take was cut off
// or never returned.
func (d *debts) Hash() uint64 {
	var owed, acks hash.Hash // in any order
	for _, x := range d.owed {
		owed += hash.Hash(x.item).Bool(x.put).Bool(x.removed)
	}
	for i := range d.ops {
		if o := &d.ops[i]; o.name == "ack" {
			acks += hash.Hash(0).Uint64(uint64(o.item))
		}
	}
	return uint64(owed.Uint64(uint64(acks)).Uint64(uint64(d.cut + d.ops.taking())))
}

func (d *debts) Step(h *history.History, i int) Verdict {
	o, ok := d.ops.step(h, i)
	switch {
	case !ok:
	case o.open:
		if o.name == "put" {
			d.owed = append(d.owed, debt{item: o.item, client: o.client})
		}
	case o.name == "put":
		d.told(&o)
	case o.removes() || o.name == "ack" && o.doubtful():
		d.remove(o.item)
	case o.takes() && o.doubtful():
		d.cut++
	}
	return Verdict{}
}

// told notes the end of a put. An item is not owed if its producer does not know that it was put.
func (d *debts) told(o *queueOp) {
	d.owed = drop(d.owed, func(x debt) bool { return x.item == o.item && (x.removed || !o.succeeded()) })
	for k := range d.owed {
		if d.owed[k].item == o.item {
			d.owed[k].put = true
		}
	}
}

// remove notes that an item was, or could have been, removed and delivered.
func (d *debts) remove(item int64) {
	d.owed = drop(d.owed, func(x debt) bool { return x.item == item && x.put })
	for k := range d.owed {
		if d.owed[k].item == item {
			d.owed[k].removed = true
		}
	}
}

// end judges what has become of the items.
func (d *debts) end(h *history.History) Verdict {
	cut := d.cut + d.ops.taking()
	missing := drop(slices.Clone(d.owed), func(x debt) bool {
		return !x.put || queued(h, x.item) > 0 ||
			d.ops.any("ack", x.item)
	})
	if len(missing) <= cut {
		return Verdict{}
	}
	x := missing[len(missing)-1]
	if cut > 0 {
		return violated(d, -1, "%d items are lost, among them item %d of c%d; only %d could have gone with a take that was "+
			"cut off",
			len(missing), x.item, x.client, cut)
	}
	return violated(d, -1, "item %d of c%d is lost: it was put, nobody has got it, and it is not in the queue", x.item,
		x.client)
}
