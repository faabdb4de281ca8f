package checkers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"zksim/model/history"
)

// beliefFamilies are of Belief.
var beliefFamilies = []family{
	{Belief{}, believedByFew(1), &beliefStage{}},
	{Belief{Leases: 2}, believedByFew(2), &beliefStage{}},
}

func TestTheMonitorOfBeliefAgreesWithLookingBack(t *testing.T) {
	long(t)
	for _, f := range beliefFamilies {
		t.Run(f.checker.Doc(), f.agrees)
	}
}

func TestTheMonitorOfBeliefRemembersEnough(t *testing.T) {
	long(t)
	for _, f := range beliefFamilies {
		t.Run(f.checker.Doc(), f.forgets)
	}
}

// beliefStage is the stage of a lock: who has claimed it and not given it up, by which znode, who was told that
// it is lost, and who has crashed.
type beliefStage struct {
	held, reads, lost [5]bool
	path              [5]string
	crashed           [4]bool
}

func (s *beliefStage) clone() stage { x := *s; return &x }

func (s *beliefStage) key() string { return fmt.Sprint(*s) }

func (s *beliefStage) propose(r *rand.Rand) history.Event {
	o := []int32{1, 2, 3, 1, 2, 3, 4}[r.IntN(7)]
	e := history.Event{Kind: history.Acquired, Client: holderOf[o], Object: o}
	switch k := r.IntN(16); {
	case k == 0 && r.IntN(3) == 0:
		return history.Event{Kind: history.Crashed, Client: e.Client}
	case k < 4:
		return history.Event{Kind: []history.Kind{history.Exceeded, history.Session}[k&1], Client: e.Client,
			Version: r.Int32N(5) / 4}
	case k == 4:
		e.Kind, e.Op, e.Path = history.Invoke, "break", lockPaths[r.IntN(len(lockPaths))]
	case s.held[o] && k < 10:
		e.Kind = []history.Kind{history.Lost, history.Released}[k&1]
	case s.held[o] && k < 13:
		e.Kind, e.Op = history.Invoke, "downgrade"
	case s.held[o]:
		e.Op, e.Path = "read", s.path[o]
	default:
		e.Op, e.Path = []string{"", "read"}[r.IntN(2)], lockPaths[r.IntN(len(lockPaths))]
	}
	return e
}

// lockPaths are those of a lock; that of one that nobody knows is empty.
var lockPaths = []string{"", "/l/0", "/l/1"}

// take accepts a claim of who has the lock only if it is that of a reader.
func (s *beliefStage) take(e *history.Event) bool {
	o := e.Object
	if s.crashed[e.Client] {
		return false
	}
	switch e.Kind {
	case history.Crashed:
		s.crashed[e.Client] = true
		for o, c := range holderOf {
			if c == e.Client {
				s.held[o], s.lost[o], s.reads[o], s.path[o] = false, false, false, ""
			}
		}
	case history.Acquired:
		if s.held[o] && (e.Op != "read" || e.Path != s.path[o]) {
			return false
		}
		s.held[o], s.lost[o], s.reads[o], s.path[o] = true, false, e.Op == "read", e.Path
	case history.Lost:
		ok := s.held[o]
		s.lost[o] = ok
		return ok
	case history.Invoke:
		return s.held[o] || e.Op == "break"
	case history.Released:
		if !s.held[o] {
			return false
		}
		s.held[o], s.lost[o], s.reads[o], s.path[o] = false, false, false, ""
	}
	return true
}

// believedByFew is Belief with that many leases.
func believedByFew(leases int) func(h *history.History) Level {
	return func(h *history.History) Level {
		for i := range h.Events {
			e := &h.Events[i]
			if e.Kind != history.Acquired {
				continue
			}
			n := 0
			for k := range i {
				x := &h.Events[k]
				if x.Object != e.Object && (leases > 1 || x.Client != e.Client) && (x.Op != "read" || e.Op != "read") &&
					believed(h, k, i) {
					n++
				}
			}
			if n >= leases && believed(h, i, i) {
				return Violated
			}
		}
		return OK
	}
}

// believed reports whether event k is a claim that counts, and still does at event i.
func believed(h *history.History, k, i int) bool {
	x := &h.Events[k]
	return x.Kind == history.Acquired && before(h, i, func(e *history.Event) bool {
		switch e.Kind {
		case history.Acquired, history.Released, history.Lost:
			return e.Object == x.Object
		case history.Exceeded, history.Crashed:
			return e.Client == x.Client
		}
		return e.Op == "break" && e.Path == x.Path || e.Op == "downgrade" && e.Object == x.Object
	}) <= k && !freed(h, k)
}

// freed reports whether the claim of event i is made after somebody began to break it, or after the end of a session
// of which its client could not know and its object was told nothing since.
func freed(h *history.History, i int) bool {
	x := &h.Events[i]
	told := before(h, i, func(e *history.Event) bool {
		return e.Object == x.Object && (e.Kind == history.Lost || e.Kind == history.Released)
	})
	for k := range i {
		switch e := &h.Events[k]; {
		case e.Op == "break" && e.Path == x.Path, e.Kind == history.Exceeded && e.Client == x.Client && !heardSince(h, k, i),
			k > told && e.Kind == history.Acquired && e.Object == x.Object && freedOf(h, k, i):
			return true
		}
	}
	return false
}

// freedOf reports whether the claim of event k has been excused by event i because of its session.
func freedOf(h *history.History, k, i int) bool {
	for j := range i {
		e := &h.Events[j]
		if e.Kind == history.Exceeded && e.Client == h.Events[k].Client &&
			(j < k && !heardSince(h, j, k) || j > k && believed(h, k, j)) {
			return true
		}
	}
	return false
}

// heardSince reports whether the connection whose session ended at event k has heard something before event i.
func heardSince(h *history.History, k, i int) bool {
	return before(h, i, func(e *history.Event) bool {
		return e.Kind == history.Session && connectionOf(e) == connectionOf(&h.Events[k])
	}) > k
}

func TestTheObjectsOfAClientThatClaimByOnePathAreToldApart(t *testing.T) {
	const claims = `
		session c1 StateHasSession s11
		created c1 /l/a z1 s11
		acquired c1 %s /l/a
		deleted c2 /l/a z2 s11
		created c1 /l/a z3 s11
		acquired c1 %s /l/a
	`
	remembersRare(t, Claim{}, "which of two objects still believes", "lost c1 o4\ndeleted c0 /l/a z4 s11",
		fmt.Sprintf(claims, "o1", "o4"), fmt.Sprintf(claims, "o4", "o1"))
	const beliefs = `
		acquired c1 %s
		exceeded c1
		session c1 StateHasSession s21
		acquired c1 %s
	`
	remembersRare(t, Belief{}, "which of two beliefs is excused", "released c1 o4\nacquired c2 o2",
		fmt.Sprintf(beliefs, "o1", "o4"), fmt.Sprintf(beliefs, "o4", "o1"))
	remembersRare(t, Belief{}, "which of two writers becomes a reader", "released c1 o4\nacquired c2 o2",
		"acquired c1 o1\nacquired c1 o4\ninvoke c1 o1 downgrade", "acquired c1 o1\nacquired c1 o4\ninvoke c1 o4 downgrade")
	remembersRare(t, Belief{}, "by which path a writer becomes a reader", "released c1 o4\nacquired c2 o2",
		"acquired c1 o1 /a\nacquired c1 o4 /b\ninvoke c1 o1 downgrade",
		"acquired c1 o1 /a\nacquired c1 o4 /b\ninvoke c1 o4 downgrade")
}
