package checkers

import (
	"slices"
	"time"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Overdue is the promise of a monitor of locks. When it says, by Told "overdue", that somebody has held the lock by a
// znode for at least Value, that is true, and it says so once. Each monitor is an object of its own. Holders say by
// Return "held" for how long they can have held the lock at most: from the call that got it to the end of the one that
// gave it up. A path stands for one holding of the lock: a second "held" for it counts for nothing.
type Overdue struct{}

// Name implements [Checker].
func (Overdue) Name() string { return "overdue" }

// Doc implements [Checker].
func (Overdue) Doc() string {
	return "no monitor says that a lock was held for longer than it was, or says so twice"
}

// Needs implements [Declaring].
func (Overdue) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			tells("a monitor says that the lock by Path has been held for Value nanoseconds", "overdue"),
			judged("its end has in Value for how long, at most, the lock by Path can have been held", "held"),
			unjudged("is judged by held", "lock", "rlock", "unlock", "runlock"),
			unjudged("is for alarm", "monitor"),
			untells("is for alarm", "since", "until", "clock")),
		Seen: []Need{some("overdue, told by a monitor", "record it as Told", toldAs("overdue")),
			some("held, recorded by a holder", "record it as Return", succeeds("held"))},
	}
}

// Check implements [Checker].
func (o Overdue) Check(h *history.History) Verdict { return check(h, o.Monitor()) }

// Monitor implements [Monitored].
func (Overdue) Monitor() Monitor { return &alarms{} }

// alarms is the monitor of Overdue.
type alarms struct {
	recipeEvents
	Overdue
	said []alarm
	most []heldMost
}

// alarm is what a monitor has said of a znode by which somebody had the lock.
type alarm struct {
	caller
	path string
	at   int
	held time.Duration
}

// heldMost is how long, at most, the lock was held by a znode.
type heldMost struct {
	path string
	most time.Duration
}

func (m *alarms) Reset() { m.said, m.most = m.said[:0], m.most[:0] }

// Hash implements [Monitor]. Durations matter only until they are compared.
func (m *alarms) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for k := range m.said {
		x := &m.said[k]
		p := printOf(m.said, x.caller).String(x.path)
		if m.longest(x.path) < 0 {
			p = p.Uint64(uint64(x.held))
		}
		sum += p
	}
	for _, x := range m.most {
		sum += hash.Hash(0).String(x.path).Uint64(uint64(x.most))
	}
	return uint64(sum)
}

func (m *alarms) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	most := m.longest(e.Path)
	switch {
	case e.Kind == history.Return && e.Op == "held" && most < 0:
		most = time.Duration(e.Value)
		m.most = append(m.most, heldMost{e.Path, most})
	case e.Kind == history.Told && e.Op == "overdue":
		x := alarm{callerOf(e), e.Path, i, time.Duration(e.Value)}
		if slices.ContainsFunc(m.said, func(y alarm) bool { return y.caller == x.caller && y.path == x.path }) {
			return violated(m, i, "c%d says again that %s has been held for too long", e.Client, e.Path)
		}
		m.said = append(m.said, x)
	default:
		return Verdict{}
	}
	for k := range m.said {
		if x := &m.said[k]; x.path == e.Path && most >= 0 && most < x.held {
			return violated(m, x.at, "c%d says that %s has been held for %v, but its holder had it for %v at most", x.client,
				e.Path, x.held, most)
		}
	}
	return Verdict{}
}

// longest returns for how long, at most, the lock was held by a znode, or -1 if its holder has not said.
func (m *alarms) longest(path string) time.Duration {
	if k := slices.IndexFunc(m.most, func(x heldMost) bool { return x.path == path }); k >= 0 {
		return m.most[k].most
	}
	return -1
}
