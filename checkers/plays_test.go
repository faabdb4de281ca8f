package checkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// play is a sort of histories, and checkers that judge them.
type play struct {
	name     string
	checkers []Monitored
	naive    func(c Monitored, h *history.History) Level // the property said in another way
	next     func(r *rand.Rand, s *scene) history.Event
	most     int // events of a history
	bases    int // histories to begin with
}

var plays = []play{
	{"refusal", []Monitored{Refusal{}, Refusal{Leases: 2}}, naiveRefusal, nextOfRefusal, 14, 700},
	{"revoke", []Monitored{LostRevoke{}}, naiveLostRevoke, nextOfRevoke, 12, 700},
	{"acknowledged", []Monitored{Acknowledged{}}, naiveAcknowledged, nextOfElection, 20, 2500},
	{"herd", []Monitored{Herd{PerEvent: 1}, Herd{PerEvent: 2}, Herd{PerEvent: 1, InVain: true}}, naiveHerd, nextOfHerd, 12,
		700},
	{"stale leader", []Monitored{StaleLeader{}}, naiveStaleLeader, nextOfMaster, 12, 700},
	{"overdue", []Monitored{Overdue{}}, naiveOverdue, nextOfMonitor, 10, 700},
	{"taken", []Monitored{Taken{}}, naiveTaken, nextOfTaken, 14, 700},
}

func nextOfRefusal(r *rand.Rand, s *scene) history.Event {
	kind := []string{"read", "write"}[r.IntN(2)]
	path := fmt.Sprintf("/l/x-%s-%d", kind, r.IntN(2))
	switch k := r.IntN(16); {
	case k < 4:
		return s.create(r, path)
	case k < 7 && len(s.znodes) > 0:
		return s.remove(r)
	case k < 11:
		return s.invoke(r, []string{"trylock", "tryrlock", "tryrlock", "lock"}[r.IntN(4)], "")
	case k == 11 && r.IntN(2) == 0:
		return history.Event{Kind: history.Crashed, Client: 1 + r.Int32N(3)}
	case k == 12:
		return s.answer(r, nil)
	}
	return s.answer(r, zk.ErrNodeExists)
}

func nextOfTaken(r *rand.Rand, s *scene) history.Event {
	path := []string{"/g/a", "/g/b"}[r.IntN(2)]
	c := 1 + r.Int32N(3)
	switch k := r.IntN(16); {
	case k < 3:
		return s.create(r, path)
	case k < 6 && len(s.znodes) > 0:
		return s.remove(r)
	case k < 11:
		return s.invoke(r, []string{Join, Join, Join, Leave}[r.IntN(4)], path)
	case k == 11:
		return history.Event{Kind: history.Session, Client: c, Session: int64(10+c) + 10*r.Int64N(2)}
	case k == 12 && r.IntN(2) == 0:
		return history.Event{Kind: history.Crashed, Client: c}
	case k == 13:
		e := s.answer(r, []error{nil, zk.ErrConnectionClosed}[r.IntN(2)])
		e.OK = false
		return e
	}
	return s.answer(r, zk.ErrNodeExists)
}

func nextOfRevoke(r *rand.Rand, s *scene) history.Event {
	path := fmt.Sprintf("/l/%d", r.IntN(2))
	switch k := r.IntN(16); {
	case k < 3 && !s.calm:
		return history.Event{Kind: history.Calm}
	case k == 0:
		return s.create(r, path)
	case k < 3 && len(s.znodes) > 0:
		return s.remove(r)
	case k == 3:
		return history.Event{Kind: history.Told, Op: "revoked", Path: path, Client: 1, Object: 1}
	case k == 4 && r.IntN(2) == 0:
		return history.Event{Kind: history.Crashed, Client: 1 + r.Int32N(3)}
	case k < 9:
		return s.invoke(r, []string{"hold", "hold", "hold", "revoke", "break"}[r.IntN(5)], path)
	}
	e := s.answer(r, context.DeadlineExceeded)
	if e.Op != "hold" && r.IntN(4) > 0 {
		e.Err = nil
	}
	return e
}

func nextOfElection(r *rand.Rand, s *scene) history.Event {
	switch k := r.IntN(20); {
	case k < 3:
		e := s.create(r, fmt.Sprintf("/e/%d", r.IntN(2)))
		e.Session, e.Zxid = int64(10+e.Client), s.zxid+1
		return e
	case k < 5 && len(s.znodes) > 0:
		return s.remove(r)
	case k < 8:
		if e, ok := pick(r, s.znodes); ok && r.IntN(4) > 0 {
			return claimed(e)
		}
		if e, ok := pick(r, s.changesOf); ok && e.Kind == history.Created {
			return claimed(e)
		}
	case k < 11:
		if e, ok := pick(r, s.claims); ok {
			e.Kind, e.Op = history.Invoke, "acknowledge"
			return e
		}
	case k < 14:
		return s.invoke(r, "leader", "")
	case k == 14:
		if e, ok := pick(r, s.claims); ok && r.IntN(2) == 0 {
			return history.Event{Kind: history.Released, Client: e.Client, Object: e.Object}
		}
		if r.IntN(4) == 0 {
			return history.Event{Kind: history.Crashed, Client: 1 + r.Int32N(3)}
		}
	}
	e := s.answer(r, []error{nil, errors.New("no leader")}[r.IntN(2)])
	if e.Kind == history.Return && e.Op == "leader" {
		e.OK = r.IntN(8) > 0 && e.Err != nil
		if x, ok := pick(r, s.changesOf); ok && e.Err == nil {
			e.Value = x.Zxid
		}
	} else if r.IntN(2) == 0 {
		e.Err, e.OK = nil, false
	}
	return e
}

// claimed returns the claim to a znode by an object of its author.
func claimed(e history.Event) history.Event {
	return history.Event{Kind: history.Acquired, Client: e.Client, Object: e.Client, Path: e.Path, Value: e.Zxid}
}

func nextOfHerd(r *rand.Rand, s *scene) history.Event {
	path := []string{"/l", "/l/0", "/l/1"}[r.IntN(3)]
	c := 1 + r.Int32N(3)
	switch k := r.IntN(16); {
	case k < 3:
		return s.create(r, path)
	case k < 5 && len(s.znodes) > 0:
		return s.remove(r)
	case k == 5 && len(s.znodes) > 0:
		e, _ := pick(r, s.znodes)
		return history.Event{Kind: history.Changed, Client: c, Path: e.Path, Zxid: s.zxid + 1}
	case k < 12 && len(s.changesOf) > 0:
		e, _ := pick(r, s.changesOf)
		n := history.Event{Kind: history.Notify, Client: c, Op: e.Kind.String(), Path: e.Path, Zxid: e.Zxid}
		switch {
		case r.IntN(8) == 0:
			n.Zxid = 0 // a reconnect
		case r.IntN(4) == 0 && e.Kind != history.Changed && parent(e.Path) != "":
			n.Op, n.Path = "child", parent(e.Path)
		}
		return n
	case k == 12:
		if e, ok := pick(r, s.changesOf); ok && e.Kind == history.Created {
			return claimed(e)
		}
	case k == 13:
		return s.invoke(r, "lock", "")
	case k == 14:
		return s.answer(r, zk.ErrConnectionClosed)
	}
	return s.answer(r, nil)
}

func nextOfMaster(r *rand.Rand, s *scene) history.Event {
	path := []string{"/p/candidates/0", "/p/candidates/1", "/p/candidates/2", "/p/assign/w/t", "/p/assign/w/u",
		"/p/assign/w"}[r.IntN(6)]
	if r.IntN(3) == 0 && len(s.znodes) > 0 {
		return s.remove(r)
	}
	e := s.create(r, path)
	if x := s.znodes; len(x) > 0 && r.IntN(2) == 0 {
		e.Client = x[0].Client
	}
	e.Session = int64(10 + e.Client)
	return e
}

func nextOfMonitor(r *rand.Rand, s *scene) history.Event {
	e := history.Event{Kind: history.Return, Client: 2, Object: 2, Op: "held", Path: fmt.Sprintf("/l/%d", r.IntN(6)),
		Value: 2 + r.Int64N(3)}
	if r.IntN(2) == 0 {
		e.Value--
		e.Kind, e.Client, e.Object, e.Op = history.Told, 1, 1, "overdue"
		if r.IntN(3) == 0 { // another monitor
			e.Client, e.Object = 3, 3
		}
	}
	return e
}

// play makes n events that fit.
func (f *play) play(r *rand.Rand, s *scene, n int) (list []history.Event) {
	for range 20 * n {
		if len(list) == n {
			break
		}
		if e := f.next(r, s); e.Kind != history.Fault && s.fits(&e) {
			s.take(&e)
			list = append(list, e)
		}
	}
	return list
}

// variants returns histories that differ in little: an event or an operation is left out,
// neighbours are swapped, an object or a znode is another.
func variants(r *rand.Rand, events []history.Event) (all [][]history.Event) {
	for i := range events {
		list := slices.Delete(slices.Clone(events), i, i+1)
		if e := events[i]; e.Kind == history.Invoke {
			if k := slices.IndexFunc(list[i:], by(e.Object)); k >= 0 {
				list = slices.Delete(list, i+k, i+k+1)
			}
		}
		all = append(all, list)
		k := r.IntN(len(events))
		list = slices.Clone(events)
		list[i], list[k] = list[k], list[i]
		all = append(all, list)
		if list = slices.Clone(events); i > 0 {
			list[i-1], list[i] = list[i], list[i-1]
			all = append(all, list)
		}
		if list = slices.Clone(events); r.IntN(2) == 0 {
			list[i].Path, list[i].Value = list[k].Path, list[k].Value
		} else {
			list[i].Object, list[i].Client = list[k].Object, list[k].Client
		}
		all = append(all, list)
	}
	return all
}

// historyOf returns the history of these events.
func historyOf(lists ...[]history.Event) *history.History {
	h := &history.History{}
	h.Reset(3)
	h.Txns = true
	h.Events = slices.Concat(lists...)
	return h
}

// later returns how many changesOf came after the one of that zxid that fire the same watches.
func later(events []history.Event, path string, zxid int64) (n int) {
	for i := range events {
		e := &events[i]
		if changesOf(e) && e.Zxid > zxid && (e.Path == path || e.Kind != history.Changed && parent(e.Path) == path) {
			n++
		}
	}
	return n
}

// translated returns what goes on after a as it goes on after b, where znodes have other
// zxids. It is false if that means nothing there.
func translated(next, a, b []history.Event) (list []history.Event, ok bool) {
	for _, e := range next {
		switch {
		case e.Kind == history.Notify && e.Zxid > 0:
			e.Zxid, ok = counterpart(a, b, e.Zxid, e.Path, e.Op)
			if !ok {
				return nil, false
			}
		case showsToken(&e) && e.Value > 0:
			e.Value, _ = counterpart(a, b, e.Value, "", "created")
		}
		list = append(list, e)
	}
	_, fits := stageOf(slices.Concat(b, list))
	return list, fits
}

// showsToken reports whether the value of e is a token, which is a zxid.
func showsToken(e *history.Event) bool {
	return e.Op == "acknowledge" || e.Op == "leader" || e.Kind == history.Acquired
}

// counterpart returns the zxid in b of what is in a a change of that zxid; of the path, or any.
func counterpart(a, b []history.Event, zxid int64, path, op string) (int64, bool) {
	k := slices.IndexFunc(a, func(e history.Event) bool {
		return changesOf(&e) && e.Zxid == zxid && (path == "" || op == "child" || e.Path == path)
	})
	if k < 0 {
		return zxid, zxid >= future
	}
	if path == "" {
		path = a[k].Path
	}
	n := later(a, path, zxid)
	for i := range b {
		e := &b[i]
		if e.Kind == a[k].Kind && (e.Path == path || op == "child" && parent(e.Path) == path) &&
			later(b, path, e.Zxid) == n {
			return e.Zxid, true
		}
	}
	return 0, false
}

const future = 1000 // the first zxid after a beginning

// TestWhatMonitorsForgetDoesNotMatter takes beginnings of histories after which the
// world knows the same and a monitor remembers the same, and goes on after both in the
// same way: then both are violated or neither is. It also compares all verdicts with those
// of the property said in another way.
func TestWhatMonitorsForgetDoesNotMatter(t *testing.T) {
	long(t)
	for _, f := range plays {
		for _, c := range f.checkers {
			t.Run(fmt.Sprintf("%s %+v", f.name, c), func(t *testing.T) { f.test(t, c) })
		}
	}
}

// legal returns how many events m takes before it finds a violation.
func legal(m Monitor, events []history.Event) int {
	h := historyOf(events)
	for i := range h.Events {
		if m.Step(h, i).Level != OK {
			return i
		}
	}
	return len(events)
}

func (f *play) test(t *testing.T, c Monitored) {
	r := rand.New(rand.NewPCG(7, 8))
	groups := map[string][][]history.Event{}
	pairs, levels := 0, map[Level]int{}
	take := func(a []history.Event) {
		s, fits := stageOf(a)
		if !fits {
			return
		}
		m := c.Monitor()
		if legal(m, a) < len(a) {
			return
		}
		key := fmt.Sprintln(digest(m), s.key())
		for _, b := range groups[key] {
			if slices.Equal(a, b) {
				return
			}
		}
		for _, b := range groups[key] {
			for range 4 {
				s, _ := stageOf(a)
				s.zxid, s.last = future, history.Event{}
				next := f.play(r, s, 1+r.IntN(8))
				same, ok := translated(next, a, b)
				if !ok {
					continue
				}
				pairs++
				levels[f.compare(t, c, a, b, next, same)]++
			}
		}
		if len(groups[key]) < 4 {
			groups[key] = append(groups[key], a)
		}
	}
	for range f.bases {
		a := f.play(r, &scene{}, 1+r.IntN(f.most))
		a = a[:legal(c.Monitor(), a)]
		take(a)
		for _, b := range variants(r, a) {
			take(b)
		}
	}
	t.Logf("%d groups, %d pairs, %v", len(groups), pairs, levels)
	if pairs < 10_000 || levels[OK] < pairs/10 || levels[Violated] < pairs/20 {
		t.Errorf("%d pairs, of which %v: too few to mean anything", pairs, levels)
	}
}

// compare goes on after a and b and returns the level of the verdicts, which must agree.
func (f *play) compare(t *testing.T, c Monitored, a, b, nextA, nextB []history.Event) Level {
	t.Helper()
	show := func() {
		for _, list := range [][]history.Event{a, b, nextA, nextB} {
			t.Log("--")
			for _, e := range list {
				t.Log(e, "object", e.Object, "value", e.Value)
			}
		}
	}
	var got [2]Level
	for k, h := range []*history.History{historyOf(a, nextA), historyOf(b, nextB)} {
		got[k] = c.Check(h).Level
		if want := f.naive(c, h); got[k] != want {
			show()
			t.Fatalf("history %d: the checker says %v, and should say %v", k, got[k], want)
		}
		if online := follow(h, c.Monitor()).Level; online > got[k] {
			show()
			t.Fatalf("history %d: the monitor says %v, the checker %v", k, online, got[k])
		}
	}
	if got[0] != got[1] {
		show()
		t.Fatalf("the monitor remembers the same after both, and goes on to say %v and %v", got[0], got[1])
	}
	return got[0]
}

// TestMonitorsDoNotRememberNumbers gives objects and txns other numbers, in the same order:
// the hashes stay.
func TestMonitorsDoNotRememberNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, f := range plays {
		for _, c := range f.checkers {
			hashes := map[uint64]bool{}
			for range 500 {
				events := f.play(r, &scene{}, f.most)
				events = events[:legal(c.Monitor(), events)]
				a, b := historyOf(events), historyOf(events)
				for i := range b.Events {
					e := &b.Events[i]
					e.Step = r.Int32N(100)
					if e.Object > 0 {
						e.Object += 20
					}
					if e.Zxid > 0 {
						e.Zxid = 3*e.Zxid + 7
					}
					if showsToken(e) && e.Value > 0 {
						e.Value = 3*e.Value + 7
					}
				}
				m, n := c.Monitor(), c.Monitor()
				for i := range events {
					m.Step(a, i)
					n.Step(b, i)
					if hashes[digest(m)] = true; digest(m) != digest(n) {
						t.Fatalf("%s: another hash after %v", c.Name(), b.Events[:i+1])
					}
				}
			}
			if _, constant := c.(StaleLeader); len(hashes) < 20 && !constant {
				t.Errorf("%s: only %d hashes", c.Name(), len(hashes))
			}
		}
	}
}
