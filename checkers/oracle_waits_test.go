package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"zksim/model/history"
)

// waitsFamilies are the sorts of Waits, and their properties said over whole histories.
var waitsFamilies = []workload{
	{name: "waits", world: holders, checker: Waits{}, next: nextWait("lock", "rlock", "trylock"), end: nothingLeft,
		naive: func(h *history.History) Level { return waitsForWhatIsFree(h, 1) }},
	{name: "waits for a leader", world: holders, checker: Waits{}, end: nothingLeft,
		next:  nextWait("campaign", "leader", "leader"),
		naive: func(h *history.History) Level { return waitsForWhatIsFree(h, 1) }},
	{name: "waits for leases", world: holders, checker: Waits{Leases: 2}, end: nothingLeft,
		next:  nextWait("acquire", "tryacquire"),
		naive: func(h *history.History) Level { return waitsForWhatIsFree(h, 2) }},
	{name: "waits for items", checker: Waits{For: AwaitedItem}, next: nextAwaited, end: nothingLeft,
		naive: waitsForAnItem},
}

func nothingLeft(*rand.Rand, *history.History) {}

// stillAt reports whether the operation that began at event i goes on after all of events.
func stillAt(events []history.Event, i int) bool {
	return !slices.ContainsFunc(events[i+1:], func(e history.Event) bool {
		return e.Kind == history.Return && e.Object == events[i].Object ||
			e.Kind == history.Crashed && e.Client == events[i].Client
	})
}

// believes reports whether what object got at event i it believes to have still.
func believes(events []history.Event, i int) bool {
	return events[i].Kind == history.Acquired && !slices.ContainsFunc(events[i+1:], func(e history.Event) bool {
		end := e.Kind == history.Lost || e.Kind == history.Released || e.Kind == history.Acquired
		return end && e.Object == events[i].Object || e.Kind == history.Crashed && e.Client == events[i].Client
	})
}

// waitsForWhatIsFree looks, at each moment of rest, at who waits and who has what is waited for.
func waitsForWhatIsFree(h *history.History, leases int) Level {
	for at, e := range h.Events {
		if e.Kind != history.Told || e.Op != ToldRest {
			continue
		}
		past := h.Events[:at]
		have, leads, writers, queued := 0, false, 0, false
		for i, x := range past {
			if believes(past, i) {
				have++
				if x.Op != "read" {
					writers++
				}
				for _, y := range past[i:] {
					leads = leads || y.Kind == history.Return && y.Op == "acknowledge" && y.Err == nil && y.Object == x.Object
				}
			}
			queued = queued || x.Kind == history.Invoke && x.Op == "lock" && stillAt(past, i)
		}
		for i, x := range past {
			if x.Kind != history.Invoke || !stillAt(past, i) {
				continue
			}
			waits := slices.Contains([]string{"lock", "rlock", "acquire", "campaign"}, x.Op)
			shared := x.Op == "rlock" && writers == 0 && !queued
			if waits && (have < leases || shared) || x.Op == "leader" && leads {
				return Violated
			}
		}
	}
	return OK
}

// holders says which objects believe to have something, which their programs know.
func holders(h *history.History) string {
	var list []int32
	for i := range h.Events {
		if believes(h.Events, i) {
			list = append(list, h.Events[i].Object)
		}
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// nextWait makes histories of these operations.
func nextWait(ops ...string) func(r *rand.Rand, h *history.History) history.Event {
	return func(r *rand.Rand, h *history.History) history.Event {
		object, begun := anyObject(r, h)
		if object == 0 {
			return history.Event{Kind: history.Calm}
		}
		k := slices.IndexFunc(h.Events, func(history.Event) bool { return false })
		for i := range h.Events {
			if h.Events[i].Object == object && believes(h.Events, i) {
				k = i
			}
		}
		e := history.Event{Object: object}
		switch {
		case r.IntN(30) == 0:
			return history.Event{Kind: history.Crashed, Client: (object-1)%3 + 1}
		case r.IntN(6) == 0:
			return history.Event{Kind: history.Told, Op: ToldRest, Client: (object-1)%3 + 1}
		case begun != nil && begun.Op == "acknowledge":
			e.Kind, e.Op = history.Return, begun.Op
			if r.IntN(4) == 0 {
				e.Err = errors.New("lost")
			}
		case begun != nil && (k >= 0 || begun.Op == "leader" || r.IntN(5) == 0):
			e.Kind, e.Op = history.Return, begun.Op
			if k < 0 && begun.Op != "leader" {
				e.Err, e.OK = errors.New("gave up"), r.IntN(2) == 0
			}
		case begun != nil:
			e.Kind = history.Acquired
			if begun.Op == "rlock" {
				e.Op = "read"
			}
		case k >= 0 && slices.Contains(ops, "campaign") && r.IntN(2) == 0:
			e.Kind, e.Op = history.Invoke, "acknowledge"
		case k >= 0 && r.IntN(3) > 0:
			e.Kind = []history.Kind{history.Released, history.Released, history.Lost}[r.IntN(3)]
		default:
			e.Kind, e.Op = history.Invoke, ops[r.IntN(len(ops))]
		}
		return e
	}
}

// waitsForAnItem looks, at each moment of rest, at what became of each item.
func waitsForAnItem(h *history.History) Level {
	for at, e := range h.Events {
		if e.Kind != history.Told || e.Op != ToldRest {
			continue
		}
		past := h.Events[:at]
		waits, there := false, map[int64]bool{}
		unknown, got := 0, map[int64]bool{}
		for i, x := range past {
			returned := x.Kind == history.Return && x.Err == nil
			switch {
			case gets(x.Op) && returned:
				there[x.Value], got[x.Value] = false, true
			case gets(x.Op) && x.Kind == history.Return && !x.OK:
				unknown++
			case gets(x.Op) && x.Kind == history.Invoke && stillAt(past, i):
				waits = true
			case gets(x.Op) && x.Kind == history.Invoke && stopped(past, i):
				unknown++
			case x.Op == "put" && returned:
				there[x.Value] = !got[x.Value]
			case x.Op == "return" && returned:
				there[x.Value], got[x.Value] = true, false
			}
		}
		certain := 0
		for _, yes := range there {
			if yes {
				certain++
			}
		}
		if waits && certain > unknown {
			return Violated
		}
	}
	return OK
}

// stopped reports whether the operation that began at event i has no end, as its client has crashed.
func stopped(events []history.Event, i int) bool {
	for _, e := range events[i+1:] {
		if e.Kind == history.Return && e.Object == events[i].Object {
			return false
		}
		if e.Kind == history.Crashed && e.Client == events[i].Client {
			return true
		}
	}
	return false
}

// nextAwaited makes histories of a queue that is at rest now and then, and that delivers nothing twice.
func nextAwaited(r *rand.Rand, h *history.History) history.Event {
	e := queueMix{[]string{"take", "trytake", "claim", "tryclaim", "return", "ack"}, 20}.next(r, h)
	if r.IntN(5) == 0 && e.Object > 0 {
		return history.Event{Kind: history.Told, Op: ToldRest, Client: (e.Object-1)%3 + 1}
	}
	delivered := e.Kind == history.Return && e.Err == nil && gets(e.Op)
	if delivered && !deliverable(h, e.Value) || e.Kind == history.Invoke && e.Op == "return" && !claimedBy(h, &e) {
		return history.Event{Kind: history.Calm}
	}
	return e
}

// deliverable reports whether an item may be in the queue.
func deliverable(h *history.History, item int64) (there bool) {
	for _, x := range h.Events {
		switch {
		case x.Value != item:
		case x.Kind == history.Invoke && (x.Op == "put" || x.Op == "return"):
			there = true
		case x.Kind == history.Return && gets(x.Op) && x.Err == nil:
			there = false
		}
	}
	return there
}

// claimedBy reports whether the object of e has claimed the item of it last.
func claimedBy(h *history.History, e *history.Event) (has bool) {
	for _, x := range h.Events {
		if x.Value == e.Value && (x.Kind == history.Return && gets(x.Op) && x.Err == nil || x.Op == "return") {
			has = x.Object == e.Object && x.Op != "return"
		}
	}
	return has
}
