package checkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"zksim/model/history"
)

// placeFamilies are of queues whose items are znodes.
var placeFamilies = []workload{
	{name: "fifo", checker: FIFO{}, next: nextPlaced, end: endOfPlaces, world: znodesOfQueue, most: 30,
		naive: func(h *history.History) Level { return passedInTree(h, func(int64) int64 { return 0 }) }},
	{name: "priority-order", checker: PriorityOrder{Of: rank}, next: nextPlaced, end: endOfPlaces, world: znodesOfQueue,
		most: 30, naive: func(h *history.History) Level { return passedInTree(h, rank) }},
}

func TestTheOrderOfAQueueAgreesWithItsTree(t *testing.T) {
	for _, f := range placeFamilies {
		t.Run(f.name, f.testAgreement)
	}
}

func TestTheOrderOfAQueueRemembersItsTree(t *testing.T) {
	long(t)
	for _, f := range placeFamilies {
		t.Run(f.name, f.testForgetting)
	}
}

// endOfPlaces has the run stopped before its end, so that only the tree judges it on the way.
func endOfPlaces(_ *rand.Rand, h *history.History) { h.Outcome = history.Stopped }

// znodesAfter returns the Created of the znodes that there are after some events, in their order; false if these cannot
// happen.
func znodesAfter(events []history.Event) (list []history.Event, ok bool) {
	for _, e := range events {
		k := slices.IndexFunc(list, at(e.Path))
		switch {
		case e.Kind == history.Created && k < 0:
			list = append(list, e)
		case e.Kind == history.Deleted && k >= 0:
			list = slices.Delete(list, k, k+1)
		case changesOf(&e):
			return nil, false
		}
	}
	return list, true
}

// znodesOfQueue says which znodes there are. What cannot happen is like nothing else.
func znodesOfQueue(h *history.History) string {
	list, ok := znodesAfter(h.Events)
	if !ok {
		return listed(h)
	}
	s := ""
	for _, e := range list {
		s += e.Path + "=" + e.Data + " "
	}
	return s
}

// nextPlaced makes histories of a queue whose items are below /q/items, and whose claims are below /q/claims.
func nextPlaced(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	znodes, ok := znodesAfter(h.Events)
	if object == 0 || !ok {
		return history.Event{Kind: history.Calm}
	}
	e := history.Event{Client: ownerOf(object), Zxid: int64(len(zxidsOf(h.Events)) + 1)}
	x, there := pick(r, znodes)
	mine := "/q/claims/" + path.Base(x.Path)
	switch k := r.IntN(12); {
	case begun == nil && k > 0, k > 7, begun != nil && begun.Op[:3] == "try" && k > 3:
		return answeredByTree(r, h, everyPlace.next(r, h))
	case begun != nil && (begun.Op == "put" || begun.Op == "return"):
		e.Kind, e.Path, e.Data = history.Created, fmt.Sprintf("/q/items/%d-%d", begun.Value, r.IntN(2)),
			digits(int32(begun.Value))
		if r.IntN(8) == 0 {
			e.Path = "/q/log/" + path.Base(e.Path)
		}
	case !there:
		return history.Event{Kind: history.Calm}
	case k == 0 || path.Dir(x.Path) == "/q/claims":
		e.Kind, e.Path = history.Deleted, x.Path
	default:
		e.Kind, e.Path = history.Created, mine
	}
	if made := slices.ContainsFunc(znodes, at(e.Path)); made == (e.Kind == history.Created) {
		return history.Event{Kind: history.Calm}
	}
	return e
}

// answeredByTree has a consumer be given, more often than not, what its client has claimed or removed last.
func answeredByTree(r *rand.Rand, h *history.History, e history.Event) history.Event {
	if e.Kind != history.Return || r.IntN(8) == 0 {
		return e
	}
	made := slices.ContainsFunc(h.Events, func(x history.Event) bool { return x.Data == digits(int32(e.Value)) })
	switch {
	case e.Op == "put" && !made:
		return history.Event{Kind: history.Calm}
	case !gets(e.Op):
		return e
	}
	for i := range slices.Backward(h.Events) {
		switch x := &h.Events[i]; {
		case x.Kind == history.Invoke && x.Object == e.Object && e.Op[:3] == "try":
			e.Value, e.Err, e.OK = 0, errors.New("empty"), true
			return e
		case changesOf(x) && x.Client == ownerOf(e.Object) && path.Dir(x.Path) != "/q/log":
			e.Value, e.Err, e.OK = int64(path.Base(x.Path)[0]-'0'), nil, false
			return e
		}
	}
	return e
}

var everyPlace = queueMix{[]string{"take", "trytake", "trytake", "claim", "tryclaim", "tryclaim", "return"}, 10}

// placedItem is an item of the tree, as of some moment.
type placedItem struct {
	number int64
	path   string
	free   int // the event since which it is free, -1: it is claimed
}

// placedAt returns the items after events, in the order of their creation. An item is claimed while a znode elsewhere
// has its name.
func placedAt(events []history.Event) (list []placedItem) {
	made := map[int64]bool{}
	for i, e := range events {
		switch e.Kind {
		case history.Created:
			for number := int64(1); number <= queueItems; number++ {
				there := slices.ContainsFunc(list, func(x placedItem) bool {
					return x.number == number || path.Base(x.path) == path.Base(e.Path)
				})
				if e.Data == digits(int32(number)) && !there && beingPut(events[:i], number, made[number]) {
					made[number] = true
					list = append(list, placedItem{number: number, path: e.Path, free: -1})
				}
			}
		case history.Deleted:
			list = slices.DeleteFunc(list, func(x placedItem) bool { return x.path == e.Path })
		default:
			continue
		}
		znodes, _ := znodesAfter(events[:i+1])
		for k := range list {
			x := &list[k]
			if claimed := slices.ContainsFunc(znodes, func(y history.Event) bool {
				return y.Path != x.path && path.Base(y.Path) == path.Base(x.path)
			}); claimed {
				x.free = -1
			} else if x.free < 0 {
				x.free = i
			}
		}
	}
	return list
}

// beingPut reports whether a put of an item goes on after events, or was cut off by a crash before its znode was made.
func beingPut(events []history.Event, number int64, made bool) bool {
	for i, e := range events {
		if e.Kind == history.Invoke && e.Op == "put" && e.Value == number {
			return stillAt(events, i) || stopped(events, i) && !made
		}
	}
	return false
}

// passedInTree is the order of a queue said over whole histories: at each end of an operation, by what was free in the
// tree all the time, and as [outOfTurn] says.
func passedInTree(h *history.History, of func(int64) int64) Level {
	for i, e := range h.Events {
		if e.Kind != history.Return {
			continue
		}
		begin, past := invoked(h, i), h.Events[:i]
		interrupted := errors.Is(e.Err, context.Canceled)
		empty := (e.Op == "trytake" || e.Op == "tryclaim") && refused(&e) && !interrupted
		if gets(e.Op) && e.Err == nil && passesOver(past, begin, &e, of) || empty && len(freeSince(past, begin)) > 0 ||
			e.Op == "return" && e.Err == nil && losesItsPlace(past, begin, &e) {
			return Violated
		}
	}
	return outOfTurn(h, of)
}

// freeSince returns the items that are free after events and were so at event begin.
func freeSince(events []history.Event, begin int) []placedItem {
	return slices.DeleteFunc(placedAt(events), func(x placedItem) bool { return x.free < 0 || x.free > begin })
}

// passesOver reports whether the client of e, the end of an operation, has claimed or removed the item that it got when
// another that comes first was free. The latest that it has claimed or removed counts.
func passesOver(events []history.Event, begin int, e *history.Event, of func(int64) int64) bool {
	for i, x := range slices.Backward(events) {
		if i <= begin {
			break
		}
		if x.Client != e.Client || x.Kind != history.Created && x.Kind != history.Deleted {
			continue
		}
		before, after := placedAt(events[:i]), placedAt(events[:i+1])
		for k, item := range before {
			now := slices.IndexFunc(after, func(y placedItem) bool { return y.number == item.number })
			if item.free < 0 || now >= 0 && after[now].free >= 0 {
				continue
			}
			return item.number == e.Value && slices.ContainsFunc(freeSince(events[:i], begin), func(y placedItem) bool {
				p, q := of(y.number), of(item.number)
				earlier := slices.IndexFunc(before, func(z placedItem) bool { return z.number == y.number }) < k
				return p < q || p == q && earlier
			})
		}
	}
	return false
}

// losesItsPlace reports whether the client of e, the end of a return, has made the item anew in the folder where it
// was.
func losesItsPlace(events []history.Event, begin int, e *history.Event) bool {
	for _, x := range placedAt(events[:begin]) {
		if x.number == events[begin].Value {
			return slices.ContainsFunc(events[begin:], func(y history.Event) bool {
				return y.Kind == history.Created && y.Client == e.Client && path.Dir(y.Path) == path.Dir(x.path) &&
					y.Data == digits(int32(x.number))
			})
		}
	}
	return false
}
