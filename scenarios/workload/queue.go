package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Queue is a queue under test. Each of its items is taken at most once. It may also have a TryTake. The znodes show its
// content: each item is one znode, whose data are those of Put and nothing else.
type Queue interface {
	// Put adds an item at the end. After an error of the connection nobody knows whether it did; with only the error of
	// ctx it did not.
	Put(ctx context.Context, data []byte) error
	// Take removes the first item and returns it. If there is none it waits for one. When ctx is done before that it
	// returns the error of ctx. After an error of the connection nobody knows what was removed.
	Take(ctx context.Context) ([]byte, error)
}

// PriorityQueue is a queue under test with priorities, numbers from 0 on. The lowest is taken first; of items with the
// same one, the one put first. It may also have a TryTake. Its znodes are as in [Queue].
type PriorityQueue interface {
	// Put adds an item; its errors are those of [Queue].
	Put(ctx context.Context, data []byte, priority int) error
	// Take is that of [Queue].
	Take(ctx context.Context) ([]byte, error)
}

// TryingToTake is a queue that can say that it is empty: TryTake returns recipes.ErrEmpty, which may be wrapped.
type TryingToTake interface {
	TryTake(ctx context.Context) ([]byte, error)
}

// Queues returns the scenario of a user's queue: two clients wait for what a third one puts, and put and take, under
// every fault. A queue does not have to answer for an unknown outcome, which an error of the connection or
// recipes.ErrUnknownOutcome reports.
func Queues[Q Queue](name string, newQueue func(p *engine.Process) Q) engine.Scenario {
	return queues(name, "a queue under every fault", checkers.FIFO{}, func(p *engine.Process) Consumer {
		q := newQueue(p)
		return consumerOf(q, func(ctx context.Context, data []byte, _ int64) error { return q.Put(ctx, data) })
	})
}

// PriorityQueues is [Queues] for a priority queue.
func PriorityQueues[Q PriorityQueue](name string, newQueue func(p *engine.Process) Q) engine.Scenario {
	order := checkers.PriorityOrder{Of: ItemPriority}
	return queues(name, "a priority queue under every fault", order, func(p *engine.Process) Consumer {
		q := newQueue(p)
		return consumerOf(q, func(ctx context.Context, data []byte, priority int64) error {
			return q.Put(ctx, data, int(priority))
		})
	})
}

func queues(name, doc string, order checkers.Checker, newQueue func(p *engine.Process) Consumer) engine.Scenario {
	s := preset(name, doc, 2)
	s.Program = feedAndPut(newQueue)
	s.Checkers = append(slices.Clone(EveryQueue), order)
	s.Goals = []engine.Goal{goalLostWrite}
	return WithDefaults(s, 3).Without("doubled-effect")
}

// taking is a queue under test without its Put.
type taking interface {
	Take(ctx context.Context) ([]byte, error)
}

// consumerOf turns a queue into a Consumer.
func consumerOf(q taking, put func(ctx context.Context, data []byte, priority int64) error) Consumer {
	try, trying := q.(TryingToTake)
	return Consumer{Waits: !trying,
		Put: func(ctx context.Context, data []byte, priority int64) error { return unknown(put(ctx, data, priority)) },
		Take: func(ctx context.Context, now bool) ([]byte, error) {
			take := q.Take
			if now {
				take = try.TryTake
			}
			data, err := take(ctx)
			return data, unknown(err)
		}}
}

// Consumer is a queue as the programs use it. With try, Take and Claim do not wait for an item.
type Consumer struct {
	Waits bool // it cannot say that it is empty: try is never set
	Put   func(ctx context.Context, data []byte, priority int64) error
	Take  func(ctx context.Context, try bool) ([]byte, error)
	Claim func(ctx context.Context, try bool) (QueueItem, error)
	Len   func(ctx context.Context) (int, error)
}

// QueueItem is an item that was claimed. Its methods promise what those of [recipes.QueueItem] do.
type QueueItem interface {
	Ack(ctx context.Context) error
	Return(ctx context.Context) error
	Data() []byte
	Znodes() []string
}

// ItemPriority returns the priority of an item, which is part of the item's number.
func ItemPriority(item int64) int64 { return item / 10_000 % 100 }

// itemNumber numbers the n-th item that a client puts. No two items have one number, however many clients and rounds
// there are: the digits for the client and for n do not overlap.
func itemNumber(client int, n int64) int64 {
	return n/100*1_000_000 + (9+n%2)*10_000 + int64(client)*100 + n%100
}

// worker is a client of a queue.
type worker struct {
	p *engine.Process
	o engine.Object
	q Consumer

	puts    int64
	claim   bool      // claim and acknowledge instead of take
	item    QueueItem // claimed and not settled yet
	returns int       // how many claimed items it returns before it acknowledges one

	brief int // how many times it waits for an item with a deadline
	work  int // steps for which it works on a claimed item

	gives bool // it puts an item before each one that it gets, except the first
	rests bool // as the producer, it puts the last item when nothing else can happen

	// fed is set in clients that depend on a producer. It is done when the producer has gone.
	fed context.Context
}

// newWorker returns a client of a queue.
func newWorker(p *engine.Process, newQueue func(p *engine.Process) Consumer, claim bool) *worker {
	w := &worker{p: p, q: newQueue(p), claim: claim, returns: (p.ID + 1) % 2, work: 1}
	w.o = p.Register(func() (known []string) {
		if p.ID == 1 {
			known = append(known, p.Path(producerPath))
		}
		if w.item != nil {
			known = append(known, w.item.Znodes()...)
		}
		return known
	})
	return w
}

// EveryQueue are what every queue must satisfy, whatever its order.
var EveryQueue = []checkers.Checker{checkers.LostItem{}, checkers.DoubledItem{}, checkers.DoubledEffect{},
	checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

// Exchange makes a program in which each client puts and gets an item in each round, and puts some more at the end. At
// any time a client has put at least as many items as it has tried to get, so that nobody waits forever, no matter
// which client crashes.
func Exchange(more int, claim bool, newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, claim)
		for r := range p.Rounds + more {
			if !w.put() || r < p.Rounds && !w.get(!Brief(p) && (p.ID+r)%3 == 0) {
				return
			}
		}
	}
}

// Exchangers separates the clients by the rounds in which they try instead of wait; in a brief run none tries.
func Exchangers(id, rounds int) int {
	if rounds == 1 {
		return 0
	}
	return id % 3
}

// HandOver makes a program in which the first client puts one item that the last one acknowledges. The clients between
// them claim it, if they can, and return it.
func HandOver(newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, true)
		switch p.ID {
		case 1:
			w.produce()
			w.put()
		case p.Clients:
			if end, ok := w.follow(); ok {
				w.get(false)
				end()
			}
		default:
			w.returns = 3
			for range w.returns {
				if again, ok := w.getOnce(true); !again || !ok {
					return
				}
			}
		}
	}
}

// Poll makes a program in which the first client puts up to two items, and the others look for them in each round.
func Poll(newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, false)
		for n := range p.Rounds {
			if p.ID > 1 {
				w.getOnce(true)
			} else if n < 2 {
				w.put()
			}
		}
	}
}

// Count makes a program in which the first client puts items, and the second one claims and acknowledges, or takes,
// what there is. Both ask for the length of the queue after each item. The others only ask, several times in a round: a
// deposed leader answers only clients that write nothing.
func Count(newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, false)
		w.returns = 0
		for r, ok := 0, true; r < p.Rounds && ok; r++ {
			switch p.ID {
			case 1:
				ok = w.put()
			case 2:
				w.claim = r%2 == 0
				_, ok = w.getOnce(true)
			default:
				ok = w.count() && w.count()
			}
			ok = ok && w.count()
		}
	}
}

// Break makes a program in which the first client puts items, and deletes znodes below claims, as an operator may. The
// others claim and acknowledge what there is.
func Break(claims string, newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, p.ID != 3) // one client takes, which must leave nothing behind either
		w.returns = 0
		for range p.Rounds {
			if p.ID > 1 {
				if _, ok := w.getOnce(true); !ok {
					return
				}
				continue
			}
			if !w.put() {
				return
			}
			for range Repeat(p, 3) {
				names, _, err := p.Conn.Children(p.Path(claims))
				if err == nil && len(names) > 0 {
					p.Conn.Delete(p.Path(claims)+"/"+slices.Min(names), -1) // whether it is there or not
				}
			}
		}
	}
}

// count asks how long the queue is.
func (w *worker) count() (ok bool) {
	_, ok, _ = w.do("len", 0, func(ctx context.Context) (int64, error) {
		n, err := w.q.Len(ctx)
		return int64(n), err
	})
	return ok
}

// do runs an operation and records it. Only the error decides what comes next. again says that the operation certainly
// did nothing and may be retried; ok is false if it must not fail like that.
func (w *worker) do(
	op string, item int64, f func(ctx context.Context) (got int64, err error),
) (again, ok bool, err error) {
	ctx, end := w.p.Interruptible()
	if w.fed != nil && (op == "take" || op == "claim") {
		ctx = w.fed
		if w.brief > 0 {
			w.brief--
			ctx, end = w.p.Env.WithTimeout(ctx, nap)
		}
	}
	defer end()
	w.o.Record(history.Event{Kind: history.Invoke, Op: op, Value: item})
	got, err := f(ctx)
	unknown := errors.Is(err, recipes.ErrUnknownOutcome)
	again = !unknown && (errors.Is(err, recipes.ErrEmpty) || errors.Is(err, recipes.ErrClaimLost) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
	w.o.Record(history.Event{Kind: history.Return, Op: op, Value: got, Err: err, OK: again})
	if err != nil && !unknown && !again {
		w.p.Fail(err)
		return false, false, err
	}
	return again, true, err
}

// put puts an item for certain, another one if it must.
func (w *worker) put() (ok bool) {
	defer recipes.Forget(w.p.Env)(&w.puts, &ok)
	for {
		recipes.Keep(w.p.Env, &w.puts)
		w.puts++
		item := itemNumber(w.p.ID, w.puts)
		_, ok, err := w.do("put", item, func(ctx context.Context) (int64, error) {
			return item, w.q.Put(ctx, strconv.AppendInt(nil, item, 10), ItemPriority(item))
		})
		if err == nil || !ok {
			return ok
		}
	}
}

// get removes an item, unless the outcome is unknown.
func (w *worker) get(try bool) bool {
	for {
		again, ok := w.getOnce(try)
		if !again || !ok {
			return ok
		}
		if w.fed != nil && w.fed.Err() != nil {
			return false
		}
		try = false
	}
}

func (w *worker) getOnce(try bool) (again, ok bool) {
	var number int64
	try = try && !w.q.Waits
	op := "take"
	if w.claim {
		op = "claim"
	}
	if try {
		op = "try" + op
	}
	again, ok, err := w.do(op, 0, func(ctx context.Context) (got int64, err error) {
		var data []byte
		if !w.claim {
			data, err = w.q.Take(ctx, try)
		} else if w.item, err = w.q.Claim(ctx, try); err == nil {
			data = w.item.Data()
		}
		if err == nil {
			number, err = w.numberOf(data)
		}
		return number, err
	})
	if err != nil || !w.claim {
		return again, ok
	}
	return w.settle(number)
}

// numberOf returns the number of an item.
func (w *worker) numberOf(data []byte) (int64, error) {
	number, err := strconv.ParseInt(string(data), 10, 64)
	if err == nil {
		return number, nil
	}
	w.p.Always("what a consumer gets is what somebody has put", false)
	return 0, fmt.Errorf("an item that nobody put: %.60q", data)
}

// settle works on a claimed item, and then acknowledges or returns it.
func (w *worker) settle(number int64) (again, ok bool) {
	Steps(w.p, w.work)
	op, settle := "ack", w.item.Ack
	if w.returns > 0 {
		w.returns--
		op, settle = "return", w.item.Return
	}
	again, ok, _ = w.do(op, number, func(ctx context.Context) (int64, error) { return number, settle(ctx) })
	w.item = nil
	return again || op == "return", ok
}

// Goals of queues.
var (
	GoalLostPut   = engine.Goal{Name: "a lost reply after a put", Reached: lostMulti("put")}
	GoalLostTake  = engine.Goal{Name: "a lost reply after a take", Reached: lostMulti("take")}
	GoalLostAck   = engine.Goal{Name: "a lost reply after an acknowledgement", Reached: lostMulti("ack")}
	GoalClaimLost = engine.Goal{Name: "an acknowledgement after the claim was lost",
		Reached: Returned("ack", recipes.ErrClaimLost)}
	GoalUnknownPut  = engine.Goal{Name: "a put of unknown outcome", Reached: Returned("put", recipes.ErrUnknownOutcome)}
	GoalUnknownTake = engine.Goal{Name: "a take of unknown outcome", Reached: Returned("take", recipes.ErrUnknownOutcome)}
	GoalUnknownAck  = engine.Goal{Name: "an acknowledgement of unknown outcome",
		Reached: Returned("ack", recipes.ErrUnknownOutcome)}
	GoalEmpty = engine.Goal{Name: "a queue that is empty", Reached: func(h *history.History) bool {
		return Returned("trytake", recipes.ErrEmpty)(h) || Returned("tryclaim", recipes.ErrEmpty)(h)
	}}
	GoalAgain = engine.Goal{Name: "an item of an ended session that is delivered again", Reached: deliveredAgain}
	GoalWoken = engine.Goal{Name: "a consumer that was woken by a new item",
		Reached: func(h *history.History) bool { return woken(h, "/items") }}
	// GoalCounted is what a stale answer needs.
	GoalCounted = engine.Goal{Name: "a length that is asked for after a leader was deposed", Reached: countedLater}
	// GoalBroken is something that an operator can do.
	GoalBroken   = engine.Goal{Name: "a claim that another client deleted", Reached: broken}
	GoalReleased = engine.Goal{Name: "a consumer that was woken by a claim that went",
		Reached: func(h *history.History) bool { return woken(h, "/claims") }}
)

// deliveredAgain reports whether a claim ended with its session, and another client got the item.
func deliveredAgain(h *history.History) bool {
	holder := map[int64]int32{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Return || e.Value == 0 {
			continue
		}
		switch e.Op {
		case "claim", "tryclaim":
			if c := holder[e.Value]; c != 0 && c != e.Client {
				return true
			}
			holder[e.Value] = e.Client
		case "return":
			delete(holder, e.Value)
		}
	}
	return false
}

// countedLater reports whether a client asked for a length after a leader was deposed, and got it.
func countedLater(h *history.History) bool {
	deposed, asked := false, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Fault && strings.HasPrefix(e.Op, "depose"):
			deposed = true
		case e.Kind == history.Invoke && e.Op == "len":
			asked[e.Object] = deposed
		case e.Kind == history.Return && e.Op == "len" && e.Err == nil && asked[e.Object]:
			return true
		}
	}
	return false
}

// broken reports whether a client deleted an ephemeral znode of another one.
func broken(h *history.History) bool {
	maker := map[string]int32{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Created && e.Session != 0:
			maker[e.Path] = e.Client
		case e.Kind == history.Deleted && e.Client != 0 && maker[e.Path] != 0 && maker[e.Path] != e.Client:
			return true
		}
	}
	return false
}

// woken reports whether a change of the children of that znode of the queue fired a watch.
func woken(h *history.History, znode string) bool {
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Notify && e.Op == "child" && strings.HasSuffix(e.Path, znode) {
			return true
		}
	}
	return false
}
