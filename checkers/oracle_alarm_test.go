package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

const alarmLimit = 10

var alarmOracle = workload{name: "alarm", checker: Alarm{Limit: alarmLimit}, next: nextAlarm, end: nothingLeft,
	naive: alarmsAreDue, most: 50}

func TestAlarmAgreesWithWholeHistories(t *testing.T) { alarmOracle.testAgreement(t) }

// alarmsAreDue is Alarm said over whole histories.
func alarmsAreDue(h *history.History) Level {
	for i, e := range h.Events {
		switch {
		case e.Kind != history.Told:
		case e.Op == "overdue" && !trueAlarm(h.Events[:i], &e), e.Op == "until" && !raisedOrExcused(h.Events[:i], &e):
			return Violated
		}
	}
	return OK
}

// timeAt returns what was told last of the time.
func timeAt(events []history.Event) int64 {
	for _, e := range slices.Backward(events) {
		if e.Kind == history.Told && e.Op != "overdue" {
			return e.Value
		}
	}
	return 0
}

// contendersAt returns the Created of the ephemeral znodes that there are after some events.
func contendersAt(events []history.Event) (list []history.Event) {
	for _, e := range events {
		switch {
		case e.Kind == history.Created && e.Session != 0:
			list = append(list, e)
		case e.Kind == history.Deleted:
			list = slices.DeleteFunc(list, at(e.Path))
		}
	}
	return list
}

// holdsAt reports whether a znode holds the lock after some events.
func holdsAt(events []history.Event, path string) bool {
	list := contendersAt(events)
	own := slices.IndexFunc(list, at(path))
	if own < 0 {
		return false
	}
	x := list[own]
	for k, y := range list {
		twin := y.Client == x.Client && y.Zxid == x.Zxid && k != own
		if twin && ofReader(path) && !ofReader(y.Path) && !holdsAt(events, y.Path) {
			return false // the read that a writer has made for itself
		}
		if k < own && !twin && parent(y.Path) == parent(path) && !(ofReader(y.Path) && ofReader(path)) {
			return false
		}
	}
	return true
}

// trueAlarm reports whether a znode can have held the lock for as long as e says.
func trueAlarm(past []history.Event, e *history.Event) bool {
	if !slices.ContainsFunc(past, func(x history.Event) bool { return x.Kind == history.Created && x.Path == e.Path }) {
		return true // of which nothing is known
	}
	for k := range past {
		whole := k+1 == len(past) || !changesOf(&past[k]) || !changesOf(&past[k+1]) || past[k].Zxid != past[k+1].Zxid
		if whole && holdsAt(past[:k+1], e.Path) {
			return e.Value <= timeAt(past)-timeAt(past[:k+1])
		}
	}
	return false
}

// raisedOrExcused reports whether an alarm was raised, or need not be, for the holder that gives the lock up with e.
func raisedOrExcused(past []history.Event, e *history.Event) bool {
	i := lastWhere(past, func(x *history.Event) bool {
		return x.Kind == history.Told && x.Path == e.Path && (x.Op == "since" || x.Op == "until")
	})
	list := contendersAt(past)
	own := slices.IndexFunc(list, at(e.Path))
	if i < 0 || past[i].Op != "since" || own < 0 || !calmAt(past[:i]) {
		return true
	}
	if created := lastWhere(past, func(x *history.Event) bool {
		return x.Kind == history.Created && x.Path == e.Path
	}); created > i {
		return true
	}
	if had := e.Value - past[i].Value; had <= 2*alarmLimit || had > 4*alarmLimit {
		return true
	}
	for _, x := range past {
		for _, y := range past {
			twin := y.Kind == history.Created && y.Path == x.Path && y.Client == list[own].Client && y.Zxid == list[own].Zxid
			if x.Kind == history.Told && x.Op == "overdue" && twin {
				return true
			}
		}
	}
	return !watchedSince(past, i)
}

// lastWhere returns the last event for which f holds, -1 if there is none.
func lastWhere(events []history.Event, f func(e *history.Event) bool) int {
	return before(&history.History{Events: events}, len(events), f)
}

// watchedSince reports whether a monitor has run since event i, none has ended, and those of all had a connection.
func watchedSince(past []history.Event, i int) bool {
	running := func(events []history.Event, k int) bool {
		return events[k].Kind == history.Invoke && events[k].Op == "monitor" && stillAt(events, k)
	}
	for n := i; n <= len(past); n++ {
		for k, x := range past[:n] {
			line := lastWhere(past[:n], func(y *history.Event) bool { return y.Kind == history.Session && y.Client == x.Client })
			if running(past[:n], k) && line >= 0 && past[line].Op != "StateHasSession" {
				return false
			}
		}
	}
	some := false
	for k := range past {
		if k < i && running(past[:i], k) || k >= i && past[k].Kind == history.Invoke && past[k].Op == "monitor" {
			if !running(past, k) {
				return false
			}
			some = some || k < i
		}
	}
	return some
}

// nextAlarm makes histories of znodes that queue; o1 and o2 monitor, c3 has two objects in the queue with them.
func nextAlarm(r *rand.Rand, h *history.History) history.Event {
	if len(h.Events) == 0 && r.IntN(4) > 0 {
		h.Add(history.Event{Kind: history.Calm})
		h.Add(history.Event{Kind: history.Invoke, Client: 1, Object: 1, Op: "monitor"})
	}
	c := 1 + r.Int32N(3)
	if crashedIn(h.Events, c) {
		return history.Event{Kind: history.Calm}
	}
	list, now := contendersAt(h.Events), timeAt(h.Events)+r.Int64N(14)
	of, ok := pick(r, list)
	if r.IntN(12) == 0 {
		of, ok = pick(r, slices.DeleteFunc(slices.Clone(h.Events), func(e history.Event) bool {
			return e.Kind != history.Created
		}))
	}
	ok = ok && !crashedIn(h.Events, of.Client)
	switch k := r.IntN(32); {
	case k == 0 && r.IntN(2) == 0:
		return history.Event{Kind: history.Crashed, Client: c}
	case k == 0 && !calmAt(h.Events):
		h.Add(history.Event{Kind: history.Calm})
	case k == 1:
		state := []string{"StateDisconnected", "StateHasSession"}[r.IntN(2)]
		return history.Event{Kind: history.Session, Client: c, Op: state}
	case k < 4 && c < 3:
		e := history.Event{Kind: history.Invoke, Client: c, Object: c, Op: "monitor"}
		if progress(h, c) != nil && r.IntN(3) == 0 {
			e.Kind = history.Return
		} else if progress(h, c) != nil {
			return history.Event{Kind: history.Calm}
		}
		return e
	case k < 9 && len(list) < 4:
		return enqueue(r, h, c)
	case !ok:
	case k < 12 && slices.ContainsFunc(list, at(of.Path)):
		return history.Event{Kind: history.Deleted, Client: of.Client, Path: of.Path, Session: of.Session,
			Zxid: int64(len(h.Events) + 1)}
	case k < 19:
		return history.Event{Kind: history.Told, Client: of.Client, Op: "since", Path: of.Path, Value: now}
	case k < 26:
		return history.Event{Kind: history.Told, Client: of.Client, Op: "until", Path: of.Path, Value: now}
	case k < 29:
		return history.Event{Kind: history.Told, Client: c, Op: "clock", Value: now}
	default:
		return history.Event{Kind: history.Told, Client: c, Op: "overdue", Path: of.Path, Value: r.Int64N(12)}
	}
	return history.Event{Kind: history.Calm}
}

// enqueue adds a znode of a reader or a writer to the queue, or both in one txn.
func enqueue(r *rand.Rand, h *history.History, c int32) history.Event {
	n := int64(len(h.Events) + 1)
	folder := []string{"/l", "/l", "/l", "/m"}[r.IntN(4)]
	e := history.Event{Kind: history.Created, Client: c, Zxid: n, Session: int64(10 + c)}
	e.Path = fmt.Sprintf("%s/%s-%d", folder, []string{"a-read", "a-read", "a-write"}[r.IntN(3)], n)
	if r.IntN(5) == 0 {
		read := e
		read.Path = fmt.Sprintf("%s/a-read-%d", folder, n)
		h.Add(read)
		e.Path = fmt.Sprintf("%s/a-write-%d", folder, n+1)
	}
	return e
}
