package prove

import (
	"math/bits"

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
	order  checkers.Order
	own    []uint64                 // per client; 0 is the environment
	sums   [history.Calm + 1]uint64 // per kind
	events int                      // that have been taken
}

func newTrace(order checkers.Order) *trace { return &trace{order: order} }

func (t *trace) reset(clients int) {
	t.own = append(t.own[:0], make([]uint64, clients+1)...)
	clear(t.sums[:])
}

// add adds an event; rank is that of its zxid.
func (t *trace) add(e *history.Event, rank int64) {
	if !t.order.Sees(e.Kind) {
		return
	}
	x := stir(t.own[e.Client], said(e, rank))
	before := uint64(0)
	for k := range t.sums {
		if t.order.Matters(e.Kind, history.Kind(k)) {
			before += t.sums[k]
		}
	}
	x = stir(x, before)
	t.own[e.Client] = x
	t.sums[e.Kind] += x
}

// said is what an event adds to what is known otherwise. What a client's code
// records follows from what it has seen, which is part of the fingerprint; that is
// why its values, which are zxids for the most part, are left out.
func said(e *history.Event, rank int64) uint64 {
	x := uint64(e.Kind)<<40 | uint64(e.Client)<<8
	if e.OK {
		x |= 1
	}
	if e.Kind >= history.Notify {
		x = stirString(stirString(stir(stir(x, uint64(e.Session)), uint64(rank)), e.Op), e.Path)
	}
	return x
}

func (t *trace) hash() uint64 {
	x := uint64(0)
	for _, s := range t.sums {
		x = stir(x, s)
	}
	return x
}

// stir is the mixing step of a multiplicative hash with 128-bit products.
func stir(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, y^0xd1342543de82ef95)
	return hi ^ lo ^ y
}

func stirString(x uint64, s string) uint64 {
	for i := range len(s) {
		x = (x ^ uint64(s[i])) * 0x100000001b3
	}
	return stir(x, uint64(len(s)))
}
