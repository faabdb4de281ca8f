package catalog

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// use is a word as a checker declares it.
type use struct {
	checker string
	class   checkers.Class
	op      string
}

// uses collects from histories which words decide verdicts.
type uses struct {
	declared map[use]bool   // true: judged
	matters  map[use]string // where
}

// TestTheWordsThatDecideVerdictsAreThoseThatCheckersDeclare takes histories of all scenarios, as they are and
// spoiled; gives each word in turn another name, and leaves its events out. A
// word whose absence changes a verdict must be declared, and one that is declared must change some verdict or
// be said to be unjudged.
func TestTheWordsThatDecideVerdictsAreThoseThatCheckersDeclare(t *testing.T) {
	seeds, more := uint64(10), uint64(50)
	if testing.Short() {
		seeds, more = 5, 0
	}
	r := engine.NewRunner()
	defer r.Close()
	u := uses{map[use]bool{}, map[use]string{}}
	for i := range All {
		for _, c := range All[i].Checkers {
			for _, w := range c.(checkers.Declaring).Needs().Words {
				u.declared[use{c.Name(), w.Class, w.Op}] = !w.Unjudged
			}
		}
	}
	for seed := range seeds + more {
		for i := range All {
			if s := &All[i]; seed < seeds || u.wants(s) {
				h := r.Seed(s, seed+1).History
				where := fmt.Sprintf("%s, seed %d", s.Name, seed+1)
				if seed < seeds {
					u.try(s.Checkers, h, where, true)
				}
				name := fnv.New64a()
				name.Write([]byte(s.Name))
				random := rand.New(rand.NewPCG(seed, name.Sum64())) // whatever other scenarios there are
				for range 4 {
					u.try(s.Checkers, spoiled(h, random), where, false)
				}
			}
		}
	}
	for _, x := range telling {
		u.try([]checkers.Checker{x.checker}, &history.History{Clients: 1, Events: x.events, Txns: true,
			Tree: []history.Node{{Path: "/p/status/t"}}}, "by hand", false)
	}
	for x, where := range u.matters {
		if judged, known := u.declared[x]; !known || !judged {
			t.Errorf("%s goes by the %v %q, known: %v, in %s", x.checker, x.class, x.op, known, where)
		}
	}
	for x, judged := range u.declared {
		if judged && u.matters[x] == "" && !testing.Short() {
			t.Errorf("%s declares the %v %q, which changes no verdict", x.checker, x.class, x.op)
		}
	}
}

// telling are histories that show words which few of the spoiled ones do.
var telling = []struct {
	checker checkers.Checker
	events  []history.Event
}{
	{checkers.Refusal{}, freeRefused("trylock")}, {checkers.Refusal{Leases: 2}, freeRefused("tryacquire")},
	{checkers.PriorityOrder{Of: func(item int64) int64 { return item }}, overtaking("tryclaim")},
	{checkers.Monotone{}, toldAgainAfter(checkers.WatchChildren)},
	{checkers.Monotone{}, toldAgainAfter(checkers.WatchCache)},
	{checkers.Monotone{}, toldAgainAfter(checkers.WatchMembers)},
	{checkers.Ownership{}, []history.Event{{Kind: history.Invoke, Client: 1, Object: 1, Op: "lock"},
		{Kind: history.Created, Client: 1, Path: "/l/a", Zxid: 1, Session: 1}, {Kind: history.Deleted, Client: 1,
			Path: "/l/a", Zxid: 2, Session: 1},
		{Kind: history.Invoke, Client: 1, Object: 1, Op: "downgrade"}, {Kind: history.Acquired, Client: 1, Object: 1,
			Path: "/l/a"}}},
	{checkers.Ownership{}, deletedDuring("lock")}, {checkers.Ownership{}, deletedDuring("trylock")},
	{checkers.Ownership{}, deletedDuring("rlock")}, {checkers.Ownership{}, deletedDuring("tryrlock")},
	{checkers.Ownership{}, deletedDuring("campaign")},
	{checkers.Ownership{Leases: 2}, deletedDuring("acquire")},
	{checkers.Ownership{Leases: 2}, deletedDuring("tryacquire")},
	{checkers.Claim{}, overBefore("lock")}, {checkers.Claim{}, overBefore("trylock")},
	{checkers.Claim{}, overBefore("rlock")}, {checkers.Claim{}, overBefore("tryrlock")},
	{checkers.Claim{}, overBefore("campaign")}, {checkers.Claim{}, overBefore("acquire")},
	{checkers.Claim{}, overBefore("tryacquire")},
	{checkers.Claim{}, asReader(overBefore("rlock"))},
	{checkers.Claim{}, lateSuccess("acknowledge")}, {checkers.Claim{}, overBefore("lock", "downgrade")},
	{checkers.Suspicion{}, sureOf(checkers.WatchData, checkers.ToldData)},
	{checkers.Suspicion{}, sureOf(checkers.WatchChildren, checkers.ToldChildren)},
	{checkers.Suspicion{}, sureOf(checkers.WatchCache, checkers.ToldGone)},
	{checkers.Suspicion{}, sureOf(checkers.WatchMembers, checkers.ToldChildren)},
	{checkers.Passage{}, passed()}, {checkers.FIFO{}, movedBy("return")},
	{checkers.PriorityOrder{Of: func(item int64) int64 { return item }}, movedBy("return")},
	{checkers.LostRevoke{}, revokedAnd("revoked")},
	{checkers.Length{}, removedAnd("take")}, {checkers.Length{}, removedAnd("trytake")},
	{checkers.Length{}, removedAnd("ack")},
	{checkers.Tasks{}, []history.Event{{Kind: history.Invoke, Client: 1, Object: 1, Op: "forget", Path: "/t"},
		{Kind: history.Return, Client: 1, Object: 1, Op: "forget", Path: "/t"}}},
}

// sureOf has a watcher that says that what it has told is up to date, and then tells something without a look.
func sureOf(kind, what string) []history.Event {
	told := func(op string, ok bool) history.Event {
		return history.Event{Kind: history.Told, Client: 1, Object: 1, Op: op, OK: ok}
	}
	return []history.Event{{Kind: history.Invoke, Client: 1, Object: 1, Op: kind}, told(checkers.ToldDoubt, true),
		{Kind: history.Reply, Client: 1}, told(checkers.ToldDoubt, false), told(what, false)}
}

// freeRefused has a client that is refused what is free.
func freeRefused(op string) []history.Event {
	return []history.Event{{Kind: history.Invoke, Client: 1, Object: 1, Op: op},
		{Kind: history.Return, Client: 1, Object: 1, Op: op, Err: recipes.ErrLocked, OK: true}}
}

// overtaking has a client that gets, by op, another item than the first one, and then that.
func overtaking(op string) []history.Event {
	return inTurn([]history.Event{{Op: "put", Value: 9}, {Op: "put", Value: 1}, {Op: op, Value: 9},
		{Op: "take", Value: 1}})
}

// inTurn has a client do one operation after the other.
func inTurn(ops []history.Event) (list []history.Event) {
	for _, e := range ops {
		for _, k := range []history.Kind{history.Invoke, history.Return} {
			e.Kind, e.Client, e.Object = k, 1, 1
			list = append(list, e)
		}
	}
	return list
}

// removedAnd has a client that puts an item, removes it by op, and is told that there is none.
func removedAnd(op string) []history.Event {
	return inTurn([]history.Event{{Op: "put", Value: 7}, {Op: op, Value: 7}, {Op: "len"}})
}

// movedBy has an item that another path has after op.
func movedBy(op string) []history.Event {
	list := inTurn([]history.Event{{Op: "put", Value: 7}, {Op: op, Value: 7}})
	made := func(path string) history.Event {
		return history.Event{Kind: history.Created, Client: 1, Path: path, Data: "7", Zxid: 1}
	}
	return slices.Concat(list[:1], []history.Event{made("/q/a")}, list[1:3], []history.Event{made("/q/b")}, list[3:])
}

// revokedAnd has a holder that is told so by a word and waits for another revocation.
func revokedAnd(word string) []history.Event {
	op := func(k history.Kind, op string, err error) history.Event {
		return history.Event{Kind: k, Client: 1, Object: 1, Op: op, Path: "/l/a", Err: err}
	}
	return []history.Event{{Kind: history.Calm}, op(history.Invoke, "revoke", nil), op(history.Return, "revoke", nil),
		op(history.Told, word, nil), op(history.Invoke, "hold", nil), op(history.Return, "hold", context.Canceled)}
}

// passed has a client that gives up waiting for a barrier which was open after it had looked.
func passed() []history.Event {
	looks := func(k history.Kind) history.Event {
		return history.Event{Kind: k, Client: 1, Op: "existsW", Path: "/b"}
	}
	wait := func(k history.Kind, err error) history.Event {
		return history.Event{Kind: k, Client: 1, Object: 1, Op: "wait", Err: err}
	}
	release := func(k history.Kind) history.Event {
		return history.Event{Kind: k, Client: 2, Object: 2, Op: "release"}
	}
	return []history.Event{{Kind: history.Calm}, wait(history.Invoke, nil), looks(history.Call), looks(history.Reply),
		looks(history.Call), looks(history.Reply), release(history.Invoke), release(history.Return),
		{Kind: history.Told, Client: 1, Object: 1, Op: "impatient"}, wait(history.Return, context.Canceled)}
}

// another is the call of another object, so that its client is one that records calls.
var another = history.Event{Kind: history.Invoke, Client: 1, Object: 2, Op: "unlock"}

// overBefore has a call that claims a znode of a session which is known to be over; if the call had begun later,
// the znode would be none that it can claim. Last are operations before the claim.
func overBefore(op string, last ...string) []history.Event {
	list := []history.Event{{Kind: history.Session, Client: 1, Op: "StateHasSession", Session: 1}, another,
		{Kind: history.Invoke, Client: 1, Object: 1, Op: op},
		{Kind: history.Created, Client: 1, Path: "/l/a", Zxid: 1, Session: 1},
		{Kind: history.Deleted, Client: 1, Path: "/l/a", Zxid: 2, Session: 1},
		{Kind: history.Session, Client: 1, Op: "StateExpired"},
		{Kind: history.Heard, Client: 1, Op: history.Connected, Session: 2}}
	for _, op := range last {
		list = append(list, history.Event{Kind: history.Invoke, Client: 1, Object: 1, Op: op})
	}
	return append(list, history.Event{Kind: history.Acquired, Client: 1, Object: 1, Path: "/l/a"})
}

// asReader has the last event claim for a reader.
func asReader(events []history.Event) []history.Event {
	events[len(events)-1].Op = "read"
	return events
}

// lateSuccess has an operation that succeeds with a znode of a session which is known to be over.
func lateSuccess(op string) []history.Event {
	return []history.Event{{Kind: history.Session, Client: 1, Op: "StateHasSession", Session: 1},
		{Kind: history.Created, Client: 1, Path: "/l/a", Zxid: 1, Session: 1},
		{Kind: history.Session, Client: 1, Op: "StateExpired"},
		{Kind: history.Heard, Client: 1, Op: history.Disconnected},
		{Kind: history.Return, Client: 1, Object: 1, Op: op, Path: "/l/a"}}
}

// toldAgainAfter has a watcher that tells an older state, which is right only after the end of its last watch.
func toldAgainAfter(op string) []history.Event {
	return []history.Event{{Kind: history.Told, Client: 1, Object: 1, Op: checkers.ToldData, Path: "/a", Zxid: 5},
		{Kind: history.Return, Client: 1, Object: 1, Op: op},
		{Kind: history.Told, Client: 1, Object: 1, Op: checkers.ToldData, Path: "/a", Zxid: 3}}
}

// deletedDuring has a call that gets the lock, though its znode is deleted before it ends: it is right only if the
// call had begun before that.
func deletedDuring(op string) []history.Event {
	return []history.Event{another, {Kind: history.Invoke, Client: 1, Object: 1, Op: op},
		{Kind: history.Created, Client: 1, Path: "/l/a", Zxid: 1, Session: 1},
		{Kind: history.Deleted, Client: 1, Path: "/l/a", Zxid: 2, Session: 1},
		{Kind: history.Return, Client: 1, Object: 1, Op: op},
		{Kind: history.Acquired, Client: 1, Object: 1, Path: "/l/a"}}
}

// wants reports whether a word of the scenario's checkers has changed no verdict yet.
func (u *uses) wants(s *engine.Scenario) bool {
	for x, judged := range u.declared {
		known := func(c checkers.Checker) bool { return c.Name() == x.checker }
		if judged && u.matters[x] == "" && slices.ContainsFunc(s.Checkers, known) {
			return true
		}
	}
	return false
}

// try tries words of a history on the checkers that know any: all of them, or those that have to change a
// verdict yet.
func (u *uses) try(all []checkers.Checker, h *history.History, where string, any bool) {
	found := map[use]bool{}
	for _, e := range h.Events {
		if c, ok := checkers.ClassOf(e.Kind); ok && e.Op != "" {
			found[use{"", c, e.Op}] = true
		}
	}
	for _, c := range all {
		if len(c.(checkers.Declaring).Needs().Words) == 0 {
			continue
		}
		want := c.Check(h).Level
		for x := range found {
			x.checker = c.Name()
			if u.matters[x] != "" || !any && !u.declared[x] {
				continue
			}
			if c.Check(without(h, x, true)).Level != want || c.Check(without(h, x, false)).Level != want {
				u.matters[x] = where
			}
		}
	}
}

// spoiled returns a copy of h in which some of the events that programs record are missing, come at another
// time, or have another answer.
func spoiled(h *history.History, random *rand.Rand) *history.History {
	other := *h
	other.Events = slices.Clone(h.Events)
	for range 1 + random.IntN(5) {
		var list []int
		for i, e := range other.Events {
			if _, chosen := checkers.ClassOf(e.Kind); chosen {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			break
		}
		i := list[random.IntN(len(list))]
		e := other.Events[i]
		list = slices.DeleteFunc(list, func(k int) bool {
			x := &other.Events[k]
			return x.Kind != e.Kind ||
				x.Op != e.Op
		})
		x := other.Events[list[random.IntN(len(list))]]
		switch random.IntN(4) {
		case 0:
			other.Events = slices.Delete(other.Events, i, i+1)
		case 1:
			other.Events = slices.Delete(other.Events, i, i+1)
			other.Events = slices.Insert(other.Events, random.IntN(len(other.Events)+1), e)
		case 2:
			e.Path, e.Value, e.Zxid, e.Err, e.OK = x.Path, x.Value, x.Zxid, x.Err, x.OK
			other.Events[i] = e
		default:
			e.Err, e.OK = recipes.ErrLocked, true // refused
			if random.IntN(2) == 0 {
				e.Err, e.OK = nil, false
			}
			other.Events[i] = e
		}
	}
	return &other
}

// without returns a copy of h in which a word has another name, or does not occur.
func without(h *history.History, x use, rename bool) *history.History {
	other := *h
	is := func(e history.Event) bool {
		c, ok := checkers.ClassOf(e.Kind)
		return ok && c == x.class && e.Op == x.op
	}
	if !rename {
		other.Events = slices.DeleteFunc(slices.Clone(h.Events), is)
		return &other
	}
	other.Events = slices.Clone(h.Events)
	for i := range other.Events {
		if e := &other.Events[i]; is(*e) {
			e.Op = "zzz"
		}
	}
	return &other
}
