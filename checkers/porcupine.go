package checkers

import (
	"hash/maphash"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience bounds the search of porcupine for one history.
const patience = 10 * time.Second

// timed is an operation O of a client between two positions of a history.
type timed[O any] struct {
	client    int
	call, ret int
	op        O
}

// linearizable searches, with porcupine, for an order of the operations that a
// sequential specification accepts: step returns whether an operation, with what
// it answered, is possible in a state, and the next state. The search takes time
// exponential in the number of operations that are under way together, and is
// given up, as Unknown, after a while.
func linearizable[S comparable, O any](ops []timed[O], init S, step func(S, O) (bool, S)) Level {
	list := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		list[i] = porcupine.Operation{ClientId: o.client, Input: o.op, Call: int64(o.call), Return: int64(o.ret)}
	}
	seed := maphash.MakeSeed()
	switch porcupine.CheckOperationsTimeout(porcupine.Model{
		Init:  func() any { return init },
		Step:  func(state, input, _ any) (bool, any) { return step(state.(S), input.(O)) },
		Equal: func(a, b any) bool { return a == b },
		Hash:  func(state any) uint64 { return maphash.Comparable(seed, state.(S)) },
	}, list, patience) {
	case porcupine.Ok:
		return OK
	case porcupine.Illegal:
		return Violated
	}
	return Unknown
}
