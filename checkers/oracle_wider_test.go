package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// countsMoments reports whether it matters to a checker at which moment an operation begins or ends, and not only what
// has ended before it begins.
func countsMoments(c Checker) bool {
	switch c.(type) {
	case Waits, Settled, LostRevoke, Gather: // time passes in an operation, or not
		return true
	case Entry, Rounds: // a client is inside no longer when it begins to leave
		return true
	case Claim: // which connection is meant is known by the znode, if that was there when the call began
		return true
	case FIFO, PriorityOrder: // an item that was got before its put began was never passed over
		return true
	}
	return false
}

// TestAnOperationThatTakesLongerExcusesMore lets operations of random histories of every sort begin earlier, or end
// later, with what other clients do in between. Then more orders of them are possible: what was right stays right.
func TestAnOperationThatTakesLongerExcusesMore(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	everySort(r, func(c Checker, history func() *history.History) {
		if countsMoments(c) {
			return
		}
		t.Run(fmt.Sprintf("%s %+v", c.Name(), c), func(t *testing.T) {
			for range 150 {
				h := history()
				longer := wider(r, h)
				if v := c.Check(longer); v.Level == Violated && c.Check(h).Level == OK {
					t.Fatalf("%v\n%sand nothing is wrong with\n%s", v, listed(longer), listed(h))
				}
			}
		})
	})
}

// wider returns a history in which some operations begin earlier, or end later.
func wider(r *rand.Rand, h *history.History) *history.History {
	x := *h
	x.Events = slices.Clone(h.Events)
	for i := range x.Events {
		step := 1
		switch x.Events[i].Kind {
		case history.Invoke:
			step = -1
		case history.Return:
		default:
			continue
		}
		for k := i; r.IntN(3) > 0; k += step {
			if k+step < 0 || k+step == len(x.Events) {
				break
			}
			e, other := &x.Events[k], &x.Events[k+step]
			if other.Client == e.Client || other.Client == 0 {
				break
			}
			*e, *other = *other, *e
		}
	}
	return &x
}
