package checkers

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/internal/perturb"
	"zksim/model/history"
)

func TestWhatFinallyDoesNotHeedDecidesNothing(t *testing.T) {
	h := &history.History{Outcome: history.Quiet, Events: []history.Event{
		{Kind: history.Invoke, Op: "lock"}, {Kind: history.Call, Op: "create"}, {Kind: history.Return, Op: "lock"}}}
	heard := func(h *history.History) (ops []string) {
		for _, e := range h.Events {
			ops = append(ops, e.Op)
		}
		return ops
	}
	judge := func(wrong func(ops []string) bool) Finally {
		return Finally{Judge: func(h *history.History) error {
			if ops := heard(h); wrong(ops) {
				return errors.New(ops[len(ops)-1] + " comes last of " + string(rune('0'+len(ops))))
			}
			return nil
		}}
	}
	calls := judge(func(ops []string) bool { return slices.Contains(ops, "create") })
	if v := calls.Check(h); v.Level != Violated {
		t.Errorf("%+v, with all events", v)
	}
	if v := (FinallyOf{calls, []string{"lock"}}).Check(h); v.Level != OK {
		t.Errorf("%+v, for the sake of an event that is not heeded", v)
	}
	locks := FinallyOf{judge(func(ops []string) bool { return len(ops) > 1 }), []string{"lock"}}
	if v := locks.Check(h); v.Level != Violated || v.Message != "lock comes last of 3" {
		t.Errorf("%+v, not in the words for all events", v)
	}
	after := func(events ...history.Event) hash.Hash {
		m := locks.Monitor().(*heeding)
		for i := range events {
			m.Step(&history.History{Events: events}, i)
		}
		return m.Line
	}
	one, other, two := h.Events[0], h.Events[1], h.Events[2]
	if v := (FinallyOf{calls, Heeds{"call"}}).Check(h); v.Level != Violated {
		t.Errorf("%+v, where the kind of the event is heeded", v)
	}
	if after(one, two) != after(one, other, two) || after(one, two) == after(two, one) || after() != after(other) {
		t.Error("the monitor remembers another order than that of what is heeded")
	}
}

// TestFinallyIsNotToldWhichObjectWasRegisteredFirst has the same runs of two clients, of which either came first.
func TestFinallyIsNotToldWhichObjectWasRegisteredFirst(t *testing.T) {
	f := FinallyOf{Finally{Judge: func(h *history.History) error {
		if a, b := h.Events[0], h.Events[1]; a.Object > b.Object || a.Object == b.Object || a.Object == 0 {
			return errors.New("the later one of two objects comes first")
		}
		return nil
	}}, Heeds{"told"}}
	for _, objects := range [][]int32{{1, 2}, {2, 1}, {3, 3}} {
		h := &history.History{Outcome: history.Quiet, Events: []history.Event{
			{Kind: history.Told, Client: 1, Object: objects[0]}, {Kind: history.Told, Client: 2, Object: objects[1]}}}
		if v := f.Check(h); (v.Level == Violated) != (objects[0] == objects[1]) {
			t.Errorf("objects %d: %+v", objects, v)
		}
	}
}

func TestNothingThatAnEventSaysIsLeftOut(t *testing.T) {
	e := &history.Event{Err: errors.New("lost")}
	was, fields := Said(0, e), 0
	if Said(0, &history.Event{Err: zk.ErrNoNode}) == Said(0, &history.Event{Err: errors.New(zk.ErrNoNode.Error())}) {
		t.Error("an error is taken for another one with the same text")
	}
	perturb.Each(e, func(t reflect.Type) bool { return t == reflect.TypeFor[history.Event]() },
		func(name string, change func() func()) {
			fields++
			restore := change()
			if same := Said(0, e) == was; same != (name == "history.Event.Step") {
				t.Errorf("%s: left out is %t", name, same)
			}
			restore()
		})
	if fields != reflect.TypeFor[history.Event]().NumField() {
		t.Errorf("%d fields were changed", fields)
	}
}
