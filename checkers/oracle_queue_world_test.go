package checkers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// queueWorld is a queue that keeps its promises, or breaks one. Its clients have two objects each at most, with several
// operations at a time, whose answers may be lost, and which may be executed late.
type queueWorld struct {
	*rand.Rand
	h        history.History
	items    []itemThere
	ops      []*queueCall        // in progress
	late     []*queueCall        // that nobody waits for any more, and that are still executed
	mine     map[int32][]itemHad // claimed items, of which a client knows
	sessions [4]int64            // of clients
	dead     [4]bool
	zxid     int64
	next     int64 // the number of the latest item
	priority func(item int64) int64
	wrong    string // the promise that is broken; "": none
}

// itemThere is an item in the queue.
type itemThere struct {
	item    int64
	name    string
	claimed int64 // in which session; 0: it is free
}

// itemHad is an item that was claimed in a session.
type itemHad struct{ item, session int64 }

// queueCall is an operation.
type queueCall struct {
	caller
	op       string
	item     int64 // asked for, or got
	done     bool
	gone     bool    // it was about a claim that had gone
	wasEmpty bool    // at some moment of the call
	lengths  []int64 // at each moment
}

// change adds a txn.
func (w *queueWorld) change(k history.Kind, client int32, path, data string, session int64) {
	w.h.Add(history.Event{Kind: k, Client: client, Path: "/q/" + path, Data: data, Zxid: w.zxid, Session: session})
}

// head returns the index of the item that comes first of those that are free; -1 if there is none.
func (w *queueWorld) head() int {
	best := -1
	for k, x := range w.items {
		first := best < 0 || w.priority(x.item) < w.priority(w.items[best].item)
		if x.claimed == 0 && (first || w.wrong == "order" && w.IntN(2) == 0) {
			best = k
		}
	}
	return best
}

// remove removes an item, and its claim.
func (w *queueWorld) remove(k int, client int32) {
	x := w.items[k]
	if w.wrong == "removal" && w.IntN(2) == 0 {
		return
	}
	w.change(history.Deleted, client, "items/"+x.name, "", 0)
	if x.claimed != 0 {
		w.change(history.Deleted, client, "claims/"+x.name, "", x.claimed)
	}
	w.items = slices.Delete(w.items, k, k+1)
}

// execute does what an operation asks for, unless that cannot be done now.
func (w *queueWorld) execute(o *queueCall) (done bool) {
	k := w.head()
	if o.op == "put" && (w.wrong != "put" || w.IntN(2) == 0) {
		w.zxid++
		w.items = append(w.items, itemThere{item: o.item, name: fmt.Sprint("i-", w.zxid)})
		w.change(history.Created, o.client, w.items[len(w.items)-1].path(), fmt.Sprint(o.item), 0)
	}
	if o.op == "ack" || o.op == "return" {
		k = slices.IndexFunc(w.items, func(x itemThere) bool {
			return x.item == o.item && x.claimed == w.sessions[o.client]
		})
		o.gone = k < 0
	}
	if o.op != "put" && k < 0 {
		o.done = o.gone
		return o.done
	}
	w.zxid++
	switch o.op {
	case "take", "trytake":
		o.item = w.items[k].item
		w.remove(k, o.client)
	case "claim", "tryclaim":
		x := &w.items[k]
		o.item, x.claimed = x.item, w.sessions[o.client]
		w.change(history.Created, o.client, "claims/"+x.name, "", x.claimed)
	case "ack":
		w.remove(k, o.client)
	case "return":
		w.free(&w.items[k], o.client)
	}
	o.done = true
	return true
}

func (x *itemThere) path() string { return "items/" + x.name }

// free ends the claim of an item.
func (w *queueWorld) free(x *itemThere, client int32) {
	w.change(history.Deleted, client, "claims/"+x.name, "", x.claimed)
	x.claimed = 0
}

// look notes how things are for operations in progress.
func (w *queueWorld) look() {
	for _, o := range w.ops {
		o.wasEmpty = o.wasEmpty || w.head() < 0 || w.wrong == "empty"
		o.lengths = append(o.lengths, int64(len(w.items)))
	}
}

// step has something happen.
func (w *queueWorld) step() {
	w.look()
	client, object := 1+w.Int32N(3), 1+w.Int32N(4)
	switch k := w.IntN(60); {
	case k == 0: // a session ends
		w.zxid++
		for i := range w.items {
			if x := &w.items[i]; x.claimed == w.sessions[client] {
				w.free(x, 0)
			}
		}
		w.sessions[client] += 10
	case k == 1 && !w.dead[client] && w.IntN(2) == 0:
		w.dead[client] = true
		w.h.Add(history.Event{Kind: history.Crashed, Client: client})
		w.ops = drop(w.ops, func(o *queueCall) bool {
			if o.client == client && !o.done && o.op != "len" {
				w.late = append(w.late, o)
			}
			return o.client == client
		})
	case k < 6 && len(w.late) > 0:
		if i := w.IntN(len(w.late)); w.execute(w.late[i]) {
			w.late = slices.Delete(w.late, i, i+1)
		}
	case w.dead[ownerOf(object)]:
	default:
		own := slices.DeleteFunc(slices.Clone(w.ops), func(o *queueCall) bool { return o.object != object })
		if len(own) == 0 || w.IntN(6) == 0 {
			w.begin(caller{ownerOf(object), object})
		} else if o := own[w.IntN(len(own))]; o.done || o.op == "len" {
			w.answer(o)
		} else {
			w.goOn(o)
		}
	}
}

// begin begins an operation, beside others of other names.
func (w *queueWorld) begin(who caller) {
	o := &queueCall{caller: who, op: []string{"put", "put", "put", "take", "trytake", "claim", "tryclaim", "ack", "ack",
		"return", "len"}[w.IntN(11)]}
	if slices.ContainsFunc(w.ops, func(x *queueCall) bool { return x.caller == who && x.op == o.op }) {
		return
	}
	switch had := w.mine[o.client]; o.op {
	case "put":
		w.next++
		o.item = w.next
	case "ack", "return":
		if len(had) == 0 {
			return
		}
		o.item, w.mine[o.client] = had[0].item, had[1:]
		if had[0].session != w.sessions[o.client] { // another client's now, perhaps
			return
		}
	}
	w.ops = append(w.ops, o)
	w.h.Add(history.Event{Kind: history.Invoke, Client: o.client, Object: o.object, Op: o.op, Value: o.item})
}

// end ends an operation.
func (w *queueWorld) end(o *queueCall, value int64, err error, ok bool) {
	w.ops = drop(w.ops, func(x *queueCall) bool { return x == o })
	w.h.Add(history.Event{Kind: history.Return, Client: o.client, Object: o.object, Op: o.op, Value: value, Err: err,
		OK: ok})
}

// goOn goes on with an operation that was not executed.
func (w *queueWorld) goOn(o *queueCall) {
	tries := o.op == "trytake" || o.op == "tryclaim"
	asks := tries || o.op == "take" || o.op == "claim"
	switch k := w.IntN(16); {
	case k < 2:
		w.late = append(w.late, o)
		w.end(o, o.item, []error{zk.ErrConnectionClosed, context.Canceled}[k], false)
	case tries && o.wasEmpty && k < 9:
		w.end(o, 0, zk.ErrNoNode, true)
	case asks && k == 9:
		w.end(o, 0, context.Canceled, true)
	default:
		w.execute(o)
	}
}

// answer ends an operation that was executed, or asks for a length.
func (w *queueWorld) answer(o *queueCall) {
	switch k := w.IntN(10); {
	case o.op == "len":
		n := o.lengths[w.IntN(len(o.lengths))]
		if w.wrong == "length" {
			n++
		}
		w.end(o, n, nil, false)
	case k == 0:
		value := o.item
		if o.op != "put" && o.op != "ack" && o.op != "return" {
			value = 0
		}
		w.end(o, value, zk.ErrConnectionClosed, false)
	case o.gone:
		w.end(o, o.item, zk.ErrBadVersion, true)
	default:
		w.end(o, o.item, nil, false)
		if o.op == "claim" || o.op == "tryclaim" {
			w.mine[o.client] = append(w.mine[o.client], itemHad{o.item, w.sessions[o.client]})
		}
	}
}

// queueHistory returns the history of a queue that breaks a promise, or none.
func queueHistory(r *rand.Rand, wrong string, priority func(item int64) int64) *history.History {
	w := &queueWorld{Rand: r, mine: map[int32][]itemHad{}, sessions: [4]int64{0, 1, 2, 3}, wrong: wrong,
		priority: priority}
	w.h.Reset(3)
	w.h.Txns = true
	for range 5 + r.IntN(90) {
		w.step()
	}
	for _, x := range w.items {
		w.h.Tree = append(w.h.Tree, history.Node{Path: "/q/" + x.path(), Data: fmt.Sprint(x.item)})
	}
	return &w.h
}

// TestQueuesThatKeepTheirPromisesAreRight has all checkers of queues judge queues that are right, and queues that are
// not: of these, some checker finds some.
func TestQueuesThatKeepTheirPromisesAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for n, wrong := range []string{"", "order", "removal", "put", "empty", "length"} {
		caught := map[string]int{}
		for k := range 4000 / (1 + 3*min(n, 1)) {
			order, priority := Checker(FIFO{}), func(int64) int64 { return 0 }
			if k%2 == 1 {
				order, priority = PriorityOrder{Of: rank}, rank
			}
			h := queueHistory(r, wrong, priority)
			for _, c := range []Checker{order, LostItem{}, DoubledItem{}, DoubledEffect{}, Length{}, Waits{For: AwaitedItem}} {
				v := c.Check(h)
				if v.Level == Violated {
					caught[c.Name()]++
				}
				if wrong == "" && v.Level != OK {
					t.Fatalf("%v\n%s%v", v, listed(h), h.Tree)
				}
			}
		}
		if t.Logf("%q: %v", wrong, caught); wrong != "" && len(caught) == 0 {
			t.Errorf("nothing is wrong with queues that break the promise of %s", wrong)
		}
	}
}
