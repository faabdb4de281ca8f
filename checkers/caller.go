package checkers

import "zksim/model/history"

// caller is an object that has begun an operation.
type caller struct{ client, object int32 }

func callerOf(e *history.Event) caller { return caller{e.Client, e.Object} }

func (c caller) who() caller { return c }

// called is something that an object has begun.
type called interface{ who() caller }

// mark returns a hash of whose list[i] is: the client, and the place of the object
// among the client's in the list. The number of an object differs between runs that mean
// the same, but a client numbers its own in their order.
func mark[T called](list []T, i int) Print {
	x, n := list[i].who(), 0
	for _, y := range list {
		if y := y.who(); y.client == x.client && y.object < x.object {
			n++
		}
	}
	return Print(x.client).Word(uint64(n))
}

// take removes what the object of e has begun, and returns the latest of it, or the zero
// value.
func take[T called](list []T, e *history.Event) (rest []T, x T) {
	rest = drop(list, func(y T) bool {
		mine := y.who().object == e.Object
		if mine {
			x = y
		}
		return mine
	})
	return rest, x
}
