package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// Presence is the promise of a group that a member is in it: when the faults are
// over and nothing is left to happen, the znode of a member that has not left is
// there, and is its own unless the member was told that it is not; then another's
// is there. It is judged when the member leaves after a rest.
type Presence struct{}

// Name implements [Checker].
func (Presence) Name() string { return "presence" }

// Doc implements [Checker].
func (Presence) Doc() string {
	return "in the end a member that has not left has its znode, or knows that another has its name"
}

// Told with these operations tells a member that it may not be one any more, and
// that it certainly is one again.
const (
	ToldLost   = "lost"
	ToldJoined = "joined"
)

// Check implements [Checker].
func (p Presence) Check(h *history.History) Verdict { return check(h, p.Monitor()) }

// Monitor implements [Monitored].
func (Presence) Monitor() Monitor { return &presences{owners: map[string]int32{}} }

// presences is the monitor of Presence.
type presences struct {
	recipeEvents
	Presence
	calm    bool
	owners  map[string]int32 // of znodes that exist: the client
	members []memberOf
}

// memberOf is an object that has begun to join and has not left.
type memberOf struct {
	caller
	rested, lost bool
}

// Reset implements [Monitor].
func (m *presences) Reset() {
	m.calm, m.members = false, m.members[:0]
	clear(m.owners)
}

// Hash implements [Monitor]. Who owns the znodes is no part of it: these say it.
func (m *presences) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, x := range m.members {
		sum += printOf(m.members, x.caller).Bool(x.rested).Bool(x.lost)
	}
	return uint64(sum)
}

// Step implements [Monitor].
func (m *presences) Step(h *history.History, i int) Verdict {
	if !h.Txns {
		return Verdict{}
	}
	e := &h.Events[i]
	o := callerOf(e)
	k := find(m.members, o)
	switch {
	case e.Kind == history.Calm:
		m.calm = true
	case e.Kind == history.Created:
		m.owners[e.Path] = e.Client
	case e.Kind == history.Deleted:
		delete(m.owners, e.Path)
	case e.Kind == history.Invoke && e.Op == Join:
		m.members = append(forget(m.members, o), memberOf{caller: o})
	case k < 0:
	case e.Kind == history.Return && e.Op == Join && e.Err != nil:
		m.members = forget(m.members, o)
	case e.Kind == history.Told && (e.Op == ToldLost || e.Op == ToldJoined):
		m.members[k].lost = e.Op == ToldLost
	case e.Kind == history.Invoke && e.Op == Rest:
		m.members[k].rested = m.calm
	case e.Kind == history.Invoke && e.Op == Leave:
		x := m.members[k]
		m.members = forget(m.members, o)
		return m.judge(i, e, x)
	}
	return Verdict{}
}

// judge judges a member that leaves by event i.
func (p *presences) judge(i int, e *history.Event, x memberOf) Verdict {
	switch o := p.owners[e.Path]; {
	case !x.rested:
	case o == 0:
		return violated(p, i, "c%d is a member that has not left, and there is no %s", e.Client, e.Path)
	case o != e.Client && !x.lost:
		return violated(p, i, "c%d was told that it is a member by %s, which is of c%d", e.Client, e.Path, o)
	case o == e.Client && x.lost:
		return violated(p, i, "c%d was not told that it is a member again by %s", e.Client, e.Path)
	}
	return Verdict{}
}
