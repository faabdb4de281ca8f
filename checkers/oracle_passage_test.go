package checkers

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

var passageOracle = workload{name: "passage", checker: Passage{}, next: nextPassage, end: nothingLeft,
	naive: waitedForWhatWasOpen, most: 60}

func TestPassageAgreesWithWholeHistories(t *testing.T) { passageOracle.testAgreement(t) }

// waitedForWhatWasOpen is Passage said over whole histories.
func waitedForWhatWasOpen(h *history.History) Level {
	for i, e := range h.Events {
		if e.Kind != history.Return || e.Op != "wait" || e.Err == nil {
			continue
		}
		begin := invoked(h, i)
		from := begin // or when the session of the client changed state last
		impatient := -1
		for k := begin; k < i; k++ {
			x := &h.Events[k]
			if x.Client == e.Client && x.Kind == history.Session {
				from, impatient = k, -1
			}
			if x.Kind == history.Told && x.Op == "impatient" && x.Object == e.Object {
				impatient = k
			}
		}
		if impatient < 0 || !calmAt(h.Events[:impatient]) {
			continue
		}
		look := looksFirst(h.Events, from, impatient, e.Client, from > begin)
		if look >= 0 && openedBetween(h.Events[look:impatient]) {
			return Violated
		}
	}
	return OK
}

func calmAt(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Calm })
}

// looksFirst returns where a client has left its first watch between two events, -1 if it has not; with later, that of
// its first request after the former does not count.
func looksFirst(events []history.Event, from, to int, client int32, later bool) int {
	calls, asked := 0, false
	for k := from; k < to; k++ {
		switch x := &events[k]; {
		case x.Client != client:
		case x.Kind == history.Call:
			alone := busyAt(events[:k], client) == 1
			asked = asked || leavesWatch(x.Op) && alone && (calls > 0 || !later)
			calls++
		case x.Kind == history.Reply && leavesWatch(x.Op) && asked:
			if x.Err == nil || x.Op == callExists && x.Err == zk.ErrNoNode {
				return k
			}
		}
	}
	return -1
}

// busyAt returns how many operations of a client are in progress after some events.
func busyAt(events []history.Event, client int32) (n int) {
	for i, e := range events {
		n += one(e.Client == client && e.Kind == history.Invoke && stillAt(events, i))
	}
	return n
}

// openedBetween reports whether a release has begun and ended without an error within some events.
func openedBetween(events []history.Event) bool {
	for i, e := range events {
		if e.Kind != history.Invoke || e.Op != "release" {
			continue
		}
		k := slices.IndexFunc(events[i:], func(x history.Event) bool {
			return x.Kind == history.Return && x.Object == e.Object || x.Kind == history.Crashed && x.Client == e.Client
		})
		if k >= 0 && events[i+k].Kind == history.Return && events[i+k].Err == nil {
			return true
		}
	}
	return false
}

// nextPassage makes histories of a barrier: c1 and its o4 wait, more often one after the other, the others hold and
// release.
func nextPassage(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	if len(h.Events) == 0 && r.IntN(8) > 0 {
		h.Add(history.Event{Kind: history.Calm})
	}
	if object == 0 {
		return history.Event{Kind: history.Calm}
	}
	e := history.Event{Object: object, Client: (object-1)%3 + 1}
	ops := []string{"hold", "release", "release", "release"}
	if e.Client == 1 {
		ops = []string{"wait"}
	}
	switch k := r.IntN(32); {
	case k == 0 && r.IntN(4) == 0:
		return history.Event{Kind: history.Crashed, Client: e.Client}
	case k == 0:
		return history.Event{Kind: history.Session, Client: e.Client, Op: "StateDisconnected"}
	case k == 1 && !calmAt(h.Events):
		h.Add(history.Event{Kind: history.Calm})
		return history.Event{Kind: history.Calm}
	case begun == nil && (e.Client > 1 || progress(h, 5-object) == nil || r.IntN(3) == 0):
		e.Kind, e.Op = history.Invoke, ops[r.IntN(len(ops))]
	case begun == nil:
		return history.Event{Kind: history.Calm}
	case e.Client == 1 && k < 24:
		return waitsOn(r, h, e)
	default:
		e.Kind, e.Op = history.Return, begun.Op
		if r.IntN(8) > 0 && e.Op == "wait" || r.IntN(8) == 0 {
			e.Err, e.OK = context.Canceled, true
		}
	}
	return e
}

// waitsOn has an object that waits make a request, hear of its answer or become impatient.
func waitsOn(r *rand.Rand, h *history.History, e history.Event) history.Event {
	calls, looks := 0, 0
	for _, x := range h.Events {
		if x.Client == e.Client {
			calls += one(x.Kind == history.Call) - one(x.Kind == history.Reply)
			looks += one(x.Kind == history.Reply && leavesWatch(x.Op) && x.Err == nil)
		}
	}
	switch {
	case calls > 0:
		return answered(r, h, e.Client)
	case looks == 0 || r.IntN(4) == 0:
		return history.Event{Kind: history.Call, Client: e.Client, Op: []string{"sync", callData, callExists}[r.IntN(3)]}
	case openedBetween(h.Events) || r.IntN(4) == 0:
		e.Kind, e.Op = history.Told, "impatient"
		return e
	}
	return history.Event{Kind: history.Calm}
}

// answered answers the call of a client.
func answered(r *rand.Rand, h *history.History, client int32) history.Event {
	i := before(h, len(h.Events), func(x *history.Event) bool { return x.Client == client && x.Kind == history.Call })
	e := h.Events[i]
	e.Kind = history.Reply
	if k := r.IntN(8); k < 3 {
		e.Err = []error{zk.ErrNoNode, zk.ErrNoNode, zk.ErrConnectionClosed}[k]
	}
	return e
}
