package ensemble

import (
	"testing"

	"zksim/checkers"
	"zksim/internal/txnlog"
	"zksim/model"
	"zksim/model/history"
)

// A timer has fired at the moments 1 to 3. Of the change at zxid 0x3 c2 hears only after the second one.
func TestTheCalmBeginsWhenNothingIsOnItsWay(t *testing.T) {
	rest := func(c int32) history.Event {
		return history.Event{Kind: history.Told, Client: c, Op: checkers.ToldRest}
	}
	run := func(moments ...moment) string {
		h := &liveHost{root: "/r", moments: moments}
		h.at = []int64{1000, 2000, 3000, 4000, 5000, 6000, 7000}
		h.history.Events = []history.Event{
			{Kind: history.Reply, Client: 2, Op: "getW", Path: "/r/a", Zxid: 2},
			{Kind: history.Calm},
			{Kind: history.Reply, Client: 1, Op: "set", Path: "/r/a", Zxid: 3},
			rest(1),
			{Kind: history.Notify, Client: 2, Op: "changed", Path: "/r/a"},
			rest(2),
			{Kind: history.Invoke, Client: 2, Op: "stop"},
		}
		log := []txnlog.Txn{
			{Zxid: 2, Session: 7, Op: model.OpCreate, Changes: []txnlog.Change{{Op: model.OpCreate, Path: "/r/a"}}},
			{Zxid: 3, Time: 2, Session: 7, Op: model.OpSetData, Changes: []txnlog.Change{{Op: model.OpSetData, Path: "/r/a"}}}}
		if err := merge(h, groupsOf(&h.history, log, h.root, map[int64]int32{7: 1})); err != nil {
			t.Fatal(err)
		}
		var got string
		for _, e := range h.history.Events {
			if e.Kind == history.Calm || e.Kind == history.Told || e.Kind == history.Invoke {
				got += e.String() + ", "
			}
		}
		return got
	}
	for _, x := range []struct {
		name    string
		moments []moment
		want    string
	}{
		{"no timer", nil, "calm, c1 told at-rest, c2 told at-rest, c2 invoke stop, "},
		{"all is still", []moment{{5, true}}, "calm, c1 told at-rest, c2 told at-rest, c2 invoke stop, "},
		{"a notification is on its way", []moment{{3, true}, {5, true}}, "calm, c2 told at-rest, c2 invoke stop, "},
		{"and nobody looks again", []moment{{3, true}}, "c2 told at-rest, c2 invoke stop, "},
		{"somebody has not waited", []moment{{1, true}, {5, false}, {6, true}}, "c1 told at-rest, calm, c2 invoke stop, "},
	} {
		if got := run(x.moments...); got != x.want {
			t.Errorf("%s: %q, expected %q", x.name, got, x.want)
		}
	}
}

// c1 loses the connection of its session, which ends then.
func TestASessionThatEndsRightAfterItsConnectionExcusesTheClient(t *testing.T) {
	const lost = 10_000_000
	for _, x := range []struct {
		name   string
		ended  int64 // after that, in microseconds
		fault  string
		called int64 // after the fault; 0: no request
		want   bool
	}{
		{"at once", 1000, "", 0, true},
		{"when the client has had time", reaction, "", 0, false},
		{"while its code stands still", reaction, "pause c1", 0, true},
		{"while its code stands still, with a request that was on its way", reaction, "pause c1", 1000, true},
		{"when its code has gone on", reaction, "pause c1", 2 * passing, false},
		{"after a server was stopped", reaction, "pause s1", 0, false},
	} {
		b := newBeliefs()
		at := int64(lost)
		hear := func(e history.Event) { b.hear(nil, &e, at) }
		hear(history.Event{Kind: history.Session, Client: 1, Op: "StateHasSession", Session: 7})
		if x.fault != "" {
			at = lost - 1_000_000
			hear(history.Event{Kind: history.Fault, Client: 1, Op: x.fault})
		}
		if x.called > 0 {
			at += x.called
			hear(history.Event{Kind: history.Call, Client: 1, Op: "sync"})
		}
		at = lost
		hear(history.Event{Kind: history.Session, Client: 1, Op: "StateDisconnected", Session: 7})
		end := &group{txn: txnlog.Txn{Time: (lost + x.ended) / 1000}, ended: 7}
		if got := len(b.commit(nil, end)) > 0; got != x.want {
			t.Errorf("%s: excused %v", x.name, got)
		}
	}
}
