package prove

import (
	"zksim/checkers"
	"zksim/model/history"
)

// trace is a hash of what a history means to the checkers: of the events that they
// look at, in an order that leaves open what does not matter to them. Two
// histories have the same hash if one comes from the other by swapping neighbours
// whose order does not matter (Mazurkiewicz traces), but for collisions.
//
// An event's own hash is made of what it says, of the event of the same client
// before it, and of all events of others before it whose order matters; the hash
// of the history is the sum of these.
type trace struct {
	order checkers.Order
	own   []checkers.Print                 // per client; 0 is the environment
	sums  [history.Calm + 1]checkers.Print // per kind
	seen  []object                         // in the order of their first events
}

// object is a recipe object of a client.
type object struct{ client, number int32 }

func (t *trace) reset(clients int) {
	t.own = append(t.own[:0], make([]checkers.Print, clients+1)...)
	clear(t.sums[:])
	t.seen = t.seen[:0]
}

// add adds an event; rank returns what counts of a zxid.
func (t *trace) add(e *history.Event, rank func(zxid int64) int64) {
	if !t.order.Sees(e.Kind) {
		return
	}
	before := checkers.Print(0)
	for k := range t.sums {
		if t.order.Matters(e.Kind, history.Kind(k)) {
			before += t.sums[k]
		}
	}
	x := t.own[e.Client].Word(uint64(said(e, rank))).Word(t.ordinal(e)).Word(uint64(before))
	t.own[e.Client] = x
	t.sums[e.Kind] += x
}

// ordinal tells the object of an event from the others of its client: the number that it
// has differs between runs that mean the same.
func (t *trace) ordinal(e *history.Event) (n uint64) {
	x := object{e.Client, e.Object}
	for _, y := range t.seen {
		if y == x {
			return n
		}
		if y.client == x.client {
			n++
		}
	}
	t.seen = append(t.seen, x)
	return n
}

// said is what an event says, but for its object.
func said(e *history.Event, rank func(zxid int64) int64) checkers.Print {
	value := e.Value
	if e.Kind == history.Acquired || e.Kind == history.Write { // a token, which is a zxid
		value = rank(value)
	}
	x := checkers.Print(e.Kind).Word(uint64(e.Client)).Flag(e.OK).Word(uint64(value)).Word(uint64(rank(e.Zxid))).
		Word(uint64(e.Session)).Word(uint64(e.Version)).Text(e.Op).Text(e.Path).Text(e.Data)
	if e.Err != nil {
		x = x.Text(e.Err.Error())
	}
	return x
}

func (t *trace) hash() checkers.Print {
	x := checkers.Print(0)
	for _, s := range t.sums {
		x = x.Word(uint64(s))
	}
	return x
}
