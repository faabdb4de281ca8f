package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// randomHistory is a few clients with two lock objects each that call, get
// answers, right and wrong ones, lose their locks and crash in any order.
func randomHistory(r *rand.Rand) *history.History {
	h := &history.History{}
	h.Reset(2 + r.IntN(2))
	h.Txns = true
	type object struct {
		client, id int32
		state      string
		path       string
	}
	var objects []*object
	for c := int32(1); int(c) <= h.Clients; c++ {
		for range 1 + r.IntN(2) {
			objects = append(objects, &object{c, int32(len(objects) + 1), "idle", ""})
		}
	}
	for range 4 + r.IntN(16) {
		o := objects[r.IntN(len(objects))]
		e := history.Event{Client: o.client, Object: o.id}
		switch r.IntN(12) {
		case 0:
			e = history.Event{Kind: []history.Kind{history.Exceeded, history.Crashed, history.Session}[r.IntN(3)],
				Client: o.client}
			h.Add(e)
			continue
		case 1:
			if o.path == "" {
				o.path = fmt.Sprintf("/lock/%d-%d", o.id, len(h.Events))
				h.Add(history.Event{Kind: history.Created, Client: o.client, Path: o.path, Session: 1})
			} else {
				h.Add(history.Event{Kind: history.Deleted, Client: o.client, Path: o.path, Session: 1})
				o.path = ""
			}
			continue
		}
		switch o.state {
		case "idle":
			e.Kind, e.Op, o.state = history.Invoke, "lock", "lock"
			if r.IntN(2) == 0 {
				e.Op, o.state = "trylock", "trylock"
			}
		case "lock", "trylock":
			e.Kind, e.Op, o.state = history.Return, o.state, "got"
			if e.Op == "trylock" && r.IntN(2) == 0 {
				e.Err, e.OK, o.state = zk.ErrNodeExists, true, "idle"
			}
		case "got":
			e.Kind, o.state = history.Acquired, "held"
		case "held":
			e.Kind, o.state = history.Released, "released"
			if r.IntN(4) == 0 {
				e.Kind, o.state = history.Lost, "lost"
			}
		case "lost":
			e.Kind, o.state = history.Released, "released"
		case "released":
			e.Kind, e.Op, o.state = history.Invoke, "unlock", "unlocking"
		case "unlocking":
			e.Kind, e.Op, o.state = history.Return, "unlock", "idle"
			if r.IntN(4) == 0 {
				e.Err = zk.ErrConnectionClosed
			}
		}
		h.Add(e)
	}
	return h
}

// before reports whether an operation had returned when p was called.
func (o operation) before(p operation) bool { return o.ret < p.call }

// orderExists tries all orders of ops that respect their intervals.
func orderExists[S interface{ step(O) (bool, S) }, O any](s S, ops []O, before func(p, o O) bool) bool {
	for i, o := range ops {
		if slices.ContainsFunc(ops, func(p O) bool { return before(p, o) }) {
			continue
		}
		if ok, next := s.step(o); ok && orderExists(next, slices.Delete(slices.Clone(ops), i, i+1), before) {
			return true
		}
	}
	return len(ops) == 0
}

func describe(h *history.History) string {
	var b strings.Builder
	for i, e := range h.Events {
		fmt.Fprintf(&b, "%3d o%d %s ok=%t\n", i, e.Object, e, e.OK)
	}
	return b.String()
}

func TestTheFastPathTheSearchAndBruteForceAgree(t *testing.T) {
	const histories = 20_000
	fast, legal, illegal := 0, 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for range histories {
		h := randomHistory(r)
		found := search(h) == OK
		if inOrder(h) {
			fast++
			if !found {
				t.Fatalf("the fast path accepts what the search does not:\n%s%v", describe(h), operations(h))
			}
		}
		if ops := operations(h); len(ops) <= 12 && orderExists(lockState{}, ops, operation.before) != found {
			t.Fatalf("brute force says %t:\n%s%v", !found, describe(h), ops)
		}
		v := Linearizability{}.Check(h)
		if (v.Level == OK) != found {
			t.Fatalf("%+v, but the search says %t", v, found)
		}
		if found {
			legal++
		} else {
			illegal++
			if v.Event < 0 || v.Event >= len(h.Events) || !strings.HasPrefix(v.Message, "no order of the operations explains ") {
				t.Fatalf("the answer to blame is missing: %+v\n%s", v, describe(h))
			}
		}
	}
	t.Logf("%d histories: %d legal, %d of them at once; %d illegal", histories, legal, fast, illegal)
	if illegal < histories/20 || legal-fast < histories/1000 || fast < histories/20 {
		t.Error("one of the kinds is too rare to show anything")
	}
}

func TestAnAttemptThatHasNoEndMayHaveGotTheLock(t *testing.T) {
	const begun = "invoke c2 o2 lock\ninvoke c1 o1 trylock\n"
	const message = "no order of the operations explains the answer of c1's trylock"
	judge(t, Linearizability{}, []judgement{
		{name: "it goes on", text: begun + "return c1 o1 trylock ok: locked"},
		{name: "its client crashes", text: begun + "crashed c2\nreturn c1 o1 trylock ok: locked"},
		{name: "it succeeds, and its client crashes before it believes so",
			text: begun + "return c2 o2 lock\nreturn c1 o1 trylock ok: locked\ncrashed c2"},
		{name: "it succeeds after the other was refused, and the run is stopped",
			text: begun + "return c1 o1 trylock ok: locked\nreturn c2 o2 lock"},
		{name: "it fails, and has not got it", event: 3,
			message: "no order of the operations explains the answer of c2's lock",
			text:    begun + "return c1 o1 trylock ok: locked\nreturn c2 o2 lock: canceled"},
		{name: "it keeps the lock from all others, but who gets it", event: 4, message: message, text: begun + `
			acquired c1 o1 /l/a
			invoke c1 o1 trylock
			return c1 o1 trylock ok: locked`},
	})
}
