package reports

import (
	"fmt"
	"slices"
	"testing"

	"zksim/model/history"
)

// tapped is a history from the wire: a multi, and a create that is asked for again because no answer came.
func tapped(wire bool, connection int32) *Failure {
	events := []history.Event{
		{Kind: history.Session, Op: "StateHasSession", Version: connection},
		{Kind: history.Call, Op: "multi", Path: "/a"},
		{Kind: history.Call, Op: "multi"},
		{Kind: history.Changed, Path: "/a", Zxid: 5},
		{Kind: history.Reply, Op: "multi", Zxid: 5},
		{Kind: history.Call, Op: "create", Path: "/b"},
		{Kind: history.Session, Op: "StateDisconnected"},
		{Kind: history.Session, Op: "StateHasSession"},
		{Kind: history.Call, Op: "create", Path: "/b"},
		{Kind: history.Created, Path: "/b", Zxid: 6},
		{Kind: history.Reply, Op: "create", Path: "/b", Zxid: 6},
	}
	for i := range events {
		e := &events[i]
		if e.Client, e.Step = 1, int32(i+1); !wire && e.Kind == history.Reply {
			e.Zxid = 0
		}
	}
	return &Failure{Trace: &history.Trace{Steps: make([]history.Step, len(events))},
		History: &history.History{Clients: 1, Events: events}}
}

func TestALostConnectionEndsTheCallsOfAHistoryFromTheWire(t *testing.T) {
	for name, x := range map[string]struct { // order-free: each by itself
		f    *Failure
		want []string
	}{
		"wire":            {tapped(true, 0), []string{"3-5 call multi", "6-7 call lost create /b", "9-11 call create /b"}},
		"two connections": {tapped(true, 1), []string{"3-5 call multi", "6-11 call create /b", "9-11 call create /b"}},
		"simulator":       {tapped(false, 0), []string{"3-5 call multi", "6-11 call create /b", "9-11 call create /b"}},
	} {
		var got []string
		for _, s := range newSpans(x.f).calls {
			got = append(got, fmt.Sprintf("%d-%d %s %s", s.from, s.to, s.class, s.text))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func TestATxnComesFromTheCallThatMadeIt(t *testing.T) {
	x := newChart(tapped(true, 0))
	asked := map[string]int{} // step of the call, by what the txn is
	for _, m := range x.moments {
		for _, c := range m.after {
			if c.kind == byRequest {
				asked[m.name] = x.moments[c.moment].step
			}
		}
	}
	if len(asked) != 2 || asked["changed /a"] != 3 || asked["created /b"] != 9 {
		t.Errorf("%v", asked)
	}
}
