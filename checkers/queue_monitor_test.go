package checkers

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"

	"zksim/model/history"
)

var queueFamilies = []workload{
	{name: "lost-item", checker: LostItem{}, naive: lostItem, next: everyOp.next, end: endOfQueue},
	{name: "doubled-item", checker: DoubledItem{}, naive: doubledItem, next: everyOp.next, end: endOfQueue},
	{name: "doubled-effect", checker: DoubledEffect{}, naive: doubledEffect, next: acks.next, end: endOfQueue},
	{name: "length", checker: Length{}, naive: naiveLength, next: lengthOps.next, end: endOfQueue},
	{name: "fifo", checker: FIFO{}, naive: func(h *history.History) Level {
		return outOfTurn(h,
			func(int64) int64 { return 0 })
	}, next: deliveries.next, end: endOfQueue},
	{name: "priority-order", checker: PriorityOrder{Of: rank},
		naive: func(h *history.History) Level { return outOfTurn(h, rank) }, next: deliveries.next, end: endOfQueue},
}

// queueMix is which operations a history has besides puts, and how many in a hundred of
// them end as nobody wants.
type queueMix struct {
	ops    []string
	failed int
}

var (
	everyOp    = queueMix{[]string{"take", "take", "trytake", "claim", "tryclaim", "ack", "ack", "return"}, 20}
	lengthOps  = queueMix{[]string{"take", "claim", "ack", "len", "len", "len"}, 15}
	acks       = queueMix{[]string{"claim", "ack", "ack", "ack", "ack"}, 30}
	deliveries = queueMix{[]string{"take", "trytake", "trytake", "claim", "tryclaim"}, 8}
)

// rank is a priority that later items have more of.
func rank(item int64) int64 { return -(item / 3) }

// queueItems is how many items there are at most.
const queueItems = 4

// inQueue returns the items that should be in the queue, in the order of their puts.
func inQueue(h *history.History) (items []int64) {
	for _, o := range wholeOps(h) {
		if o.name == "put" && o.succeeded() {
			items = append(items, o.item)
		}
	}
	for _, o := range wholeOps(h) {
		if o.consumes() && o.succeeded() {
			items = drop(items, func(x int64) bool { return x == o.item })
		}
	}
	return items
}

func (m queueMix) next(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	switch {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case r.IntN(40) == 0:
		return history.Event{Kind: history.Crashed, Client: (object-1)%3 + 1}
	case begun != nil:
		return m.end(r, h, begun)
	}
	e := history.Event{Kind: history.Invoke, Object: object}
	puts := int64(0)
	for _, x := range h.Events {
		if x.Kind == history.Invoke && x.Op == "put" {
			puts = max(puts, x.Value)
		}
	}
	if puts < queueItems && r.IntN(2) == 0 {
		e.Op, e.Value = "put", puts+1
	} else if e.Op = m.ops[r.IntN(len(m.ops))]; e.Op == "ack" || e.Op == "return" {
		e.Value = 1 + r.Int64N(queueItems)
	}
	return e
}

func (m queueMix) end(r *rand.Rand, h *history.History, begun *history.Event) history.Event {
	e := history.Event{Kind: history.Return, Object: begun.Object, Op: begun.Op, Value: begun.Value}
	empty := begun.Op[:3] == "try" && r.IntN(4) == 0
	switch k := r.IntN(6); {
	case r.IntN(100) >= m.failed && !empty:
	case k == 0:
		e.Err = errors.New("unknown")
	case k == 1:
		e.Err, e.OK = context.Canceled, true
	default:
		e.Err, e.OK = errors.New("refused"), true
	}
	if e.Op == "len" && e.Err == nil {
		e.Value = int64(len(inQueue(h)))
		if r.IntN(6) == 0 {
			e.Value = r.Int64N(queueItems)
		}
	} else if e.Value == 0 && e.Err == nil {
		if items := inQueue(h); len(items) > 0 && r.IntN(6) > 0 {
			e.Value = items[0]
		} else {
			e.Value = 1 + r.Int64N(queueItems)
		}
	}
	if e.Err != nil && r.IntN(2) == 0 {
		e.Value = 0
	}
	return e
}

func endOfQueue(r *rand.Rand, h *history.History) {
	h.Tree = nil
	add := func(item int64) {
		h.Tree = append(h.Tree, history.Node{Path: "/q/" + strconv.Itoa(len(h.Tree)), Data: strconv.FormatInt(item, 10)})
	}
	for _, x := range inQueue(h) {
		if r.IntN(8) > 0 {
			add(x)
		}
	}
	if r.IntN(8) == 0 {
		add(1 + r.Int64N(queueItems))
	}
	if h.Outcome = history.Quiet; r.IntN(10) == 0 {
		h.Outcome = history.Stopped
	}
}

// wholeOp is an operation and where it ended; beyond the history if it did not.
type wholeOp struct {
	queueOp
	end int
}

// wholeOps returns the operations in the order in which they began.
func wholeOps(h *history.History) (ops []wholeOp) {
	for i, e := range h.Events {
		switch e.Kind {
		case history.Invoke:
			ops = append(ops, wholeOp{queueOp{name: e.Op, caller: caller{e.Client, e.Object}, item: e.Value, begin: i,
				open: true}, len(h.Events)})
		case history.Return:
			k := slices.IndexFunc(ops, func(o wholeOp) bool { return o.object == e.Object && o.open })
			o := &ops[k]
			o.end = i
			o.returns(&e)
		}
	}
	return ops
}

func levelIf(violated bool) Level {
	if violated {
		return Violated
	}
	return OK
}

func lostItem(h *history.History) Level {
	ops := wholeOps(h)
	missing, cut := 0, 0
	for _, o := range ops {
		removed := func(p wholeOp) bool {
			return p.item == o.item && p.end > o.begin && (p.removes() || p.name == "ack" && p.doubtful())
		}
		switch {
		case o.takes() && o.doubtful():
			cut++
		case o.name == "put" && o.succeeded() && queued(h, o.item) == 0 && !slices.ContainsFunc(ops, removed):
			missing++
		}
	}
	return levelIf(h.Outcome == history.Quiet && missing > cut)
}

func doubledItem(h *history.History) Level {
	ops := wholeOps(h)
	for _, o := range ops {
		put := func(p wholeOp) bool { return p.name == "put" && p.item == o.item && p.begin < o.end && !p.refused }
		before := func(p wholeOp) bool {
			return p.removes() && p.item == o.item && p.end < o.end && (p.takes() || o.takes())
		}
		long := func(p wholeOp) bool { return p.removes() && p.item == o.item && p.end < o.begin }
		n := queued(h, o.item)
		switch {
		case o.delivers() && !slices.ContainsFunc(ops, put),
			o.delivers() && slices.ContainsFunc(ops, long),
			o.removes() && slices.ContainsFunc(ops, before),
			h.Outcome == history.Quiet && (o.removes() && n > 0 || o.name == "put" && (o.refused && n > 0 || n > 1)):
			return Violated
		}
	}
	return OK
}

func doubledEffect(h *history.History) Level {
	acked := map[int64]int{}
	for _, o := range wholeOps(h) {
		if o.name == "ack" && o.succeeded() {
			acked[o.item]++
		}
	}
	for _, n := range acked {
		if n > 1 {
			return Violated
		}
	}
	return OK
}

// naiveLength looks, for each length that was answered, at what became of each item before and after, and at each
// moment of the call.
func naiveLength(h *history.History) Level {
	ops := wholeOps(h)
	for _, q := range ops {
		if q.name != "len" || !q.succeeded() {
			continue
		}
		least, most := int64(0), int64(0)
		for _, o := range ops {
			going := func(p wholeOp) bool {
				return p.item == o.item && (p.name == "ack" && p.begin < q.end && !(p.refused && p.end < q.end) ||
					p.takes() && p.succeeded() && p.end < q.end)
			}
			gone := func(p wholeOp) bool { return p.item == o.item && p.removes() && p.end < q.begin }
			switch {
			case o.takes() && o.begin < q.end && (o.end > q.end || o.doubtful()):
				least--
			case o.name != "put":
			default:
				if o.succeeded() && o.end < q.begin && !slices.ContainsFunc(ops, going) {
					least++
				}
				if o.begin < q.end && !(o.refused && o.end < q.end) && !slices.ContainsFunc(ops, gone) {
					most++
				}
			}
		}
		if q.item < least || q.item > most || !momentary(ops, &q) {
			return Violated
		}
	}
	return OK
}

// momentary reports whether the length that was answered is one of those that are possible at some moment of the call,
// by what was certain then. From one moment to the next they change by one, so none between two of them is left out.
func momentary(ops []wholeOp, q *wholeOp) bool {
	fewest, greatest := int64(len(ops)), int64(0)
	for at := q.begin; at < q.end; at++ {
		least, most := int64(0), int64(0)
		for _, o := range ops {
			goes := func(p wholeOp) bool {
				return p.item == o.item && (p.name == "ack" && p.begin <= at && !(p.refused && p.end <= at) ||
					p.takes() && p.succeeded() && p.end <= at)
			}
			gone := func(p wholeOp) bool { return p.item == o.item && p.removes() && p.end <= at }
			switch {
			case o.takes() && o.begin <= at && (o.end > at || o.doubtful()):
				least--
			case o.name != "put":
			default:
				if o.succeeded() && o.end <= at && !slices.ContainsFunc(ops, goes) {
					least++
				}
				if o.begin <= at && !(o.refused && o.end <= at) && !slices.ContainsFunc(ops, gone) {
					most++
				}
			}
		}
		fewest, greatest = min(fewest, least), max(greatest, most)
	}
	return fewest <= q.item && q.item <= greatest
}

// outOfTurn looks at each item, each delivery that may have passed over it, and all
// that happened before and after.
func outOfTurn(h *history.History, priority func(int64) int64) Level {
	ops := wholeOps(h)
	for _, got := range ops {
		empty := got.tries() && got.refused && !got.interrupted
		disturbed := func(o wholeOp) bool {
			return o.consumes() && o.begin != got.begin && o.begin < got.end &&
				(o.end > got.begin || o.doubtful() || o.interrupted)
		}
		if !got.delivers() && !empty || slices.ContainsFunc(ops, disturbed) {
			continue
		}
		for _, p := range ops {
			if p.name != "put" || !p.succeeded() || p.end > got.end || !empty && p.item == got.item {
				continue
			}
			delivered := func(o wholeOp) bool { return o.delivers() && o.item == p.item }
			sooner := func(o wholeOp) bool { return delivered(o) && o.end > p.begin && o.end <= got.end }
			later := func(o wholeOp) bool { return delivered(o) && o.end > got.end }
			if slices.ContainsFunc(ops, sooner) || !slices.ContainsFunc(ops, later) &&
				(h.Outcome != history.Quiet || queued(h, p.item) == 0) {
				continue
			}
			earlier := slices.ContainsFunc(ops, func(o wholeOp) bool {
				return o.name == "put" && o.item == got.item && p.end < o.begin && o.begin < got.end
			})
			mine, other := priority(p.item), priority(got.item)
			if empty && p.end < got.begin || !empty &&
				(mine < other && (earlier || p.end < got.begin) || mine == other && earlier) {
				return Violated
			}
		}
	}
	return OK
}
