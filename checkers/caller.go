package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// caller is an object that has begun an operation.
type caller struct{ client, object int32 }

func callerOf(e *history.Event) caller { return caller{e.Client, e.Object} }

func (c caller) who() caller { return c }

// ongoing is an operation in progress. An object may have several of different names, as when one goroutine waits at a
// barrier and another one opens it.
type ongoing struct {
	caller
	op string
}

func ongoingOf(e *history.Event) ongoing { return ongoing{callerOf(e), e.Op} }

// called is something that an object has begun.
type called interface{ who() caller }

// ordinal tells the objects of one client in a list apart. It returns how many of them have smaller numbers than x. The
// number of an object differs between equivalent runs, but a client numbers its own objects in their order.
func ordinal[T called](list []T, x caller) (n uint64) {
	for _, y := range list {
		if c := y.who(); c.client == x.client && c.object < x.object {
			n++
		}
	}
	return n
}

// printOf returns a hash that tells x from the other objects in a list.
func printOf[T called](list []T, x caller) hash.Hash {
	return hash.Hash(x.client).Uint64(ordinal(list, x))
}

// printOfNames returns a hash of a set of names or paths.
func printOfNames(set []string) uint64 {
	sum := hash.Hash(0)
	for _, name := range set {
		sum += hash.Hash(0).String(name)
	}
	return uint64(sum)
}

// find returns the index of what an object has begun, or -1 if it is not there.
func find[T called](list []T, x caller) int {
	return slices.IndexFunc(list, func(y T) bool { return y.who() == x })
}

// forget removes what an object has begun.
func forget[T called](list []T, x caller) []T {
	return drop(list, func(y T) bool { return y.who() == x })
}

// withoutClient removes what a client has begun.
func withoutClient[T called](list []T, client int32) []T {
	return drop(list, func(y T) bool { return y.who().client == client })
}

// withoutObject removes what an object has begun. Other than forget, it does not ask whose object that is.
func withoutObject[T called](list []T, object int32) []T {
	return drop(list, func(y T) bool { return y.who().object == object })
}

// take removes what the object of e has begun. It also returns the latest of it, or the zero value.
func take[T called](list []T, e *history.Event) (rest []T, x T) {
	for _, y := range list {
		if y.who().object == e.Object {
			x = y
		}
	}
	return withoutObject(list, e.Object), x
}
