package checkers

import (
	"slices"

	"zksim/model/history"
)

// changes are the zxids of the txns that have changed znodes, in order. A monitor needs them for its hash only: zxids
// differ between equivalent runs, but the number of changes up to one does not.
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

// horizon is how far txns were certainly committed.
type horizon struct{ committed int64 } // the zxid

// note takes an event into account.
func (x *horizon) note(e *history.Event) {
	switch e.Kind {
	case history.Created, history.Changed, history.Deleted:
		if e.Proposed {
			return
		}
	case history.Reply:
	default:
		return
	}
	x.committed = max(x.committed, e.Zxid)
}
