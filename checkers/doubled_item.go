package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// DoubledItem is the promise to consumers: an item that was put once is in the queue once. An item that was taken or
// acknowledged is no longer there. It is not taken again, and nobody who asks later claims it. An item that was only
// claimed may be claimed again.
type DoubledItem struct{}

// Name implements [Checker].
func (DoubledItem) Name() string { return "doubled-item" }

// Doc implements [Checker].
func (DoubledItem) Doc() string {
	return "an item that was put once is there once: nothing is taken twice, invented, or left after it was removed"
}

// Needs implements [Declaring].
func (DoubledItem) Needs() Needs {
	return Needs{Words: queueWords("return"), Seen: []Need{wasPut, delivered}}
}

// Check implements [Checker].
func (c DoubledItem) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What is in the queue is judged at the end.
func (DoubledItem) Monitor() Monitor { return &stock{} }

// stock is the monitor of DoubledItem: what is known of each item.
type stock struct {
	recipeEvents
	DoubledItem
	ops   queueOps
	items []stocked
}

// stocked is an item.
type stocked struct {
	item           int64
	put            putting
	producer       int32
	taken, removed int32 // by which client first; 0: nobody
	since          int   // at which event it was removed
	got            int32 // by which client first, while it was being put
	early          int   // at which event
}

// putting is what has become of a put.
type putting uint8

const (
	putNever putting = iota
	putOn
	putDone // perhaps
	putRefused
)

func (s *stock) Reset() { s.ops, s.items = s.ops[:0], s.items[:0] }

func (s *stock) Hash() uint64 {
	sum := hash.Hash(0)
	for i := range s.items {
		x := &s.items[i]
		late := hash.Hash(0) // claims that began after it was removed, in any order
		for k := range s.ops {
			if o := &s.ops[k]; o.claims() && x.goneBefore(o) {
				late += printOf(s.ops, o.caller)
			}
		}
		sum += hash.Hash(x.item).Uint64(uint64(x.put)).Bool(x.taken != 0).Bool(x.removed != 0).Bool(x.got != 0).
			Uint64(uint64(late))
	}
	return uint64(sum)
}

// goneBefore reports whether the item had been removed when an operation began.
func (x *stocked) goneBefore(o *queueOp) bool { return x.removed != 0 && x.since < o.begin }

func (s *stock) item(number int64) *stocked {
	return recall(&s.items, func(x *stocked) bool { return x.item == number }, stocked{item: number})
}

func (x *stocked) remove(client int32, i int) {
	if x.removed == 0 {
		x.removed, x.since = client, i
	}
}

func (s *stock) Step(h *history.History, i int) Verdict {
	if e := &h.Events[i]; e.Kind == history.Crashed {
		s.ops = withoutClient(s.ops, e.Client)
	}
	o, ok := s.ops.step(h, i)
	switch {
	case !ok:
	case o.open:
		if o.name == "put" {
			x := s.item(o.item)
			x.put, x.producer = putOn, o.client
		}
	case o.name == "put" && !o.refused:
		x := s.item(o.item)
		x.put, x.got = putDone, 0
	case o.name == "put":
		x := s.item(o.item)
		if x.put = putRefused; x.got != 0 {
			return violated(s, x.early, "c%d got item %d, which nobody has put", x.got, x.item)
		}
	case o.delivers():
		return s.deliver(&o, i)
	case o.removes():
		x := s.item(o.item)
		if x.taken != 0 {
			return violated(s, i, "c%d acknowledged item %d, which c%d had taken before", o.client, o.item, x.taken)
		}
		x.remove(o.client, i)
	}
	return Verdict{}
}

// deliver judges event i, which gave an item to a consumer.
func (s *stock) deliver(o *queueOp, i int) Verdict {
	x := s.item(o.item)
	switch {
	case x.put == putNever || x.put == putRefused:
		return violated(s, i, "c%d got item %d, which nobody has put", o.client, o.item)
	case o.takes() && x.taken != 0:
		return violated(s, i, "c%d took item %d, which c%d had taken before", o.client, o.item, x.taken)
	case o.takes() && x.removed != 0:
		return violated(s, i, "c%d took item %d, which c%d had acknowledged before", o.client, o.item, x.removed)
	case o.takes():
		x.taken = o.client
		x.remove(o.client, i)
	case x.goneBefore(o):
		return violated(s, i, "c%d claimed item %d, which c%d had removed before it asked", o.client, o.item, x.removed)
	}
	if x.put == putOn && x.got == 0 {
		x.got, x.early = o.client, i
	}
	return Verdict{}
}

// end looks for items that should not be in the queue any more.
func (s *stock) end(h *history.History) Verdict {
	for i := range s.items {
		x := &s.items[i]
		switch n := queued(h, x.item); {
		case n == 0:
		case x.put == putRefused:
			return violated(s, -1, "item %d is in the queue although c%d was told that it was not put", x.item, x.producer)
		case x.put != putNever && n > 1:
			return violated(s, -1, "item %d, put once by c%d, is in the queue %d times", x.item, x.producer, n)
		case x.removed != 0:
			return violated(s, -1, "item %d is in the queue although c%d has removed it", x.item, x.removed)
		}
	}
	return Verdict{}
}
