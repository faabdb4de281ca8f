package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Departure is the promise of a group that a live member is a member. Nobody deletes its znode before it leaves, and
// nobody is told that it is gone unless it was. A client that asks for the members is told of each one that had joined
// before and does not leave meanwhile, as long as the znode by which it joined exists.
//
// A membership lasts from the Return of "join" without an error to the Invoke of "leave", of its object or of another
// one of the same client by the same name.
type Departure struct{}

// Name implements [Checker].
func (Departure) Name() string { return "departure" }

// Doc implements [Checker].
func (Departure) Doc() string {
	return "no member departs, or is missing from a list, while its session lives and it has not left"
}

// Needs implements [Declaring].
func (Departure) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(memberWords, judged("a watcher of the group in Path", WatchMembers),
			tells("the watcher tells that the znode in Path is gone", ToldGone),
			judged("answered by the znodes of all members, in Path with spaces between", ListMembers),
			untells("is for presence", ToldLost, ToldJoined)),
		Seen: []Need{some("a join without an error, by the znode in Path", "record it with Object.Record and its Path",
			withPath(succeeds(Join)))},
	}
}

// The operations of members in a history. Path is the path of the member's znode; at the Return of members, the paths
// of all.
const (
	Join        = "join"
	Leave       = "leave"
	ListMembers = "members"
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
	members  []membership
	watchers []caller
	tolds    []farewell
	lists    []listing
}

// seat is a path at which a znode was made, of a member or not.
type seat struct {
	path  string
	maker int32 // client that made the znode, while it exists
	ends  int   // how often it was deleted
}

// membership is an object that has joined and has not left, the latest of its client by that znode. Several clients may
// have joined by one znode, each after the session of the one before had ended.
type membership struct {
	caller
	path  string // "": another object of its client has joined or left by the same since, and may delete the znode
	stays bool   // the znode by which it has joined exists
}

// listing is a call that asks for the members, and those that must be in the answer.
type listing struct {
	caller
	paths []string
}

// farewell is how often a watcher told that a znode is gone.
type farewell struct {
	told
	times int
}

func (m *departures) Reset() {
	m.seats, m.members, m.watchers, m.tolds = m.seats[:0], m.members[:0], m.watchers[:0], m.tolds[:0]
	m.lists = m.lists[:0]
}

// Hash implements [Monitor]. It leaves out who made the znodes that exist: the znodes say it.
func (m *departures) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for i := range m.seats {
		x := &m.seats[i]
		sum += hash.Hash(0).String(x.path).Uint64(uint64(x.ends))
	}
	for _, x := range m.members {
		sum += printOf(m.members, x.caller).String(x.path).Bool(x.stays)
	}
	for _, x := range m.lists {
		sum += printOf(m.lists, x.caller).Uint64(printOfNames(x.paths))
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
		m.confuse(m.byIts(e))
		m.members = append(m.members, membership{o, e.Path, m.seat(e.Path).maker == o.client})
	case e.Kind == history.Invoke && e.Op == Leave:
		its := m.byIts(e)
		m.ends(its)
		m.members = forget(m.members, o)
		m.confuse(its)
	case e.Kind == history.Created:
		m.seat(e.Path).maker = e.Client
	case e.Kind == history.Deleted:
		x := m.seat(e.Path)
		x.ends++
		maker := x.maker
		x.maker = 0
		by := func(y membership) bool { return y.path == e.Path && y.client == maker }
		m.ends(func(y membership) bool { return y.path == e.Path })
		if maker != 0 && e.Client != 0 && slices.ContainsFunc(m.members, by) {
			return violated(m, i, "c%d deleted %s, whose member c%d has not left", e.Client, e.Path, maker)
		}
	case e.Kind == history.Invoke && e.Op == WatchMembers:
		m.watchers = append(m.watchers, o)
	case e.Kind == history.Return && e.Op == WatchMembers:
		m.watchers = forget(m.watchers, o)
		m.tolds = drop(m.tolds, func(x farewell) bool { return x.object == e.Object })
	case e.Kind == history.Crashed:
		m.lists = withoutClient(m.lists, e.Client)
	case e.Op == ListMembers && e.Kind == history.Invoke:
		m.lists = append(m.lists, listing{o, m.certain()})
	case e.Op == ListMembers && e.Kind == history.Return:
		var x listing
		m.lists, x = take(m.lists, e)
		for _, path := range x.paths {
			if e.Err == nil && !slices.Contains(strings.Fields(e.Path), path) {
				return violated(m, i, "c%d was not told of the member %s, which had joined before it asked and has not left",
					e.Client, path)
			}
		}
	case e.Kind == history.Told && e.Op == ToldGone && find(m.watchers, o) >= 0:
		if m.farewell(toldOf(e)) > m.seat(e.Path).ends {
			return violated(m, i, "c%d was told that %s is gone more often than it was deleted", e.Client, e.Path)
		}
	}
	return Verdict{}
}

// byIts picks the memberships of the event's client by the event's znode. A leave need not name it: then it is that by
// which its object has joined.
func (m *departures) byIts(e *history.Event) func(x membership) bool {
	path := e.Path
	if k := find(m.members, callerOf(e)); k >= 0 && path == "" {
		path = m.members[k].path
	}
	return func(x membership) bool { return x.client == e.Client && x.path == path }
}

// confuse notes that nobody knows from now on which znodes are those of the memberships that are picked.
func (m *departures) confuse(picks func(x membership) bool) {
	for k := range m.members {
		if x := &m.members[k]; picks(*x) {
			x.path, x.stays = "", false
		}
	}
}

// ends notes that the znodes of the memberships that are picked do not exist from now on, or need not.
func (m *departures) ends(picks func(x membership) bool) {
	for k := range m.members {
		x := &m.members[k]
		if !x.stays || !picks(*x) {
			continue
		}
		x.stays = false
		for j := range m.lists {
			q := &m.lists[j]
			q.paths = slices.DeleteFunc(q.paths, func(path string) bool { return path == x.path })
		}
	}
}

// certain returns the znodes of those that are members for certain.
func (m *departures) certain() (paths []string) {
	for _, x := range m.members {
		if x.stays {
			paths = append(paths, x.path)
		}
	}
	return paths
}

// seat returns what is remembered of a path. The pointer is valid until the next call.
func (m *departures) seat(path string) *seat {
	return recall(&m.seats, func(x *seat) bool { return x.path == path }, seat{path: path})
}

// farewell counts what a watcher tells and returns how often it has.
func (m *departures) farewell(t told) int {
	x := recall(&m.tolds, func(x *farewell) bool { return x.told == t }, farewell{told: t})
	x.times++
	return x.times
}
