package checkers

import (
	"cmp"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Presence is the promise of a group that a member is in it. When the faults are over and nothing is left to happen,
// the znode of a member that has not left is there. It is the member's own unless the member was told that it is not;
// then another's is there, perhaps another member's of the same client. This is judged when the member leaves after a
// rest. Whenever its znode is made anew, it has the data that it had before.
//
// A member that was disconnected must have been told that it may no longer be one, ToldLost, by the time its session
// ends. It is excused if its session ends before it could know.
type Presence struct {
	Untold bool // nobody tells a member how its membership is: only the end is judged
}

// Name implements [Checker].
func (Presence) Name() string { return "presence" }

// Doc implements [Checker].
func (Presence) Doc() string {
	return "in the end a member that has not left has its znode, or knows that another has its name; a member that is " +
		"disconnected is told before its session ends; a znode that is made again has the data that it had"
}

// Needs implements [Declaring].
func (p Presence) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(memberWords, judged("begins a time in which everything settles, if the faults are over",
			Rest),
			tells("the member is told that it may be one no longer", ToldLost),
			tells("the member is told that it certainly is one again, by the znode in Path", ToldJoined)),
		Seen: []Need{Need{What: "a member that leaves after a rest, with the faults over",
			Hint: "record join with its Path and rest with Object.Invoke; let faults end earlier by " +
				"Scenario.SafetySteps", In: p.leavesRested}.during()},
	}
}

// Told with these operations tells a member that it may no longer be one, and that it certainly is one again.
const (
	ToldLost   = "lost"
	ToldJoined = "joined"
)

// Check implements [Checker].
func (p Presence) Check(h *history.History) Verdict { return check(h, p.Monitor()) }

// Monitor implements [Monitored].
func (p Presence) Monitor() Monitor { return &presences{Presence: p, owners: map[string]int32{}} }

// presences is the monitor of Presence.
type presences struct {
	sessionEvents
	Presence
	calm    bool
	owners  map[string]int32 // of znodes that exist: the client
	members []memberOf
	lapses
}

// memberOf is an object that has begun to join and has not left.
type memberOf struct {
	caller
	rested, lost, joined bool

	path, data string // of its znode
	made       bool   // its znode has been made
	shared     bool   // another object of the client has joined by the same path, or tried to
}

func (m *presences) Reset() {
	m.calm, m.members = false, m.members[:0]
	m.reset()
	clear(m.owners)
}

// Hash implements [Monitor]. The world knows who owns an ephemeral znode, but not who made a persistent one.
func (m *presences) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, x := range m.members {
		sum += printOf(m.members, x.caller).Bool(x.rested).Bool(x.lost).Bool(x.joined).String(x.data).Bool(x.made).
			Bool(x.shared).Bool(m.owners[x.path] == x.client)
	}
	return uint64(sum.Uint64(uint64(m.print())))
}

func (m *presences) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if x := m.step(e); x != nil && !m.Untold {
		return violated(m, i, "c%d was not told that it may be a member no longer by %s, whose session has ended, and was "+
			"disconnected before", x.client, x.path)
	}
	o := callerOf(e)
	k := find(m.members, o)
	switch {
	case e.Kind == history.Calm:
		m.calm = true
	case e.Kind == history.Created:
		m.owners[e.Path] = e.Client
		return m.made(i, e)
	case e.Kind == history.Deleted:
		delete(m.owners, e.Path)
	case e.Kind == history.Invoke && e.Op == Join:
		m.join(memberOf{caller: o, path: e.Path})
	case k < 0:
	case e.Kind == history.Return && e.Op == Join && e.Err != nil:
		m.members = forget(m.members, o)
	case e.Kind == history.Return && e.Op == Join:
		m.members[k].joined = true
		m.believe(e, k)
	case e.Kind == history.Told && (e.Op == ToldLost || e.Op == ToldJoined):
		m.members[k].lost = e.Op == ToldLost
		m.believe(e, k)
	case e.Kind == history.Invoke && e.Op == Rest:
		m.members[k].rested = m.calm
	case e.Kind == history.Invoke && e.Op == Leave:
		x := m.members[k]
		m.members = forget(m.members, o)
		m.end(e.Object)
		return m.judge(i, e, x)
	}
	return Verdict{}
}

// join notes that an object begins to join.
func (m *presences) join(x memberOf) {
	m.members = forget(m.members, x.caller)
	for k := range m.members {
		if y := &m.members[k]; y.client == x.client && y.path == x.path {
			x.shared, y.shared = true, true
		}
	}
	m.members = append(m.members, x)
}

// made judges the data of a znode that a member makes. Before its Join has succeeded, the znode may be from an earlier
// call.
func (m *presences) made(i int, e *history.Event) Verdict {
	for k := range m.members {
		switch x := &m.members[k]; {
		case x.client != e.Client || x.path != e.Path || x.shared:
		case x.joined && x.made && x.data != e.Data:
			return violated(m, i, "c%d is a member again by %s with the data %q, which were %q before", e.Client, e.Path, e.Data,
				x.data)
		default:
			x.made, x.data = true, e.Data
		}
	}
	return Verdict{}
}

// believe notes whether a member may believe that it is one: its Join has succeeded, and it was not told otherwise.
func (m *presences) believe(e *history.Event, k int) {
	if x := m.members[k]; x.joined && !x.lost {
		m.begin(claimOf(e))
	} else {
		m.end(e.Object)
	}
}

// by returns the path of the znode by which x is a member, if it leaves by e. A leave need not name it.
func (x *memberOf) by(e *history.Event) string { return cmp.Or(e.Path, x.path) }

// judge judges a member that leaves by event i.
func (p *presences) judge(i int, e *history.Event, x memberOf) Verdict {
	path := x.by(e)
	switch o := p.owners[path]; {
	case !x.rested || path == "":
	case o == 0:
		return violated(p, i, "c%d is a member that has not left, and there is no %s", e.Client, path)
	case o != e.Client && !x.lost:
		return violated(p, i, "c%d was told that it is a member by %s, which is of c%d", e.Client, path, o)
	case o == e.Client && x.lost && !x.shared: // else another object of the client may have the name
		return violated(p, i, "c%d was not told that it is a member again by %s", e.Client, path)
	}
	return Verdict{}
}

// leavesRested reports whether there was a member for Presence to judge.
func (p Presence) leavesRested(h *history.History) bool {
	m := p.Monitor().(*presences)
	return reaches(h, m, func(e *history.Event) bool {
		k := find(m.members, callerOf(e))
		return e.Kind == history.Invoke && e.Op == Leave && k >= 0 && m.members[k].rested && m.members[k].by(e) != ""
	})
}
