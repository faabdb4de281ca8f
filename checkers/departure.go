package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Departure is the promise of a group that a live member is a member: nobody
// deletes its znode before it leaves, and nobody is told that it is gone unless
// it was.
//
// A membership is from the Return of "join" without an error to the Invoke of
// "leave", of one object.
type Departure struct{}

// Name implements [Checker].
func (Departure) Name() string { return "departure" }

// Doc implements [Checker].
func (Departure) Doc() string { return "no member departs while its session lives and it has not left" }

// Needs implements [Declaring].
func (Departure) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(memberWords, judged("a watcher of the group in Path", WatchMembers),
			tells("the watcher tells that the znode in Path is gone", ToldGone),
			[]Word{{ToldLost, Telling, true, "is for presence"}, {ToldJoined, Telling, true, "is for presence"}}),
		Seen: []Need{some("a join without an error", "record it with Object.Record and its Path", succeeds(Join))},
	}
}

// The operations of members in a history; the Path is that of the member's znode.
const (
	Join  = "join"
	Leave = "leave"
)

// Check implements [Checker].
func (d Departure) Check(h *history.History) Verdict { return check(h, d.Monitor()) }

// Monitor implements [Monitored].
func (Departure) Monitor() Monitor { return &departures{} }

// departures is the monitor of Departure.
type departures struct {
	recipeEvents
	Departure
	seats    []seat
	members  []caller // that have not left
	watchers []caller
	tolds    []farewell
}

// seat is the znode of a member, or of another that has the name.
type seat struct {
	path   string
	member caller // that has joined by it last, if it has not left
	maker  int32  // while it exists: the client
	ends   int    // how often it was deleted, or may have been
}

// farewell is how often a watcher told that a znode is gone.
type farewell struct {
	told
	times int
}

func (m *departures) Reset() {
	m.seats, m.members, m.watchers, m.tolds = m.seats[:0], m.members[:0], m.watchers[:0], m.tolds[:0]
}

// Hash implements [Monitor]. Who made the znodes that exist is no part of it: these say it.
func (m *departures) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for i := range m.seats {
		x := &m.seats[i]
		sum += printOf(m.members, x.member).String(x.path).Uint64(uint64(x.ends))
	}
	for _, w := range m.watchers {
		who := printOf(m.watchers, w)
		for _, x := range m.tolds {
			if x.object == w.object {
				sum += who.Uint64(uint64(x.print().Uint64(uint64(x.times))))
			}
		}
	}
	return uint64(sum)
}

func (m *departures) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch o := callerOf(e); {
	case e.Kind == history.Return && e.Op == Join && e.Err == nil:
		m.members = append(m.members, o)
		m.seat(e.Path).member = o
	case e.Kind == history.Invoke && e.Op == Leave:
		m.members = forget(m.members, o)
		x := m.seat(e.Path)
		if x.member == o {
			x.member = caller{}
		}
	case e.Kind == history.Created:
		m.seat(e.Path).maker = e.Client
	case e.Kind == history.Deleted:
		x := m.seat(e.Path)
		x.ends++
		if x.maker != 0 && x.member.client == x.maker && e.Client != 0 {
			return violated(m, i, "c%d deleted %s, whose member c%d has not left", e.Client, e.Path, x.maker)
		}
		x.maker = 0
	case e.Kind == history.Invoke && e.Op == WatchMembers:
		m.watchers = append(m.watchers, o)
	case e.Kind == history.Return && e.Op == WatchMembers:
		m.watchers = forget(m.watchers, o)
		m.tolds = drop(m.tolds, func(x farewell) bool { return x.object == e.Object })
	case e.Kind == history.Told && e.Op == ToldGone && find(m.watchers, o) >= 0:
		if m.farewell(toldOf(e)) > m.seat(e.Path).ends {
			return violated(m, i, "c%d was told that %s is gone more often than it was deleted", e.Client, e.Path)
		}
	}
	return Verdict{}
}

// seat returns what is remembered of a znode, until the next call.
func (m *departures) seat(path string) *seat {
	return recall(&m.seats, func(x *seat) bool { return x.path == path }, seat{path: path})
}

// farewell counts what a watcher tells and returns how often it has.
func (m *departures) farewell(t told) int {
	x := recall(&m.tolds, func(x *farewell) bool { return x.told == t }, farewell{told: t})
	x.times++
	return x.times
}
