package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// connection is one of the connections of a client. Number 0 is the first.
type connection struct{ client, number int32 }

func connectionOf(e *history.Event) connection { return connection{e.Client, e.Version} }

// deceived are the connections whose session was ended while their client could not know. A client may have several,
// and what it hears on one says nothing of another.
type deceived []connection

// step takes an event into account: Exceeded deceives, and whatever the connection's library hears next ends that.
func (d *deceived) step(e *history.Event) {
	x := connectionOf(e)
	switch e.Kind {
	case history.Exceeded:
		*d = append(*d, x)
	case history.Session:
		*d = drop(*d, func(y connection) bool { return x == y })
	}
}

// has reports whether a connection of a client is one of them.
func (d deceived) has(client int32) bool {
	return slices.ContainsFunc(d, func(x connection) bool { return x.client == client })
}

// print returns a hash of the connections, in any order.
func (d deceived) print() (sum hash.Hash) {
	for _, x := range d {
		sum += hash.Hash(0).Uint64(uint64(x.client)).Uint64(uint64(x.number))
	}
	return sum
}
