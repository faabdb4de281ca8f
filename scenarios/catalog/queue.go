package catalog

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

const queueDir = "/queue"

var queueSetup = []model.Request{
	{Op: model.OpCreate, Path: queueDir, ACL: zk.WorldACL(zk.PermAll)},
	{Op: model.OpCreate, Path: queueDir + "/items", ACL: zk.WorldACL(zk.PermAll)},
	{Op: model.OpCreate, Path: queueDir + "/claims", ACL: zk.WorldACL(zk.PermAll)},
}

// queue is a queue under test.
type queue struct {
	put   func(ctx context.Context, data []byte, priority int64) error
	take  func(ctx context.Context, try bool) ([]byte, error)
	claim func(ctx context.Context, try bool) (queueItem, error)
}

// queueItem is an item that was claimed.
type queueItem interface {
	Ack(ctx context.Context) error
	Return(ctx context.Context) error
	Data() []byte
	Znodes() []string
}

func newQueue(opt recipes.QueueOptions) func(p *engine.Process) queue {
	return func(p *engine.Process) queue {
		q := recipes.NewQueue(p.Conn, p.Env, p.Path(queueDir), opt)
		return consumer(q, func(ctx context.Context, data []byte, _ int64) error { return q.Put(ctx, data) })
	}
}

func newPriorityQueue(p *engine.Process) queue {
	q := recipes.NewPriorityQueue(p.Conn, p.Env, p.Path(queueDir), recipes.QueueOptions{})
	return consumer(q, func(ctx context.Context, data []byte, priority int64) error {
		return q.Put(ctx, data, uint16(priority))
	})
}

func newBrokenQueue(f broken.Flaw) func(p *engine.Process) queue {
	return func(p *engine.Process) queue {
		q := newBrokenPriorityQueue(f)(p)
		put := q.put
		q.put = func(ctx context.Context, data []byte, _ int64) error { return put(ctx, data, 0) }
		return q
	}
}

func newBrokenPriorityQueue(f broken.Flaw) func(p *engine.Process) queue {
	return func(p *engine.Process) queue {
		q := broken.NewQueue(p.Conn, p.Env, p.Path(queueDir), f)
		return consumer(q, func(ctx context.Context, data []byte, priority int64) error { return q.Put(ctx, data, int(priority)) })
	}
}

// delivering is the consumer's side of a queue.
type delivering[I queueItem] interface {
	Take(ctx context.Context) ([]byte, error)
	TryTake(ctx context.Context) ([]byte, error)
	Claim(ctx context.Context) (I, error)
	TryClaim(ctx context.Context) (I, error)
}

func consumer[I queueItem](q delivering[I], put func(context.Context, []byte, int64) error) queue {
	return queue{put: put,
		take: func(ctx context.Context, try bool) ([]byte, error) {
			if try {
				return q.TryTake(ctx)
			}
			return q.Take(ctx)
		},
		claim: func(ctx context.Context, try bool) (queueItem, error) {
			claim := q.Claim
			if try {
				claim = q.TryClaim
			}
			i, err := claim(ctx)
			if err != nil {
				return nil, err
			}
			return i, nil
		}}
}

// itemPriority returns the priority of an item, which is part of its number.
func itemPriority(item int64) int64 { return item / 10_000 }

// worker is a client of a queue.
type worker struct {
	p *engine.Process
	o engine.Object
	q queue

	puts    int64
	claim   bool      // and acknowledge, rather than take
	item    queueItem // claimed and not settled yet
	returns int       // how many claimed items are returned before one is acknowledged

	// fed, of clients that live by a producer, is done when the producer has gone.
	fed context.Context
}

func newWorker(p *engine.Process, newQueue func(p *engine.Process) queue, claim bool) *worker {
	w := &worker{p: p, q: newQueue(p), claim: claim, returns: (p.ID + 1) % 2}
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

// producerPath is an ephemeral of the client that the others live by.
const producerPath = "/producer"

// produce announces the producer.
func (w *worker) produce() {
	for {
		_, err := w.p.Conn.Create(w.p.Path(producerPath), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == nil || err == zk.ErrNodeExists {
			return
		}
		w.p.Env.Sleep(context.Background(), time.Second)
	}
}

// follow looks for the producer and returns the function that ends it; false if
// there is none to be seen.
func (w *worker) follow() (end context.CancelFunc, ok bool) {
	for range 20 {
		exists, _, err := w.p.Conn.Exists(w.p.Path(producerPath))
		if err == nil && exists {
			w.fed, end = context.WithCancel(context.Background())
			w.p.Env.Go("follow", func() { w.attend(end) })
			return end, true
		}
		w.p.Env.Sleep(context.Background(), 100*time.Millisecond)
	}
	return nil, false
}

// attend calls gone when the producer's session has ended.
func (w *worker) attend(gone context.CancelFunc) {
	defer w.p.Env.Forget()()
	for w.fed.Err() == nil {
		w.p.Env.Keep()
		change := w.p.Env.SessionEvents()
		exists, _, event, err := w.p.Conn.ExistsW(w.p.Path(producerPath))
		if err == nil && !exists {
			gone()
			return
		}
		w.p.Env.Await(w.fed, event, change)
	}
}

// exchange makes a program in which each client puts and gets an item in each round,
// and puts some more in the end. At any time it has put at least as many as it has
// tried to get, so that nobody waits for ever, whoever crashes.
func exchange(more int, claim bool, newQueue func(p *engine.Process) queue) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, claim)
		for r := range p.Rounds + more {
			if !w.put() || r < p.Rounds && !w.get(!brief(p) && (p.ID+r)%3 == 0) {
				return
			}
		}
	}
}

// exchangers tells clients apart that try, rather than wait: in a brief run none does.
func exchangers(id, rounds int) int {
	if rounds == 1 {
		return 0
	}
	return id % 3
}

// feed makes a program in which the first client puts what the others get, one item
// a round, as long as its session lasts.
func feed(claim bool, newQueue func(p *engine.Process) queue) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p, newQueue, claim)
		if p.ID == 1 {
			w.produce()
			for n := p.Rounds * (p.Clients - 1); n > 0 && w.put(); n-- {
			}
			return
		}
		end, ok := w.follow()
		if !ok {
			return
		}
		defer end()
		for r := 0; r < p.Rounds && w.get((p.ID+r)%3 == 0); r++ {
		}
	}
}

// handOver makes a program in which the first client puts one item that the last
// one acknowledges. Those between claim it, if they can, and return it.
func handOver(newQueue func(p *engine.Process) queue) func(p *engine.Process) {
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

// poll makes a program in which the first client puts up to two items, which the
// others look for in each round.
func poll(newQueue func(p *engine.Process) queue) func(p *engine.Process) {
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

// do runs an operation and records it. Nothing else than the error decides what
// comes next: again says that the operation certainly did nothing and may be
// tried again, ok is false if it must not have failed like that.
func (w *worker) do(op string, item int64, f func(ctx context.Context) (got int64, err error)) (again, ok bool, err error) {
	ctx, end := w.p.Interruptible()
	if w.fed != nil && (op == "take" || op == "claim") {
		ctx = w.fed
	}
	defer end()
	w.o.Record(history.Event{Kind: history.Invoke, Op: op, Value: item})
	got, err := f(ctx)
	unknown := errors.Is(err, recipes.ErrUnknownOutcome)
	again = !unknown && (errors.Is(err, recipes.ErrEmpty) || errors.Is(err, recipes.ErrClaimLost) || errors.Is(err, context.Canceled))
	w.o.Record(history.Event{Kind: history.Return, Op: op, Value: got, Err: err, OK: again})
	if err != nil && !unknown && !again {
		w.p.Fail(err)
		return false, false, err
	}
	return again, true, err
}

// put puts an item for certain: if need be another one.
func (w *worker) put() (ok bool) {
	defer w.p.Env.Forget()(&w.puts, &ok)
	for {
		w.p.Env.Keep(&w.puts)
		w.puts++
		item := (9+w.puts%2)*10_000 + int64(w.p.ID)*100 + w.puts
		_, ok, err := w.do("put", item, func(ctx context.Context) (int64, error) {
			return item, w.q.put(ctx, strconv.AppendInt(nil, item, 10), itemPriority(item))
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
			data, err = w.q.take(ctx, try)
		} else if w.item, err = w.q.claim(ctx, try); err == nil {
			data = w.item.Data()
		}
		if err == nil {
			number, err = strconv.ParseInt(string(data), 10, 64)
		}
		return number, err
	})
	if err != nil || !w.claim {
		return again, ok
	}
	return w.settle(number)
}

// settle works on a claimed item, and acknowledges or returns it.
func (w *worker) settle(number int64) (again, ok bool) {
	w.p.Step()
	op, settle := "ack", w.item.Ack
	if w.returns > 0 {
		w.returns--
		op, settle = "return", w.item.Return
	}
	again, ok, _ = w.do(op, number, func(ctx context.Context) (int64, error) { return number, settle(ctx) })
	w.item = nil
	return again || op == "return", ok
}

var (
	goalLostPut     = engine.Goal{Name: "a lost reply after a put", Reached: lostMulti("put")}
	goalLostTake    = engine.Goal{Name: "a lost reply after a take", Reached: lostMulti("take")}
	goalLostAck     = engine.Goal{Name: "a lost reply after an acknowledgement", Reached: lostMulti("ack")}
	goalClaimLost   = engine.Goal{Name: "an acknowledgement after the claim was lost", Reached: returned("ack", recipes.ErrClaimLost)}
	goalUnknownPut  = engine.Goal{Name: "a put of unknown outcome", Reached: returned("put", recipes.ErrUnknownOutcome)}
	goalUnknownTake = engine.Goal{Name: "a take of unknown outcome", Reached: returned("take", recipes.ErrUnknownOutcome)}
	goalUnknownAck  = engine.Goal{Name: "an acknowledgement of unknown outcome", Reached: returned("ack", recipes.ErrUnknownOutcome)}
	goalEmpty       = engine.Goal{Name: "a queue that is empty", Reached: func(h *history.History) bool {
		return returned("trytake", recipes.ErrEmpty)(h) || returned("tryclaim", recipes.ErrEmpty)(h)
	}}
	goalAgain    = engine.Goal{Name: "an item of an ended session that is delivered again", Reached: deliveredAgain}
	goalWoken    = engine.Goal{Name: "a consumer that was woken by a new item", Reached: func(h *history.History) bool { return woken(h, "/items") }}
	goalReleased = engine.Goal{Name: "a consumer that was woken by a claim that went", Reached: func(h *history.History) bool { return woken(h, "/claims") }}
)

// deliveredAgain reports whether a claim ended with its session, and the item was
// delivered to another client.
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

// woken reports whether a change of the children of that znode of the queue fired
// a watch.
func woken(h *history.History, znode string) bool {
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Notify && e.Op == "child" && strings.HasSuffix(e.Path, znode) {
			return true
		}
	}
	return false
}
