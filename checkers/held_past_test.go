package checkers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"zksim/model/history"
)

// heldFamilies are of checkers that look at the znodes of a lock.
var heldFamilies = []family{
	{Ownership{}, ledOnce, &heldStage{paths: heldPaths}},
	{Ownership{Leases: 2}, func(h *history.History) Level { return ledByFew(h, 2) },
		&heldStage{paths: [3]string{"/l/0", "/l/1", "/l/2"}}},
	{Fenced{}, fencedByZxid, &heldStage{paths: heldPaths, writes: true}},
}

func TestTheMonitorsOfALockAgreeWithLookingBack(t *testing.T) {
	long(t)
	for _, f := range heldFamilies {
		t.Run(f.checker.Name(), f.agrees)
	}
}

func TestTheMonitorsOfALockRememberEnough(t *testing.T) {
	long(t)
	for _, f := range heldFamilies {
		t.Run(f.checker.Name(), f.forgets)
	}
}

// heldStage is the stage of a lock: which znodes there are, of whom and since when, and who claims it by which of them.
type heldStage struct {
	writes  bool // to a resource
	paths   [3]string
	changes int64
	made    [3]int64  // the zxid that made each znode; 0: it is not there
	maker   [3]int32  // whose it is, or was, if that client may still claim it
	given   [3]bool   // it was given up
	used    [5]bool   // an object has begun something
	path    [5]string // by which it holds the lock; "" if it does not
}

var heldPaths = [3]string{"/l/0", "/l/read-1", "/m/2"}

func (s *heldStage) clone() stage { x := *s; return &x }

func (s *heldStage) key() string { return fmt.Sprint(*s) }

func (s *heldStage) propose(r *rand.Rand) history.Event {
	o, i := []int32{1, 2, 1, 2, 4}[r.IntN(5)], r.IntN(len(s.paths))
	e := history.Event{Client: holderOf[o], Object: o, Path: s.paths[i]}
	switch k := r.IntN(12); {
	case k < 3 && (s.made[i] == 0 || k == 0):
		e.Kind, e.Object, e.Session, e.Zxid = history.Created, 0, int64(e.Client), s.changes+1
		if s.made[i] != 0 {
			e.Kind = history.Deleted
		}
	case s.path[o] == "" && k < 5:
		e.Kind, e.Op = history.Invoke, "lock"
	case s.path[o] == "":
		e.Kind = history.Acquired
		if r.IntN(2) == 0 {
			e.Op = "read"
		}
	case s.writes && k < 9:
		e.Kind, e.OK, e.Path = history.Write, k < 8, ""
		if r.IntN(3) == 0 {
			e.Op = "read"
		}
	case k < 10:
		e.Kind, e.Path = history.Released, ""
	case k < 11:
		e.Kind, e.Op, e.Path = history.Invoke, "downgrade", ""
	default:
		e.Kind, e.Op, e.Path = history.Acquired, "read", s.path[o]
	}
	return e
}

// take accepts a claim by a znode that its client has made last, unless that is gone and was given up.
func (s *heldStage) take(e *history.Event) bool {
	o := e.Object
	i := 0
	for k, path := range s.paths {
		if path == e.Path {
			i = k
		}
	}
	switch e.Kind {
	case history.Created:
		if s.made[i] != 0 || e.Zxid != s.changes+1 {
			return false
		}
		s.made[i], s.maker[i], s.given[i], s.changes = e.Zxid, e.Client, false, e.Zxid
	case history.Deleted:
		if s.made[i] == 0 || e.Zxid != s.changes+1 {
			return false
		}
		s.made[i], s.changes = 0, e.Zxid
		s.forget()
	case history.Invoke:
		if (e.Op == "downgrade") != (s.path[o] != "") {
			return false
		}
		s.used[o] = true
	case history.Acquired:
		if !s.used[o] || s.maker[i] != e.Client || s.path[o] != "" && (s.path[o] != e.Path || e.Op != "read") {
			return false
		}
		s.path[o] = e.Path
	case history.Write, history.Released:
		if s.path[o] == "" {
			return false
		}
		if e.Kind == history.Released {
			for k, path := range s.paths {
				s.given[k] = s.given[k] || path == s.path[o] && s.maker[k] == e.Client
			}
			s.path[o] = ""
			s.forget()
		}
	}
	return true
}

// forget forgets whose the znodes were that nobody can claim any more.
func (s *heldStage) forget() {
	for i := range s.paths {
		if s.made[i] == 0 && s.given[i] {
			s.maker[i], s.given[i] = 0, false
		}
	}
}

// fencedByZxid is Fenced.
func fencedByZxid(h *history.History) Level {
	since := func(i int) int64 {
		claim := before(h, i, func(e *history.Event) bool {
			return e.Kind == history.Acquired && e.Object == h.Events[i].Object
		})
		return h.Events[before(h, claim, func(e *history.Event) bool {
			return e.Kind == history.Created && e.Path == h.Events[claim].Path && e.Client == h.Events[claim].Client
		})].Zxid
	}
	for i := range h.Events {
		e, latest := &h.Events[i], true
		if e.Kind != history.Write {
			continue
		}
		for k := range i {
			x := &h.Events[k]
			if x.Kind != history.Write || !x.OK || since(k) <= since(i) {
				continue
			}
			latest = false
			if e.OK && (e.Op != "read" || x.Op != "read") {
				return Violated
			}
		}
		if !e.OK && latest {
			return Violated
		}
	}
	return OK
}

func TestTheMonitorsOfALockTellTheObjectsOfAClientApart(t *testing.T) {
	const claims = `
		created c1 /l/a z1 s11
		acquired c1 %s /l/a
		deleted c2 /l/a z2 s11
		created c2 /m/b z3 s12
		acquired c2 o2 /m/b
		write c2 o2 ok
		created c1 /l/a z4 s11
		acquired c1 %s /l/a
	`
	remembersRare(t, Fenced{}, "which of two objects came later", "write c1 o1 ok", fmt.Sprintf(claims, "o4", "o1"),
		fmt.Sprintf(claims, "o1", "o4"))
	const owned = `
		created c1 /l/a z1 s11
		acquired c1 %s /l/a
		deleted c2 /l/a z2 s11
		created c1 /l/a z3 s11
		acquired c1 %s /l/a
	`
	remembersRare(t, Ownership{}, "which of two objects still owns",
		"released c1 o4\ncreated c2 /m/b z4 s12\nacquired c2 o2 /m/b",
		fmt.Sprintf(owned, "o1", "o4"), fmt.Sprintf(owned, "o4", "o1"))
}

func TestTheMonitorOfFencedRemembersWhatIsRare(t *testing.T) {
	const more = "acquired c1 o1 /l/a\nwrite c1 o1 ok"
	const wrote = "\nacquired c2 o2 /m/b\nwrite c2 o2 ok\n"
	const other = "created c2 /m/b z1 s12" + wrote
	remembersRare(t, Fenced{}, "when a znode was made that is gone", more,
		"created c3 /x z1\ncreated c2 /m/b z2\ncreated c1 /l/a z3\ndeleted /x z4\ndeleted /l/a z5"+wrote,
		"created c1 /l/a z1\ncreated c2 /m/b z2\ncreated c3 /x z3\ndeleted /l/a z4\ndeleted /x z5"+wrote)
	remembersRare(t, Fenced{}, "who made a znode that is gone", more, other+"created c1 /l/a z2\ndeleted /l/a z3",
		other+"created c3 /l/a z2\ndeleted /l/a z3")
	remembersRare(t, Fenced{}, "which znode is gone", more, other+"created c1 /l/a z2\ndeleted /l/a z3",
		other+"created c1 /l/b z2\ndeleted /l/b z3")
}

func TestTheMonitorOfOwnershipRemembersWhatIsRare(t *testing.T) {
	const claims, late = "acquired c1 o1 /l/a", "created c2 /l/b z3 s12\nacquired c2 o2 /l/b"
	const two = "invoke c1 o1 lock\ninvoke c1 o4 lock\ncreated c1 /l/a z1 s11\ndeleted /l/a z2\n"
	const behind = "invoke c1 o1 lock\ncreated c2 %s z1 s12\ncreated c1 /l/a z2 s11\ndeleted /l/a z3\ndeleted %[1]s z4"
	remembersRare(t, Ownership{}, "whether a znode that is gone was first", claims,
		"invoke c1 o1 lock\ncreated c2 /l/read-b z1 s12\ndeleted /l/read-b z2\ncreated c1 /l/a z3 s11\ndeleted /l/a z4",
		fmt.Sprintf(behind, "/l/read-b"))
	remembersRare(t, Ownership{}, "whether it was first for a reader", "acquired c1 o1 read /l/a",
		fmt.Sprintf(behind, "/l/read-b"), fmt.Sprintf(behind, "/l/b"))
	remembersRare(t, Ownership{}, "whose call began before a znode was gone", claims, two+"invoke c1 o4 lock",
		two+"invoke c1 o1 lock")
	remembersRare(t, Ownership{}, "who made a persistent znode", claims, "created c1 /l/a z1", "created c2 /l/a z1")
	remembersRare(t, Ownership{}, "what was made in the same txn", late,
		"created c1 /l/a z1 s11\ncreated c1 /l/b z1 s11\ndeleted /l/b z2",
		"created c1 /l/a z1 s11\ncreated c1 /l/x z1 s11\ndeleted /l/x z2")
	remembersRare(t, Ownership{}, "what was made before it in the same txn", late,
		"created c1 /l/b z1 s11\ncreated c1 /l/a z1 s11\ndeleted /l/b z2",
		"created c1 /l/x z1 s11\ncreated c1 /l/a z1 s11\ndeleted /l/x z2")
}

func TestTheMonitorOfLostRevokeRemembersWhichZnodeSomebodyAskedFor(t *testing.T) {
	const asked = "created c1 /l/a z1 s11\ninvoke c2 o2 break /l/a\n"
	remembersRare(t, LostRevoke{}, "whether another znode has come", "return c2 o2 break /l/a",
		asked+"deleted c1 /l/a z2\ncreated c1 /l/a z3 s11", asked)
}

func TestTheMonitorsOfLapsesRememberWhoWasTold(t *testing.T) {
	const ends = "session c1 StateDisconnected s11\ndeleted c0 /a z2 s11"
	const enters = "session c1 StateHasSession s11\ninvoke c1 o1 enter v1\ncreated c1 /a z1 s11\n" +
		"return c1 o1 enter /a v1\n"
	remembersRare(t, Exit{}, "who was told of its loss", ends, enters+"lost c1 o1", enters)
	const joins = "session c1 StateHasSession s11\ninvoke c1 o1 join /a\ninvoke c1 o4 join /a\ncreated c1 /a z1 s11\n"
	const twice = joins + "return c1 %s join /a\ndeleted c2 /a z2 s11\ncreated c1 /a z3 s11\nreturn c1 %s join /a"
	remembersRare(t, Presence{}, "which of two members still believes", "told c1 o4 lost /a\n"+
		"session c1 StateDisconnected s11\ndeleted c0 /a z4 s11", fmt.Sprintf(twice, "o1", "o4"),
		fmt.Sprintf(twice, "o4", "o1"))
}

func TestTheMonitorOfHerdRemembersWhichChangeOfAListWasNotified(t *testing.T) {
	const made = "created c1 /l/0 z1\ncreated c1 /l/1 z2\ncreated c1 /l/2 z3\n"
	remembersRare(t, Herd{PerEvent: 1}, "which change it was", "notify c1 child /l z2",
		made+"notify c2 child /l z1\nnotify c3 child /l z3", made+"notify c3 child /l z3\nnotify c2 child /l z2")
}
