package checkers

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// crowd is a history of 20 clients, each of which has had a znode in the queue of a lock. Those of all
// but the clients in stay are gone when c20 asks for the lock and is refused.
func crowd(stay ...int32) *history.History {
	const clients = 20
	h := &history.History{}
	h.Reset(clients)
	h.Txns = true
	path := func(c int32) string { return "/lock/" + digits(c) }
	for c := int32(1); c <= clients; c++ {
		h.Add(history.Event{Kind: history.Created, Client: c, Path: path(c), Session: int64(c)})
	}
	for c := int32(1); c <= clients; c++ {
		gone := true
		for _, x := range stay {
			gone = gone && c != x
		}
		if gone {
			h.Add(history.Event{Kind: history.Deleted, Client: c, Path: path(c), Session: int64(c)})
		}
	}
	h.Add(history.Event{Kind: history.Invoke, Client: clients, Object: clients, Op: "trylock"})
	h.Add(history.Event{Kind: history.Return, Client: clients, Object: clients, Op: "trylock",
		Err: zk.ErrNodeExists, OK: true})
	return h
}

func TestAnOwnZnodeDoesNotExcuseARefusalInACrowd(t *testing.T) {
	for name, x := range map[string]struct {
		stay []int32
		want Level
	}{
		"nobody":                         {nil, Violated},
		"the own one":                    {[]int32{20}, Violated},
		"that of one with a low number":  {[]int32{3}, OK},
		"that of one with a high number": {[]int32{17}, OK},
		"the own one and another":        {[]int32{19, 20}, OK},
		"two of others":                  {[]int32{16, 18}, OK},
	} {
		h := crowd(x.stay...)
		if v := (Linearizability{}).Check(h); v.Level != x.want {
			t.Errorf("%s: %+v", name, v)
		}
		if v := follow(h, Linearizability{}.Monitor()); v.Level != x.want {
			t.Errorf("%s: the monitor says %+v", name, v)
		}
	}
}

// As many znodes as do not fit into 8 bits.
func TestARefusalIsExcusedByAnyNumberOfZnodes(t *testing.T) {
	h := &history.History{}
	h.Reset(2)
	h.Txns = true
	for i := range int32(256) {
		h.Add(history.Event{Kind: history.Created, Client: 1, Path: "/lock/" + digits(i), Session: 1})
	}
	h.Add(history.Event{Kind: history.Invoke, Client: 2, Object: 2, Op: "trylock"})
	h.Add(history.Event{Kind: history.Return, Client: 2, Object: 2, Op: "trylock", Err: zk.ErrNodeExists, OK: true})
	if v := (Linearizability{}).Check(h); v.Level != OK {
		t.Errorf("%+v", v)
	}
	if v := follow(h, Linearizability{}.Monitor()); v.Level != OK {
		t.Errorf("the monitor says %+v", v)
	}
}

// A monitor that cannot follow all operations says so, and no more than that.
func TestAMonitorThatCannotFollowSaysSoFromThenOn(t *testing.T) {
	refused := func(h *history.History, c int32) {
		h.Add(history.Event{Kind: history.Invoke, Client: c, Object: c, Op: "trylock"})
		h.Add(history.Event{Kind: history.Return, Client: c, Object: c, Op: "trylock", Err: zk.ErrNodeExists, OK: true})
	}
	for name, x := range map[string]struct {
		checker Monitored
		op      string
		after   func(h *history.History, c int32)
	}{
		"lock": {Linearizability{}, "lock", refused},
		"barrier": {Barrier{}, "hold", func(h *history.History, c int32) {
			h.Add(history.Event{Kind: history.Return, Client: c, Object: c, Op: "hold"})
			h.Add(history.Event{Kind: history.Invoke, Client: 1, Object: c + 1, Op: "wait"})
			h.Add(history.Event{Kind: history.Return, Client: 1, Object: c + 1, Op: "wait"})
		}},
	} {
		h := &history.History{}
		h.Reset(maxOps + 1)
		h.Txns = true
		for c := int32(1); c <= maxOps+1; c++ {
			h.Add(history.Event{Kind: history.Invoke, Client: c, Object: c, Op: x.op})
		}
		x.after(h, maxOps+1)
		m := x.checker.Monitor()
		for i := range h.Events {
			v := m.Step(h, i)
			want := OK
			if i >= maxOps {
				want = Unknown
			}
			if v.Level != want || want == Unknown && !strings.HasPrefix(v.Message, "too many ") {
				t.Fatalf("%s, event %d: %+v", name, i, v)
			}
		}
		if m.Reset(); m.Step(h, 0).Level != OK {
			t.Errorf("%s: not after Reset", name)
		}
	}
}

func TestAMonitorSaysThatTooManyOrdersArePossible(t *testing.T) {
	const failed = "invoke c1 o1 lock\nreturn c1 o1 lock\nacquired c1 o1\nreleased c1 o1\ninvoke c1 o1 unlock\n" +
		"return c1 o1 unlock: lost\n"
	for n, level := range map[int]Level{8: OK, 40: Unknown} {
		if v := follow(script(t, strings.Repeat(failed, n)), Linearizability{}.Monitor()); v.Level != level {
			t.Errorf("%v after %d times that nobody knows whether the lock was given up, expected %v", v, n, level)
		}
	}
}
