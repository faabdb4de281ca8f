package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// FIFO is the order of a queue: while an item is free, no item that was put after it is delivered, and the queue is not
// called empty.
//
// The tree says which items were free all the time from the beginning of an operation until its txn, and whether an
// item that was returned is where it was. The order of the txns is exact. Of their times, a history may have only when
// they were proposed and when an answer has shown them ([history.Event.Proposed]). An item is free as an operation
// begins if the txn that put it there was certainly committed by then.
//
// Apart from the tree, few items are certainly free during an operation. Their put has returned, nobody has got them
// before, and they are there afterwards. No other consumer could have claimed them for a moment, because none was at
// work. And no consumer was cut off before that could have left a claim.
type FIFO struct{}

// Name implements [Checker].
func (FIFO) Name() string { return "fifo" }

// Doc implements [Checker].
func (FIFO) Doc() string { return "no consumer passes over an item that was put before and is free" }

// Needs implements [Declaring].
func (FIFO) Needs() Needs {
	return Needs{Words: queueWords("ack"), Seen: []Need{wasPut, delivered}}
}

// Check implements [Checker].
func (c FIFO) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What is in the queue is judged at the end.
func (c FIFO) Monitor() Monitor { return newTurns(c) }

// PriorityOrder is the order of a priority queue, in the manner of [FIFO]: no item is delivered while another one is
// free that has a higher priority, which is the lower number, or the same priority and was put earlier.
type PriorityOrder struct {
	Of func(item int64) int64 // the priority of an item
}

// Name implements [Checker].
func (PriorityOrder) Name() string { return "priority-order" }

// Doc implements [Checker].
func (PriorityOrder) Doc() string {
	return "no consumer passes over an item of higher priority, or an earlier one of the same, that is free"
}

// Needs implements [Declaring].
func (PriorityOrder) Needs() Needs { return FIFO{}.Needs() }

// Check implements [Checker].
func (c PriorityOrder) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What is in the queue is judged at the end.
func (c PriorityOrder) Monitor() Monitor { return newTurns(c) }

// turns is the monitor of FIFO and PriorityOrder. An item that was got once is not certainly free again, so it is
// forgotten.
type turns struct {
	recipeEvents
	of  Constant[Checker]
	ops queueOps

	begun   []arrival // items whose put has begun
	free    []arrival // items whose put has returned, and that nobody has got
	early   []int64   // items that were got while they were being put
	alone   bool      // one consumer is at work, and no other was since it began
	spoiled bool      // a consumer may have left a claim: nobody is to blame from now on
	passed  []pass
	places  places
	horizon
}

// arrival is an item, and where its put began, or ended.
type arrival struct {
	item   int64
	client int32
	at     int
}

// pass is an item that was passed over, if it is still there.
type pass struct {
	arrival
	got   queueOp // for which other, or for none
	event int
}

func newTurns(of Checker) *turns { return &turns{of: ConstantOf(of)} }

func (t *turns) Reset() {
	*t = turns{of: t.of, ops: t.ops[:0], begun: t.begun[:0], free: t.free[:0], early: t.early[:0],
		passed: t.passed[:0], places: t.places}
	t.places.reset()
}

// Hash implements [Monitor]. Positions matter only for what came before what, where that decides which item is first.
func (t *turns) Hash() uint64 {
	var passed, free hash.Hash // in any order
	passed += t.places.print()
	for _, p := range t.passed {
		passed += hash.Hash(0).Uint64(uint64(p.item))
	}
	if t.spoiled {
		return uint64(passed)
	}
	working, k := t.consumers()
	_, ranked := t.of.Value().(PriorityOrder)
	for _, p := range t.free {
		before := hash.Hash(0)
		for _, x := range t.begun {
			if p.at < x.at && t.priority(p.item) <= t.priority(x.item) {
				before += hash.Hash(0).Uint64(uint64(x.item))
			}
		}
		waits := t.alone && (ranked || t.ops[k].tries()) && p.at < t.ops[k].begin
		free += hash.Hash(p.item).Bool(waits).Uint64(uint64(before))
	}
	return uint64(passed.Uint64(uint64(free)).Uint64(printOfItems(t.early)).Uint64(uint64(working)).Bool(t.alone))
}

// consumers returns how many consumers are at work, and the place of one of them in t.ops.
func (t *turns) consumers() (n, k int) {
	for i := range t.ops {
		if t.ops[i].consumes() {
			n, k = n+1, i
		}
	}
	return n, k
}

func (t *turns) priority(item int64) int64 {
	if c, ok := t.of.Value().(PriorityOrder); ok {
		return c.Of(item)
	}
	return 0
}

func (t *turns) Sees(k history.Kind) bool { return k == history.Reply || t.recipeEvents.Sees(k) }

func (t *turns) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	t.horizon.note(e)
	if e.Kind == history.Reply {
		return Verdict{}
	}
	o, ok := t.ops.step(h, i)
	seen := t.look(h, &o, i)
	if !ok {
		return seen
	}
	if v := t.order(&o, i); seen.Level == OK {
		return v
	}
	return seen
}

// order judges an operation, at its call or return, by the other operations alone.
func (t *turns) order(o *queueOp, i int) Verdict {
	switch {
	case o.consumes() && o.open:
		working, _ := t.consumers()
		t.alone = working == 1 && !t.spoiled
	case o.consumes():
		return t.judge(o, i)
	case t.spoiled || o.name != "put":
	case o.open:
		t.begun = append(t.begun, arrival{o.item, o.client, i})
	default:
		if at := slices.Index(t.early, o.item); at >= 0 {
			t.early = slices.Delete(t.early, at, at+1)
		} else if o.succeeded() {
			t.free = append(t.free, arrival{o.item, o.client, i})
		}
	}
	return Verdict{}
}

// look judges an operation by the tree, as it begins, has its txn and ends.
func (t *turns) look(h *history.History, o *queueOp, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Invoke:
		t.places.begin(o, t.committed)
	case e.Kind == history.Return:
		x := t.places.ends(o)
		switch {
		case o.delivers() && o.item == x.got && x.passed != 0:
			return violated(t.of.Value(), i, "c%d got item %d while item %d, which comes first, was free all the time since "+
				"it asked", o.client, o.item, x.passed)
		case o.tries() && o.refused && !o.interrupted && len(x.free) > 0:
			return violated(t.of.Value(), i, "c%d was told that the queue is empty while item %d was free all the time "+
				"since it asked", o.client, x.free[0])
		case o.succeeded() && x.moved:
			return violated(t.of.Value(), i, "c%d has returned item %d, which has lost its place: it was %s", o.client, o.item,
				x.from)
		}
	default:
		t.places.change(e, t.ops, func(a, b int64) bool { return t.priority(a) < t.priority(b) })
	}
	return Verdict{}
}

// judge judges what a consumer was told at event i.
func (t *turns) judge(o *queueOp, i int) Verdict {
	alone := t.alone
	t.alone = false
	if o.doubtful() || o.interrupted {
		t.spoiled = true
		t.begun, t.free, t.early = t.begun[:0], t.free[:0], t.early[:0]
		return Verdict{}
	}
	if o.delivers() {
		for _, p := range t.passed {
			if p.item == o.item {
				return t.blame(p)
			}
		}
	}
	if alone && (o.delivers() || o.tries() && o.refused) {
		t.free = drop(t.free, func(p arrival) bool {
			passed := p.item != o.item && t.first(p, o)
			if passed {
				t.passed = append(t.passed, pass{p, *o, i})
			}
			return passed
		})
	}
	if o.delivers() {
		t.free = drop(t.free, func(p arrival) bool { return p.item == o.item })
		if t.ops.any("put", o.item) && !slices.Contains(t.early, o.item) {
			t.early = append(t.early, o.item)
		}
	}
	return Verdict{}
}

// first reports whether a free item certainly comes before what a consumer got. If the consumer got nothing, the item
// comes first if it was there all the time. An item of higher priority comes first if it was there all the time or came
// before the other. An item of the same priority comes first if it came before the other.
func (t *turns) first(p arrival, o *queueOp) bool {
	there := p.at < o.begin
	if !o.delivers() {
		return there
	}
	earlier := slices.ContainsFunc(t.begun, func(x arrival) bool { return x.item == o.item && p.at < x.at })
	mine, other := t.priority(p.item), t.priority(o.item)
	return mine < other && (earlier || there) || mine == other && earlier
}

// blame objects to an item having been passed over.
func (t *turns) blame(p pass) Verdict {
	if !p.got.delivers() {
		return violated(t.of.Value(), p.event,
			"c%d was told that the queue is empty while item %d of c%d was in it", p.got.client,
			p.item, p.client)
	}
	return violated(t.of.Value(), p.event, "c%d got item %d while item %d of c%d, which comes first, was in the queue",
		p.got.client, p.got.item, p.item, p.client)
}

// end judges the items that are in the queue at the end.
func (t *turns) end(h *history.History) Verdict {
	for _, p := range t.passed {
		if queued(h, p.item) > 0 {
			return t.blame(p)
		}
	}
	return Verdict{}
}
