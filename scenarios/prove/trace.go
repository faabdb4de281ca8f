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
}

func (t *trace) reset(clients int) {
	t.own = append(t.own[:0], make([]checkers.Print, clients+1)...)
	clear(t.sums[:])
}

// add adds an event.
func (t *trace) add(e *history.Event) {
	if !t.order.Sees(e.Kind) {
		return
	}
	before := checkers.Print(0)
	for k := range t.sums {
		if t.order.Matters(e.Kind, history.Kind(k)) {
			before += t.sums[k]
		}
	}
	x := t.own[e.Client].Word(uint64(said(e))).Word(uint64(before))
	t.own[e.Client] = x
	t.sums[e.Kind] += x
}

// said is what an event says.
func said(e *history.Event) checkers.Print {
	x := checkers.Print(e.Kind).Word(uint64(e.Client)).Word(uint64(e.Object)).Flag(e.OK).Word(uint64(e.Value)).Word(uint64(e.Zxid)).
		Word(uint64(e.Session)).Word(uint64(e.Version)).Text(e.Op).Text(e.Path).Text(e.Data)
	if e.Err != nil {
		x = x.Text(e.Err.Error())
	}
	return x
}

// saidIn is what events say; 0 if there are none.
func saidIn(told []history.Event) uint64 {
	x := checkers.Print(0)
	for i := range told {
		x = x.Word(uint64(said(&told[i])))
	}
	return uint64(x)
}

// after returns the hash of what the checkers remember, as in memory, and of what they are told then.
func after(all, said uint64) uint64 { return uint64(checkers.Print(all).Word(said)) }

func (t *trace) hash() checkers.Print {
	x := checkers.Print(0)
	for _, s := range t.sums {
		x = x.Word(uint64(s))
	}
	return x
}
