package checkers

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"zksim/model/history"
)

var counterFamily = workload{name: "counter", checker: Counter{}, next: nextCount,
	end: func(*rand.Rand, *history.History) {},
	naive: func(h *history.History) Level {
		return levelIf(!orderExists(count(0), countings(h.Events), counting.before))
	}}

func nextCount(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	switch {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case r.IntN(40) == 0:
		return history.Event{Kind: history.Crashed, Client: (object-1)%3 + 1}
	case begun == nil:
		e := history.Event{Kind: history.Invoke, Object: object, Op: []string{"get", "add", "add", "cas"}[r.IntN(4)]}
		if e.Op != "get" {
			e.Value = int64(1 + r.IntN(5)/4)
		}
		if e.Op == "cas" {
			e.Path = strconv.Itoa(r.IntN(3))
		}
		return e
	}
	e := history.Event{Kind: history.Return, Object: object, Op: begun.Op}
	switch k := r.IntN(8); {
	case k == 0 || begun.Op == "cas" && k < 4:
		e.Err = errors.New("unknown")
	case k == 1 && r.IntN(2) == 0:
		e.Err, e.OK = errors.New("canceled"), true
	case k == 2 && r.IntN(2) == 0:
		e.Value = int64(r.IntN(4))
	default: // as if it happened now, after what was answered
		n := count(0)
		ops := countings(h.Events)
		for _, o := range ops {
			if o.ret < len(h.Events) || o.op != "get" && r.IntN(4) == 0 {
				n, _ = n.execute(&o)
			}
		}
		_, e.Value = n.execute(&counting{op: begun.Op, old: old(begun), value: begun.Value})
	}
	return e
}

// TestTheMonitorOfCountersLeavesToCheckWhatIsTooMuch has more changes of unknown outcome than
// the monitor follows: it says nothing, and tells apart all that happens afterwards.
func TestTheMonitorOfCountersLeavesToCheckWhatIsTooMuch(t *testing.T) {
	h := &history.History{}
	h.Reset(2)
	for o := range int32(maxCounting + 1) {
		h.Add(history.Event{Kind: history.Invoke, Client: 1, Object: 1, Op: "add", Value: int64(1) << o})
	}
	m := Counter{}.Monitor()
	seen := map[uint64]bool{}
	for range 3 {
		h.Add(history.Event{Kind: history.Invoke, Client: 2, Object: 2, Op: "get"})
		h.Add(history.Event{Kind: history.Return, Client: 2, Object: 2, Op: "get", Value: -1})
		m.Reset()
		if v := follow(h, m); v.Level != OK || seen[digest(m)] {
			t.Fatalf("after %d events: %+v, hash %x", len(h.Events), v, digest(m))
		}
		seen[digest(m)] = true
	}
}

// TestTheMonitorOfCountersKnowsWhoseChangeIsSeen has two changes in progress of which one
// was seen, which must be answered so.
func TestTheMonitorOfCountersKnowsWhoseChangeIsSeen(t *testing.T) {
	seen := func(first, second history.Event) uint64 {
		h := &history.History{}
		h.Reset(3)
		h.Add(first)
		h.Add(history.Event{Kind: history.Invoke, Client: 3, Object: 3, Op: "get"})
		h.Add(history.Event{Kind: history.Return, Client: 3, Object: 3, Op: "get", Value: 1})
		h.Add(second)
		m := Counter{}.Monitor()
		if v := follow(h, m); v.Level != OK {
			t.Fatal(v)
		}
		return digest(m)
	}
	add := func(client, object int32) history.Event {
		return history.Event{Kind: history.Invoke, Client: client, Object: object, Op: "add", Value: 1}
	}
	for _, other := range []history.Event{add(2, 2), add(1, 4)} {
		if seen(add(1, 1), other) == seen(other, add(1, 1)) {
			t.Errorf("the change of o1 is taken for that of o%d", other.Object)
		}
	}
}
