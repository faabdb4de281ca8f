package checkers

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// oddWords are the words of the checkers, and some that mean something to none of them.
var oddWords = func() (list []string) {
	for _, c := range everyChecker {
		for _, w := range c.(Declaring).Needs().Words {
			list = append(list, w.Op)
		}
	}
	return append(list, "", "getW", "existsW", "childrenW", "closeSession", "deleted", "child", "StateHasSession",
		"StateExpired", "StateDisconnected", history.Connected, history.Disconnected, "odd")
}()

// oddJudges are checkers whose monitors take any history at all.
var oddJudges = []Monitored{Alarm{Limit: 2}, Atomicity{}, Length{}, Names{}, Passage{}, Settled{}, Suspicion{},
	Validity{}, Waits{}, Waits{Leases: 2}, Waits{For: AwaitedItem}, Watches{Each: 1}}

// oddEvent is an event of any kind that says anything.
func oddEvent(r *rand.Rand, zxid int64) history.Event {
	of := func(list ...string) string { return list[r.IntN(len(list))] }
	e := history.Event{Kind: history.Kind(r.IntN(int(history.Calm) + 1)), OK: r.IntN(2) == 0, Client: r.Int32N(4),
		Object: r.Int32N(6), Version: r.Int32N(3) - 1, Zxid: zxid, Value: r.Int64N(6) - 1, Session: r.Int64N(4),
		Op: oddWords[r.IntN(len(oddWords))], Data: of("", "yes", "no", "aborted", "1", "2")}
	e.Path = of("", "/", "/a", "/a/b", "/a/b-read-1", "/a/b-write-2", "/a/assign/c1/t-1", "/a/candidates/n-1", "x", "//")
	e.Err = []error{nil, nil, zk.ErrNoNode, zk.ErrConnectionClosed, context.Canceled, errors.New("odd")}[r.IntN(6)]
	e.Proposed = r.IntN(8) == 0
	return e
}

// oddHistory is a history of n of them.
func oddHistory(r *rand.Rand, n int) *history.History {
	h := &history.History{}
	h.Reset(3)
	h.Txns = true
	for i := range n {
		h.Add(oddEvent(r, int64(1+i-r.IntN(2))))
	}
	for range r.IntN(3) {
		e := oddEvent(r, 1)
		h.Tree = append(h.Tree, history.Node{Path: e.Path, Data: e.Data, Owner: e.Session, Pzxid: e.Zxid, Mzxid: e.Zxid})
	}
	h.Outcome = history.Outcome(r.IntN(2))
	return h
}

// TestOddHistoriesAreJudged has monitors judge what no run records: they neither panic nor remember after a Reset, and
// a violation that they find while a history grows is one of the whole.
func TestOddHistoriesAreJudged(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	used := map[int]Monitor{}
	for range 300 {
		h := oddHistory(r, 1+r.IntN(60))
		for k, c := range oddJudges {
			c.Check(h)
			if used[k] == nil {
				used[k] = c.Monitor()
			}
			used[k].Reset()
			if a, b := digest(used[k]), digest(c.Monitor()); a != b {
				t.Fatalf("%s remembers something after its Reset", c.Name())
			}
			again := check(h, used[k])
			if a := check(h, c.Monitor()); !reflect.DeepEqual(a, again) {
				t.Fatalf("%s says %v, and after a Reset %v, of\n%s", c.Name(), a, again, listed(h))
			}
		}
	}
}

// TestLongHistoriesAreJudgedInTime has long histories of what the checkers judge be judged in a few seconds each.
func TestLongHistoriesAreJudgedInTime(t *testing.T) {
	const n = 5000
	at := func(e history.Event, client, object int32) history.Event {
		e.Client, e.Object = client, object
		return e
	}
	for _, x := range []struct {
		checker Monitored
		event   func(i int) history.Event
	}{
		{Alarm{Limit: 2}, func(i int) history.Event {
			e := history.Event{Kind: history.Created, Path: "/l/a-write-" + digits(int32(i)), Zxid: int64(i), Session: 1}
			if i > n/2 {
				e.Kind, e.Path = history.Deleted, "/l/a-write-"+digits(int32(i-n/2))
			}
			return at(e, 1, 0)
		}},
		{Length{}, func(i int) history.Event {
			kind := []history.Kind{history.Invoke, history.Return}[i%2]
			if i/2%3 == 2 {
				return at(history.Event{Kind: kind, Op: "len", Value: int64(i/6*2 + 2)}, 1, 1)
			}
			return at(history.Event{Kind: kind, Op: "put", Value: int64(1 + i/2)}, 2, 2)
		}},
		{Names{}, func(i int) history.Event {
			kind := []history.Kind{history.Invoke, history.Return}[i%2]
			op := []string{"register", "resolve", "unregister"}[i/2%3]
			e := history.Event{Kind: kind, Op: op, Value: int64(1+i/6) * int64(one(i/2%3 < 2)), Path: "/a"}
			return at(e, 1, int32(1+i/2%3%2))
		}},
		{Settled{}, func(i int) history.Event {
			e := history.Event{Kind: history.Created, Path: "/l/" + digits(int32(i)), Zxid: int64(i), Proposed: true}
			if i == n-1 {
				e.Kind = history.Reply
			}
			return at(e, 1, 0)
		}},
		{Watches{Each: n}, func(i int) history.Event {
			return history.Event{Kind: []history.Kind{history.Call, history.Reply}[i%2], Op: callData, Path: "/l", Client: 1}
		}},
		{Waits{For: AwaitedItem}, func(i int) history.Event {
			kind := []history.Kind{history.Invoke, history.Return}[i%2]
			return at(history.Event{Kind: kind, Op: "put", Value: int64(i / 2)}, 1, 1)
		}},
		{Passage{}, func(i int) history.Event {
			return at(history.Event{Kind: history.Invoke, Op: "wait"}, int32(i), int32(i))
		}},
		{Suspicion{}, func(i int) history.Event {
			e := history.Event{Kind: history.Invoke, Op: WatchData, Path: "/l"}
			if i > n/2 {
				e.Kind = history.Reply
			}
			return at(e, 1, int32(i))
		}},
	} {
		h := &history.History{}
		h.Reset(2)
		h.Txns = true
		for i := range n {
			h.Add(x.event(i))
		}
		begin := time.Now()
		v := x.checker.Check(h)
		took := time.Since(begin)
		t.Logf("%s: %v, %v", x.checker.Name(), v, took)
		if took > 5*time.Second {
			t.Errorf("%s needs %v for %d events", x.checker.Name(), took, n)
		}
	}
}
