package checkers

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

var suspicionOracle = workload{name: "suspicion", checker: Suspicion{}, next: nextSuspicion, end: nothingLeft,
	naive: doubtsAreTold, most: 50}

func TestSuspicionAgreesWithWholeHistories(t *testing.T) { suspicionOracle.testAgreement(t) }

// doubtsAreTold is Suspicion said over whole histories, event by event of a watcher, looking back.
func doubtsAreTold(h *history.History) Level {
	for i, e := range h.Events {
		if e.Object == 0 || e.Kind != history.Told && e.Kind != history.Invoke || isWatch(e.Op) {
			continue
		}
		start := before(h, i, func(x *history.Event) bool {
			return x.Object == e.Object && isWatch(x.Op) || x.Kind == history.Crashed && x.Client == e.Client
		})
		if start < 0 || h.Events[start].Kind != history.Invoke {
			continue
		}
		if past := h.Events[start:i]; !truthful(past, &e) || e.Op == Stop && !restsInPeace(h, start, i) {
			return Violated
		}
	}
	return OK
}

// saidLast returns the last doubt that the object of e has told, -1 if there is none.
func saidLast(past []history.Event, e *history.Event) int {
	for k, x := range slices.Backward(past) {
		if x.Kind == history.Told && x.Op == ToldDoubt && x.Object == e.Object {
			return k
		}
	}
	return -1
}

// truthful reports whether what a watcher tells by e can be, by its past.
func truthful(past []history.Event, e *history.Event) bool {
	last := saidLast(past, e)
	if e.Kind != history.Told {
		return true
	}
	doubts := last >= 0 && past[last].OK
	read := slices.ContainsFunc(past[last+1:], func(x history.Event) bool {
		return x.Kind == history.Reply && x.Client == e.Client && (x.Err == nil || x.Err == zk.ErrNoNode)
	})
	switch {
	case e.Op == ToldDoubt && e.OK:
		return !doubts
	case e.Op == ToldDoubt:
		return doubts && read
	}
	return last < 0 || doubts || read
}

// restsInPeace reports whether the watcher that began at event start and is stopped at event stop has no doubts, and
// had some if it was told that its connection is lost.
func restsInPeace(h *history.History, start, stop int) bool {
	e, past := &h.Events[stop], h.Events[start:stop]
	rest := before(h, stop, func(x *history.Event) bool {
		return x.Kind == history.Invoke && x.Op == Rest && x.Object == e.Object
	})
	line := before(h, stop, func(x *history.Event) bool { return x.Kind == history.Session && x.Client == e.Client })
	away := line >= 0 && h.Events[line].Op != "StateHasSession"
	if rest < start || !calmAt(h.Events[:rest]) || away {
		return true
	}
	last := saidLast(past, e)
	if last >= 0 && past[last].OK {
		return false
	}
	first := slices.IndexFunc(past, func(x history.Event) bool {
		return x.Kind == history.Told && x.Op != ToldDoubt && x.Object == e.Object
	})
	// It is noticed when the code hears of it twice in a row, since what it said last.
	down := false
	for k := last + 1; k < len(past); k++ {
		if x := past[k]; x.Kind == history.Heard && x.Client == e.Client && x.Op != "" {
			if down && x.Op == history.Disconnected && first >= 0 && first < k {
				return false
			}
			down = x.Op == history.Disconnected
		}
	}
	return true
}

// nextSuspicion makes histories of watchers by o1, and o4 of the same client, and o2.
func nextSuspicion(r *rand.Rand, h *history.History) history.Event {
	object, _ := anyObject(r, h)
	if object == 0 || object == 3 {
		return history.Event{Kind: history.Calm}
	}
	e := history.Event{Object: object, Client: (object-1)%3 + 1}
	watching := slices.ContainsFunc(h.Events, func(x history.Event) bool { return x.Object == object })
	switch k := r.IntN(64); {
	case k == 0:
		return history.Event{Kind: history.Crashed, Client: e.Client}
	case k < 6 && !calmAt(h.Events):
		h.Add(history.Event{Kind: history.Calm})
		return history.Event{Kind: history.Calm}
	case k < 12:
		state := []string{"StateDisconnected", "StateHasSession", "StateHasSession"}[r.IntN(3)]
		return history.Event{Kind: history.Session, Client: e.Client, Op: state}
	case k < 26:
		op := []string{history.Disconnected, history.Disconnected, history.Disconnected, history.Connected, ""}[r.IntN(5)]
		return history.Event{Kind: history.Heard, Client: e.Client, Op: op}
	case k < 36:
		x := history.Event{Kind: history.Reply, Client: e.Client, Op: callData, Path: "/a"}
		x.Err = []error{nil, nil, nil, zk.ErrNoNode, zk.ErrConnectionClosed, zk.ErrSessionExpired}[r.IntN(6)]
		return x
	case !watching:
		e.Kind, e.Op, e.Path = history.Invoke, WatchData, "/a"
	case k < 46:
		e.Kind, e.Op, e.Path = history.Told, []string{ToldData, ToldGone}[r.IntN(2)], "/a"
	case k < 54:
		last := saidLast(h.Events, &e)
		e.Kind, e.Op, e.OK = history.Told, ToldDoubt, last < 0 || !h.Events[last].OK
		if r.IntN(16) == 0 {
			e.OK = !e.OK
		}
	case k < 58:
		e.Kind, e.Op = history.Invoke, Rest
	case k < 62:
		e.Kind, e.Op = history.Invoke, Stop
	default:
		e.Kind, e.Op = history.Return, WatchData
	}
	return e
}
