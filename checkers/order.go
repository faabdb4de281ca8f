package checkers

import "zksim/model/history"

// Order says what of a history a verdict can depend on: bit b of row a is set if
// it matters in which order an event of kind a and one of kind b happened, when
// they concern different clients. A kind whose row is 0 is not looked at. The
// order of events of one client always matters.
//
// Exhaustive search takes two runs for the same that differ only in what does not
// matter to any checker.
type Order [history.Calm + 1]uint32

// seen is the bit of a kind that is looked at and whose order among the events of
// other clients does not matter.
const seen = 1 << 31

// Sees reports whether a checker looks at events of kind k.
func (o *Order) Sees(k history.Kind) bool { return o[k] != 0 }

// Matters reports whether the order of neighbouring events of kinds a and b matters.
func (o *Order) Matters(a, b history.Kind) bool { return o[a]>>b&1 != 0 }

// Crosses reports whether the order of an event of kind k and one of any other
// client can matter.
func (o *Order) Crosses(k history.Kind) bool { return o[k]&^seen != 0 }

// And adds what p depends on.
func (o *Order) And(p Order) {
	for k := range o {
		o[k] |= p[k]
	}
}

// between makes the order of every kind of a and every kind of b matter.
func (o Order) between(a, b []history.Kind) Order {
	for _, x := range a {
		for _, y := range b {
			o[x] |= seen | 1<<y
			o[y] |= seen | 1<<x
		}
	}
	return o
}

// of lists kinds of events.
func of(list ...history.Kind) []history.Kind { return list }

// sequence is the order of a checker that goes by the sequence of these events.
func sequence(list ...history.Kind) Order { return Order{}.between(list, list) }

// intervals is the order of a checker that asks which operations overlap: neither
// two that begin nor two that end can be told apart by their order. The order of
// the other events and with them matters.
func intervals(rest ...history.Kind) Order {
	begin, end := of(history.Invoke), of(history.Return)
	return sequence(rest...).between(begin, end).between(append(begin, end...), rest)
}

// everything is the order of a checker that nothing is known of.
var everything = func() Order {
	var all []history.Kind
	for k := history.Invoke; k <= history.Calm; k++ {
		all = append(all, k)
	}
	return sequence(all...)
}()

// Ordered is a checker that says what its verdicts depend on. One that does not is
// taken to depend on everything.
type Ordered interface {
	Checker
	Order() Order
}

// OrderOf returns what the verdicts of these checkers depend on.
func OrderOf(all []Checker) Order {
	var o Order
	for _, c := range all {
		if x, ok := c.(Ordered); ok {
			o.And(x.Order())
		} else {
			o.And(everything)
		}
	}
	return o
}
