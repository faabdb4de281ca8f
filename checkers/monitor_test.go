package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// disorderly makes a history of lock operations by a few clients, some of which
// go wrong in all sorts of ways.
func disorderly(r *rand.Rand) *history.History {
	h := &history.History{}
	h.Reset(3)
	h.Txns = true
	type object struct {
		op, path string
		told     bool
	}
	var objects [5]object // 0 unused; o1 and o4 are of c1
	zxid := int64(0)
	var queue []history.Event
	for range 4 + r.IntN(24) {
		o := int32(1 + r.IntN(4))
		c := (o-1)%3 + 1
		x := &objects[o]
		add := func(e history.Event) { e.Client, e.Object = c, o; h.Add(e) }
		switch k := r.IntN(10); {
		case x.op == "" && k < 6:
			x.op, x.told = []string{"lock", "trylock"}[r.IntN(2)], false
			add(history.Event{Kind: history.Invoke, Op: x.op})
		case x.op != "" && k < 2:
			zxid++
			x.path = fmt.Sprintf("/l/%d", zxid)
			e := history.Event{Kind: history.Created, Client: c, Path: x.path, Zxid: zxid, Session: int64(c)}
			h.Add(e)
			queue = append(queue, e)
		case x.op != "" && !x.told && k < 6:
			x.told = true
			add(history.Event{Kind: history.Acquired, Path: x.path, Value: zxid})
		case x.told && k < 8:
			add(history.Event{Kind: history.Released})
			add(history.Event{Kind: history.Invoke, Op: "unlock"})
			at := func(e history.Event) bool { return e.Path == x.path }
			if n := slices.IndexFunc(queue, at); n >= 0 && r.IntN(4) > 0 {
				h.Add(history.Event{Kind: history.Deleted, Client: c, Path: x.path, Session: int64(c)})
				queue = slices.Delete(queue, n, n+1)
			}
			var err error
			if r.IntN(4) == 0 {
				err = zk.ErrConnectionClosed
			}
			add(history.Event{Kind: history.Return, Op: "unlock", Err: err})
			*x = object{}
		case x.op != "" && !x.told && k < 8:
			add(history.Event{Kind: history.Return, Op: x.op, Err: zk.ErrNodeExists, OK: x.op == "trylock"})
			*x = object{}
		case k == 8 && len(queue) > 0 && r.IntN(3) == 0:
			e := queue[0]
			queue = queue[1:]
			h.Add(history.Event{Kind: history.Deleted, Path: e.Path, Session: e.Session})
		case k == 9 && r.IntN(4) == 0:
			add(history.Event{Kind: []history.Kind{history.Lost, history.Exceeded, history.Session, history.Crashed}[r.IntN(4)]})
			if r.IntN(2) == 0 {
				add(history.Event{Kind: history.Heard, Op: history.Disconnected})
			}
		case x.told && r.IntN(2) == 0:
			add(history.Event{Kind: history.Write, Value: zxid, OK: true})
		}
	}
	for o := range objects { // what is unresolved has not happened
		if x := &objects[o]; x.op != "" && !x.told {
			h.Add(history.Event{Kind: history.Return, Client: int32(o-1)%3 + 1, Object: int32(o), Op: x.op,
				Err: zk.ErrConnectionClosed})
		}
	}
	return h
}

// TestTheMonitorOfLinearizabilityAgreesWithTheSearch compares verdicts after each event of random histories.
func TestTheMonitorOfLinearizabilityAgreesWithTheSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const all = 12_000
	illegal := 0
	for range all {
		h := disorderly(r)
		m := Linearizability{}.Monitor()
		prefix := *h
		var got Verdict
		for i := 0; i < len(h.Events) && got.Level == OK; i++ {
			prefix.Events = h.Events[:i+1]
			got = m.Step(h, i)
			if want := (Linearizability{}).Check(&prefix); got.Level != want.Level {
				for _, e := range prefix.Events {
					t.Log(e, "object", e.Object)
				}
				t.Fatalf("the monitor says %v, the search %v", got, want)
			}
		}
		if got.Level != OK {
			illegal++
		}
	}
	if illegal < all/10 || illegal > all*9/10 {
		t.Errorf("%d of %d histories are illegal: too few of one sort", illegal, all)
	}
}

// digest returns the hash of what a monitor remembers; 0 for one that remembers nothing.
func digest(m Monitor) uint64 {
	if d, ok := m.(Digest); ok {
		return d.Hash()
	}
	return 0
}
