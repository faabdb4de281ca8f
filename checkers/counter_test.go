package checkers

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"zksim/model/history"
)

func TestLinearizabilityOfCounters(t *testing.T) {
	judge(t, Counter{}, []judgement{
		{name: "one after the other", text: `
			invoke c1 o1 get
			return c1 o1 get v0
			invoke c1 o1 add v5
			return c1 o1 add v5
			invoke c2 o2 get
			return c2 o2 get v5`},
		{name: "at once, in either order", text: `
			invoke c1 o1 add v5
			invoke c2 o2 add v1
			return c1 o1 add v6
			return c2 o2 add v1`},
		{name: "counted twice", text: `
			invoke c1 o1 add v5
			return c1 o1 add v10`, event: 1, message: "no order of the operations explains the answer 10 of c1's add of 5"},
		{name: "an old number", text: `
			invoke c1 o1 add v5
			return c1 o1 add v5
			invoke c2 o2 get
			return c2 o2 get v0
			invoke c2 o2 get
			return c2 o2 get v5`, event: 3, message: "no order of the operations explains the answer 0 of c2's get"},
		{name: "an unknown outcome: it was added", text: `
			invoke c1 o1 add v5
			return c1 o1 add: unknown
			invoke c2 o2 get
			return c2 o2 get v5`},
		{name: "an unknown outcome: it was not, or is later", text: `
			invoke c1 o1 add v5
			return c1 o1 add: unknown
			invoke c2 o2 get
			return c2 o2 get v0
			invoke c2 o2 get
			return c2 o2 get v5`},
		{name: "an unknown outcome does not come and go", text: `
			invoke c1 o1 add v5
			return c1 o1 add: unknown
			invoke c2 o2 get
			return c2 o2 get v5
			invoke c2 o2 get
			return c2 o2 get v0`, event: 5, message: "no order of the operations explains the answer 0 of c2's get"},
		{name: "an operation without an end was perhaps executed", text: `
			invoke c1 o1 add v5
			crashed c1
			invoke c2 o2 add v1
			return c2 o2 add v6`},
		{name: "a legal error says that nothing was added", text: `
			invoke c1 o1 add v5
			return c1 o1 add ok: canceled
			invoke c2 o2 get
			return c2 o2 get v5`, event: 3, message: "no order of the operations explains the answer 5 of c2's get"},
		{name: "an answer without a question", text: `return c1 o1 get v7`},
	})
}

// cas makes the events of a compare-and-set.
func cas(object int32, old, next, answer int64) []history.Event {
	return []history.Event{
		{Kind: history.Invoke, Client: object, Object: object, Op: "cas", Path: strconv.FormatInt(old, 10), Value: next},
		{Kind: history.Return, Client: object, Object: object, Op: "cas", Value: answer}}
}

func TestComparingAndSetting(t *testing.T) {
	for _, x := range []struct {
		answers []int64 // to 0 -> -4, -4 -> 9, 0 -> 1
		blamed  int
		message string
	}{
		{answers: []int64{1, 1, 0}},
		{answers: []int64{0, 0, 1}, blamed: 1, message: "no order of the operations explains the answer 0 of c1's cas from " +
			"0 to -4"},
		{answers: []int64{1, 0, 0}, blamed: 3, message: "no order of the operations explains the answer 0 of c1's cas from " +
			"-4 to 9"},
		{answers: []int64{1, 1, 1}, blamed: 5, message: "no order of the operations explains the answer 1 of c1's cas from " +
			"0 to 1"},
	} {
		h := &history.History{}
		for i, c := range [][2]int64{{0, -4}, {-4, 9}, {0, 1}} {
			h.Events = append(h.Events, cas(1, c[0], c[1], x.answers[i])...)
		}
		v := Counter{}.Check(h)
		if v.Message != x.message || v.Message != "" && v.Event != x.blamed {
			t.Errorf("%v: %+v", x.answers, v)
		}
	}
}

// randomCounts is a few clients that call at once and get answers, right and
// wrong ones.
func randomCounts(r *rand.Rand) *history.History {
	h := &history.History{}
	open, n := map[int32]*history.Event{}, int64(0)
	for range 4 + r.IntN(10) {
		o := int32(1 + r.IntN(3))
		if e := open[o]; e != nil {
			delete(open, o)
			switch r.IntN(6) {
			case 0:
				h.Add(history.Event{Kind: history.Return, Client: o, Object: o, Op: e.Op, Err: errors.New("lost"),
					OK: r.IntN(2) == 0})
			case 1:
				h.Add(history.Event{Kind: history.Return, Client: o, Object: o, Op: e.Op, Value: int64(r.IntN(4))})
			default:
				_, next := count(n).step(counting{op: e.Op, old: old(e), value: e.Value})
				answer := int64(next)
				if e.Op == "cas" {
					answer = 0
					if n == old(e) {
						answer = 1
					}
				}
				n = int64(next)
				h.Add(history.Event{Kind: history.Return, Client: o, Object: o, Op: e.Op, Value: answer})
			}
			continue
		}
		e := history.Event{Kind: history.Invoke, Client: o, Object: o, Op: []string{"get", "add", "cas"}[r.IntN(3)],
			Value: int64(r.IntN(3))}
		if e.Op == "cas" {
			e.Path = strconv.Itoa(r.IntN(3))
		}
		open[o] = &e
		h.Add(e)
	}
	return h
}

// before reports whether an operation had returned when p was called.
func (o counting) before(p counting) bool { return o.ret < p.call }

func old(e *history.Event) int64 {
	n, _ := strconv.ParseInt(e.Path, 10, 64)
	return n
}

func TestTheCounterAndBruteForceAgree(t *testing.T) {
	const histories = 20_000
	legal, searched, illegal := 0, 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for range histories {
		h := randomCounts(r)
		ops := countings(h.Events)
		v := Counter{}.Check(h)
		if found := orderExists(count(0), ops, counting.before); found != (v.Level == OK) {
			t.Fatalf("%+v, but brute force says %t:\n%s%v", v, found, describe(h), ops)
		}
		switch {
		case v.Level == OK && !possible(ops, 0, count.step):
			searched++
		case v.Level == OK:
			legal++
		case v.Event < 0:
			t.Fatalf("the answer to blame is missing: %+v\n%s", v, describe(h))
		default:
			illegal++
		}
	}
	t.Logf("%d histories: %d legal at once, %d after a search; %d illegal", histories, legal, searched, illegal)
	if min(illegal, legal) < histories/20 || searched < histories/100 {
		t.Error("one of the kinds is too rare to show anything")
	}
}
