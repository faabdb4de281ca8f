package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

// doubleBarrierFamilies are of one checker each.
var doubleBarrierFamilies = []family{
	{Entry{}, enteredWithAll, &meetingStage{}},
	{Exit{}, leftWithAll, &meetingStage{znodes: true}},
	{Rounds{}, metInRounds, &meetingStage{znodes: true}},
	{Gather{}, gaveUpRightly, &meetingStage{}},
	{Gather{}, gaveUpRightly, &meetingStage{znodes: true, impatient: true}},
}

func TestTheMonitorsOfTheDoubleBarrierAgreeWithLookingBack(t *testing.T) {
	long(t)
	for _, f := range doubleBarrierFamilies {
		t.Run(f.checker.Name(), f.agrees)
	}
}

func TestTheMonitorsOfTheDoubleBarrierRememberEnough(t *testing.T) {
	long(t)
	for _, f := range doubleBarrierFamilies {
		t.Run(f.checker.Name(), f.forgets)
	}
}

// meetingStage is the stage of a double barrier: with sessions and impatience, or with
// znodes and rounds, or with both.
type meetingStage struct {
	at [5]string // of each object: "", "enter", "inside" or "leave"
	// the objects of one client are told apart by those that are remembered, so it matters which it has used
	used    [5]bool
	crashed [4]bool
	calm    bool // not in the key

	znodes, impatient bool

	tries   [5]int    // how many znodes it has made
	znode   [5]string // the last one, if the last Enter made it
	exists  [5]bool
	changes int64 // txns that changed a znode
	ready   int64 // the last that changed the znode ready
}

func (s *meetingStage) clone() stage { x := *s; return &x }

func (s *meetingStage) key() string {
	x := *s
	x.calm = false
	return fmt.Sprint(x)
}

func (s *meetingStage) propose(r *rand.Rand) history.Event {
	o := []int32{1, 2, 3, 1, 2, 3, 4}[r.IntN(7)]
	c := holderOf[o]
	switch k := r.IntN(12); {
	case k == 0 && r.IntN(4) == 0:
		return history.Event{Kind: history.Crashed, Client: c}
	case k < 5 && (!s.znodes || s.impatient && r.IntN(2) == 0):
		return []history.Event{
			{Kind: history.Session, Client: c, Op: "StateHasSession"},
			{Kind: history.Session, Client: c, Op: "StateDisconnected"},
			{Kind: history.Told, Client: c, Object: o, Op: "impatient"},
			{Kind: history.Calm},
			{Kind: history.Told, Client: c, Object: o, Op: "impatient"},
		}[min(r.IntN(8), 3)]
	case k == 1 && s.exists[o]:
		return history.Event{Kind: history.Deleted, Client: c * r.Int32N(2), Object: o, Path: s.znode[o], Zxid: s.changes + 1}
	case k == 2 && (s.ready == 0 || r.IntN(6) == 0):
		return history.Event{Kind: history.Changed, Path: "/b/ready", Client: c, Zxid: s.changes + 1}
	}
	return s.proceed(r, c, o)
}

// proceed proposes what an object does next.
func (s *meetingStage) proceed(r *rand.Rand, c, o int32) history.Event {
	e := history.Event{Kind: history.Return, Client: c, Object: o, Op: s.at[o]}
	switch {
	case e.Op == "":
		e.Kind, e.Op, e.Value = history.Invoke, "enter", 1+r.Int64N(3)
		return e
	case e.Op == "inside":
		e.Kind, e.Op = history.Invoke, "leave"
		return e
	case r.IntN(4) == 0 || s.calm && r.IntN(2) == 0:
		e.Err, e.OK = errors.New("gave up"), r.IntN(4) == 0
		return e
	case e.Op == "enter" && s.znodes && !s.exists[o] && r.IntN(4) > 0:
		return history.Event{Kind: history.Created, Client: c, Object: o, Path: s.next(o), Zxid: s.changes + 1,
			Session: int64(10 + c)}
	case e.Op == "enter":
		e.Path, e.Value = s.znode[o], s.ready
		if r.IntN(6) == 0 {
			e.Value = 1 + r.Int64N(s.changes+1)
		}
	}
	return e
}

// next returns the path of the next znode that an object makes.
func (s *meetingStage) next(o int32) string { return fmt.Sprintf("/b/%d-%d", o, s.tries[o]+1) }

// take accepts Enters in any round, by a znode of its own that was there at some time
// of the call.
func (s *meetingStage) take(e *history.Event) bool {
	o := e.Object
	if s.crashed[e.Client] && e.Kind != history.Deleted {
		return false
	}
	switch e.Kind {
	case history.Calm:
		s.calm = true
	case history.Crashed:
		s.crashed[e.Client] = true
		for o, c := range holderOf {
			if c == e.Client {
				s.at[o] = ""
				s.clean(int32(o))
			}
		}
	case history.Created, history.Changed, history.Deleted:
		return s.change(e)
	case history.Told:
		return s.at[o] == "enter"
	case history.Invoke:
		if e.Op == "enter" && s.at[o] != "" || e.Op == "leave" && s.at[o] != "inside" {
			return false
		}
		if s.at[o] = e.Op; e.Op == "enter" {
			s.used[o], s.znode[o], s.exists[o] = true, "", false
		}
	case history.Return:
		if s.at[o] != e.Op {
			return false
		}
		if s.znodes && e.Op == "enter" && e.Err == nil &&
			(s.znode[o] == "" || s.znode[o] != e.Path || e.Value == 0 || e.Value > s.changes) {
			return false
		}
		if s.at[o] = ""; e.Op == "enter" && e.Err == nil {
			s.at[o] = "inside"
		}
		s.clean(o)
	}
	return true
}

// clean forgets a znode that is gone when the object does not need it.
func (s *meetingStage) clean(o int32) {
	if s.at[o] != "enter" && !s.exists[o] {
		s.znode[o] = ""
	}
}

// change takes a txn that changes a znode. Only the servers' deletions matter.
func (s *meetingStage) change(e *history.Event) bool {
	o := e.Object
	switch {
	case e.Zxid != s.changes+1:
		return false
	case e.Kind == history.Changed:
		s.ready = e.Zxid
	case e.Kind == history.Created:
		if s.at[o] != "enter" || s.exists[o] || e.Path != s.next(o) {
			return false
		}
		s.tries[o]++
		s.znode[o], s.exists[o] = e.Path, true
	case !s.exists[o] || s.znode[o] != e.Path:
		return false
	default:
		s.exists[o] = false
		s.clean(o)
	}
	s.changes = e.Zxid
	return true
}

// calls goes through the Enters of a history that have returned, with the positions of
// their Invokes and Returns.
func calls(h *history.History, yield func(begin, end int)) {
	for end := range h.Events {
		for begin := end; begin >= 0 && h.Events[end].Kind == history.Return && h.Events[end].Op == "enter"; begin-- {
			if x := &h.Events[begin]; x.Kind == history.Invoke && x.Object == h.Events[end].Object {
				yield(begin, end)
				break
			}
		}
	}
}

// enteredWithAll is Entry.
func enteredWithAll(h *history.History) (level Level) {
	offline := make([]bool, len(h.Events)) // a call that ends there was, at some time
	calls(h, func(begin, end int) {
		online := false
		for i, e := range h.Events[:end] {
			online = (online || e.Kind == history.Session && e.Client == h.Events[end].Client) && !(e.Kind == history.Session &&
				e.Client == h.Events[end].Client && e.Op != "StateHasSession")
			offline[end] = offline[end] || i >= begin && !online
		}
	})
	inside := make([]int64, len(h.Events)) // after each event
	n := int64(0)
	for i, e := range h.Events {
		switch {
		case e.Kind == history.Invoke && e.Op == "enter":
			n++
		case e.Kind == history.Invoke && e.Op == "leave", e.Kind == history.Return && e.Op == "enter" && e.Err != nil &&
			(!offline[i] || refused(&e)):
			n--
		}
		inside[i] = n
	}
	calls(h, func(begin, end int) {
		if h.Events[end].Err == nil && slices.Max(inside[begin:end]) < h.Events[begin].Value {
			level = Violated
		}
	})
	return level
}

// entersNow reports whether a client is in an Enter after events.
func entersNow(events []history.Event, client int32) bool {
	for i := range events {
		if e := &events[i]; e.Kind == history.Invoke && e.Op == "enter" && e.Client == client && stillAt(events, i) {
			return true
		}
	}
	return false
}

// gaveUpRightly is Gather.
func gaveUpRightly(h *history.History) (level Level) {
	calls(h, func(begin, end int) {
		x := &h.Events[begin]
		told := -1
		for i := begin; i < end; i++ {
			switch e := &h.Events[i]; {
			case e.Kind == history.Told && e.Object == x.Object:
				told = i
			case e.Op == "enter", e.Kind == history.Crashed && entersNow(h.Events[:i], e.Client):
				told = -1
			}
		}
		if told < 0 || h.Events[end].Err == nil ||
			!slices.ContainsFunc(h.Events[:told], func(e history.Event) bool { return e.Kind == history.Calm }) {
			return
		}
		waiting, inside, dead := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
		for _, e := range h.Events[:told] {
			if e.Op == "enter" {
				waiting[e.Object] = e.Kind == history.Invoke
				inside[e.Object] = e.Kind == history.Return && e.Err == nil
			}
			if e.Kind == history.Return && e.Op == "leave" {
				inside[e.Object] = false
			}
			for o := range waiting {
				if e.Kind == history.Crashed && slices.ContainsFunc(h.Events,
					func(x history.Event) bool { return x.Object == o && x.Client == e.Client }) {
					if waiting[o] || inside[o] {
						dead[e.Client] = true
					}
					waiting[o], inside[o] = false, false
				}
			}
		}
		if leftByTheDead(h.Events[:told], dead) {
			return
		}
		n := int64(0)
		for o, yes := range waiting {
			if yes {
				n++
			}
			if inside[o] {
				return
			}
		}
		if n >= x.Value {
			level = Violated
		}
	})
	return level
}

// leftByTheDead reports whether one of these clients has an ephemeral znode, or no events tell of any.
func leftByTheDead(events []history.Event, dead map[int32]bool) bool {
	told := false
	for i, e := range events {
		if e.Kind == history.Created && e.Session != 0 {
			told = true
			if dead[e.Client] && deletion(&history.History{Events: events}, e.Path, i, len(events)) >= len(events) {
				return true
			}
		}
	}
	return len(dead) > 0 && !told
}

// visit is one time that a client was inside; what did not happen is after the end of
// the history.
type visit struct {
	object              int32
	need, round         int64
	enters, leaves, out int
	ends                int
}

// visits returns the times that clients were inside, in the order of entering.
func visits(h *history.History) (all []visit) {
	calls(h, func(begin, end int) {
		e := &h.Events[end]
		if e.Err != nil {
			return
		}
		after := func(i int, f func(x *history.Event) bool) int {
			for ; i < len(h.Events) && !f(&h.Events[i]); i++ {
			}
			return i
		}
		again := after(end, func(x *history.Event) bool {
			return x.Op == "enter" && x.Kind == history.Invoke && x.Object == e.Object
		})
		own := func(k history.Kind) func(x *history.Event) bool {
			return func(x *history.Event) bool {
				return x.Kind == k && x.Op == "leave" && x.Object == e.Object && x.Err == nil
			}
		}
		within := func(i int) int {
			if i > again {
				return len(h.Events)
			}
			return i
		}
		all = append(all, visit{e.Object, h.Events[begin].Value, e.Value, end,
			within(after(end, own(history.Invoke))), within(after(end, own(history.Return))),
			after(0, func(x *history.Event) bool { return x.Kind == history.Deleted && x.Client == 0 && x.Path == e.Path })})
	})
	return all
}

// leftWithAll is Exit.
func leftWithAll(h *history.History) Level {
	all := visits(h)
	for _, x := range all {
		for _, y := range all {
			if x.round == y.round && x.object != y.object && x.out < y.leaves && x.out < y.ends {
				return Violated
			}
		}
	}
	return OK
}

// metInRounds is Rounds.
func metInRounds(h *history.History) Level {
	all := visits(h)
	for i, x := range all {
		members := int64(1)
		for _, y := range all[:i] {
			switch {
			case y.round != x.round && x.enters < y.leaves && x.enters < y.ends && x.enters < x.ends,
				y.round == x.round && y.object == x.object:
				return Violated
			case y.round == x.round:
				members++
			}
		}
		if members > x.need {
			return Violated
		}
	}
	return OK
}

// entered is the history of a barrier that c1 has entered.
const entered = begun + `
	changed c1 /b/ready z7
	return c1 o1 enter /b/x v7
	`

// lapsed is the history of an Enter whose session has ended.
const lapsed = begun + `
	created c1 /b/x z1
	deleted c0 /b/x z2
	`

func TestExitAndRoundsRememberWhatIsRare(t *testing.T) {
	for _, x := range []struct {
		checker                  Monitored
		name, right, wrong, more string
	}{
		{Exit{}, "who has left, and who has given up leaving",
			entered + "invoke c1 o1 leave\nreturn c1 o1 leave: canceled",
			entered + "invoke c1 o1 leave\nreturn c1 o1 leave",
			"return c2 o2 enter /b/y v7"},
		{Exit{}, "whether somebody who crashed was inside",
			entered + "return c2 o2 enter /b/y v7\ninvoke c1 o1 leave\ninvoke c2 o2 leave\ncrashed c2",
			entered + "return c2 o2 enter /b/y v7\ninvoke c1 o1 leave\ncrashed c2",
			"return c1 o1 leave"},
		{Exit{}, "whose session has ended",
			entered + "return c2 o2 enter /b/y v7\ninvoke c1 o1 leave\ndeleted c0 /b/y",
			entered + "return c2 o2 enter /b/y v7\ninvoke c1 o1 leave\ndeleted c0 /b/z",
			"return c1 o1 leave"},
		{Exit{}, "whether a session ended before somebody left",
			entered + "invoke c1 o1 leave\ndeleted c0 /b/y\nreturn c1 o1 leave",
			entered + "invoke c1 o1 leave\nreturn c1 o1 leave\ndeleted c0 /b/y",
			"return c2 o2 enter /b/y v7"},
		{Exit{}, "who has left",
			entered + "invoke c1 o1 leave\nreturn c1 o1 leave\ninvoke c1 o1 enter v2",
			begun + "changed c1 /b/ready z7\nreturn c2 o2 enter /b/x v7\ninvoke c2 o2 leave\nreturn c2 o2 leave\ninvoke c2 o2 " +
				"enter v2",
			"return c1 o1 enter /b/z v7"},
		{Exit{}, "which znode has gone with its session",
			entered + "invoke c1 o1 leave\ndeleted c0 /b/y\nreturn c1 o1 leave",
			entered + "invoke c1 o1 leave\ndeleted c0 /b/z\nreturn c1 o1 leave",
			"return c2 o2 enter /b/y v7"},
		{Rounds{}, "whether somebody who crashed is inside",
			entered + "invoke c1 o1 leave\ncrashed c1",
			entered + "crashed c1",
			"return c2 o2 enter /b/y v9"},
		{Rounds{}, "whose session has ended",
			entered + "crashed c1\ndeleted c0 /b/x",
			entered + "crashed c1\ndeleted c0 /b/z",
			"return c2 o2 enter /b/y v9"},
		{Rounds{}, "which znode has gone with its session",
			entered + "deleted c0 /b/y",
			entered + "deleted c0 /b/z",
			"return c2 o2 enter /b/y v9"},
		{Rounds{}, "by which znode somebody is inside",
			entered + "crashed c1",
			begun + "changed c1 /b/ready z7\nreturn c1 o1 enter /b/w v7\ncrashed c1",
			"deleted c0 /b/x\nreturn c2 o2 enter /b/y v9"},
		{Rounds{}, "who is inside",
			entered + "invoke c3 o3 enter v2",
			begun + "changed c1 /b/ready z7\nreturn c2 o2 enter /b/x v7\ninvoke c3 o3 enter v2",
			"invoke c1 o1 leave\nreturn c3 o3 enter /b/y v9"},
		{Exit{}, "when a znode was made again",
			lapsed + "changed c3 /b/ready z4\ncreated c1 /b/x z5\ndeleted c1 /b/x z6",
			lapsed + "created c1 /b/x z3\nchanged c3 /b/ready z4\ndeleted c1 /b/x z6",
			"return c1 o1 enter /b/x v4\nreturn c2 o2 enter /b/y v4\ninvoke c2 o2 leave\nreturn c2 o2 leave"},
		{Rounds{}, "when a znode was made again",
			lapsed + "changed c3 /b/ready z4\ncreated c1 /b/x z5\ndeleted c1 /b/x z6",
			lapsed + "created c1 /b/x z3\nchanged c3 /b/ready z4\ndeleted c1 /b/x z6",
			"return c1 o1 enter /b/x v4\nreturn c2 o2 enter /b/y v9"},
	} {
		remembersRare(t, x.checker, x.name, x.more, x.right, x.wrong)
	}
}

// remembersRare goes on with two histories after which the world is the same: only the second goes wrong, so the
// monitor must tell them apart.
func remembersRare(t *testing.T, c Monitored, name, more string, pasts ...string) {
	t.Helper()
	var hashes [2]uint64
	for k, text := range pasts {
		h, m := script(t, text), c.Monitor()
		if v := follow(h, m); v.Level != OK {
			t.Errorf("%s: %+v too early", name, v)
		}
		hashes[k] = digest(m)
		if got, want := c.Check(script(t, text+"\n"+more)).Level, []Level{OK, Violated}[k]; got != want {
			t.Errorf("%s: the verdict is %v, want %v", name, got, want)
		}
	}
	if hashes[0] == hashes[1] {
		t.Errorf("the monitor of %s does not remember %s", c.Name(), name)
	}
}
