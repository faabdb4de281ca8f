package checkers

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

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

// oddJudges are all whose monitors take any history at all.
var oddJudges = func() (list []Monitored) {
	for _, c := range slices.Concat(everyChecker, []Checker{Watches{Each: 1}, Alarm{Limit: 2}}) {
		_, asks := c.(FinallyOf) // a function that it has not
		if m, ok := c.(Monitored); ok && !asks {
			list = append(list, m)
		}
	}
	return list
}()

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
	for range 2000 {
		h := oddHistory(r, 1+r.IntN(60))
		for k, c := range oddJudges {
			c.Check(h)
			if used[k] == nil {
				used[k] = c.Monitor()
			}
			used[k].Reset()
			if x := unlike(reflect.ValueOf(used[k]), reflect.ValueOf(c.Monitor())); x != "" {
				t.Errorf("%s remembers %s after its Reset", c.Name(), x)
			}
			again := follow(h, used[k])
			if a := follow(h, c.Monitor()); !reflect.DeepEqual(a, again) {
				t.Errorf("%s says %v, and after a Reset %v, of\n%s", c.Name(), a, again, listed(h))
			}
		}
	}
}

// TestOddHistoriesHarmNobody has all that reads whole histories read odd ones, of every outcome, and an empty one.
func TestOddHistoriesHarmNobody(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var all []Checker
	for _, c := range everyChecker {
		switch c.(type) {
		case Finally, FinallyOf: // which ask a function that they have not
		default:
			all = append(all, c)
		}
	}
	for n := range 500 {
		h := oddHistory(r, n%40)
		h.Outcome = history.Outcome(r.IntN(int(history.Stopped) + 1))
		h.Waiting = []history.Waiting{{Client: 1 + r.Int32N(3), Paths: []string{"/a", "/"}}}
		Worst(h, all)
		Chain(h)
		for i := range h.Events {
			Wasted(h, i)
		}
		for _, c := range all {
			VerdictOf(c, h)
			for _, x := range c.(Declaring).Needs().Seen {
				x.In(h)
			}
			empty := &history.History{}
			if empty.Reset(n % 4); c.Check(empty).Level != OK {
				t.Errorf("%s: %v of nothing", c.Name(), c.Check(empty))
			}
		}
	}
}

// unlike returns where two values differ, "" if they do not. Lists and maps that are empty do not, be they nil, nor do
// functions.
func unlike(a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Func:
	case reflect.Pointer, reflect.Interface:
		if !a.IsNil() && !b.IsNil() {
			return unlike(a.Elem(), b.Elem())
		}
		if a.IsNil() != b.IsNil() {
			return a.Type().String()
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if x := unlike(a.Field(i), b.Field(i)); x != "" {
				return a.Type().Name() + "." + a.Type().Field(i).Name + " " + x
			}
		}
	case reflect.Slice, reflect.Map:
		if a.Len() != b.Len() || a.Len() > 0 && a.Kind() == reflect.Map {
			return a.Type().String()
		}
		for i := range a.Len() {
			if x := unlike(a.Index(i), b.Index(i)); x != "" {
				return x
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if x := unlike(a.Index(i), b.Index(i)); x != "" {
				return x
			}
		}
	default:
		if !a.Equal(b) {
			return a.String()
		}
	}
	return ""
}
