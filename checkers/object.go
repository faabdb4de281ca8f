package checkers

import (
	"slices"

	"zksim/model/history"
)

// object is a recipe object of a client.
type object struct{ client, number int32 }

func objectOf(e *history.Event) object { return object{e.Client, e.Object} }

// key returns o itself, for entries that embed it.
func (o object) key() object { return o }

// entry is what a monitor remembers of an object.
type entry interface{ key() object }

// find returns the place of an object in a list, -1 if it is not there.
func find[T entry](list []T, o object) int {
	return slices.IndexFunc(list, func(x T) bool { return x.key() == o })
}

// forget removes an object from a list.
func forget[T entry](list []T, o object) []T {
	return drop(list, func(x T) bool { return x.key() == o })
}

// printOf returns a hash that tells o from other objects in a list: by its client and by
// how many entries of that client there are with smaller numbers. Numbers differ
// between runs that mean the same; a client gives them in its own order.
func printOf[T entry](list []T, o object) Print {
	n := uint64(0)
	for _, x := range list {
		if y := x.key(); y.client == o.client && y.number < o.number {
			n++
		}
	}
	return Print(o.client).Word(n)
}

// changes are the zxids of the txns that have changed znodes, in their order, which a
// monitor needs for its hash only: zxids differ between runs that mean the same, and how
// many changes there were up to one does not.
type changes []int64

// note takes an event into account.
func (c *changes) note(e *history.Event) {
	switch e.Kind {
	case history.Created, history.Changed, history.Deleted:
		if n := len(*c); n == 0 || (*c)[n-1] < e.Zxid { // a multi makes several
			*c = append(*c, e.Zxid)
		}
	}
}

// rank returns how many changes there were up to a zxid.
func (c changes) rank(zxid int64) uint64 {
	n, found := slices.BinarySearch(c, zxid)
	if found {
		n++
	}
	return uint64(n)
}
