package checkers

import (
	"slices"
	"time"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Overdue is the promise of a monitor of locks. When it says, by Told "overdue", that somebody has held the lock by a
// znode for at least Value, that is true, and it says so once. Holders say by Return "held" for how long they can have
// held the lock at most: from the call that got it to the end of the one that gave it up. A path stands for one holding
// of the lock: a second "held" for it counts for nothing.
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
			[]Word{{"since", Telling, true, "is for alarm"}, {"until", Telling, true, "is for alarm"},
				{"clock", Telling, true, "is for alarm"}}),
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
	list []alarm
}

// alarm is what is known of a znode by which somebody had the lock.
type alarm struct {
	path string
	at   int           // where the monitor said for how long, -1: nowhere
	held time.Duration // what it said
	most time.Duration // how long it can be at most, -1: the holder has not said
}

func (m *alarms) Reset() { m.list = m.list[:0] }

// Hash implements [Monitor]. Durations matter only until they are compared.
func (m *alarms) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for k := range m.list {
		switch x := &m.list[k]; {
		case x.at < 0:
			sum += hash.Hash(1).String(x.path).Uint64(uint64(x.most))
		case x.most < 0:
			sum += hash.Hash(2).String(x.path).Uint64(uint64(x.held))
		default:
			sum += hash.Hash(3).String(x.path)
		}
	}
	return uint64(sum)
}

func (m *alarms) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	told := e.Kind == history.Told && e.Op == "overdue"
	if !told && !(e.Kind == history.Return && e.Op == "held") {
		return Verdict{}
	}
	x := m.find(e.Path)
	switch {
	case !told && x.most >= 0:
		return Verdict{}
	case !told:
		x.most = time.Duration(e.Value)
	case x.at >= 0:
		return violated(m, i, "c%d says again that %s has been held for too long", e.Client, e.Path)
	default:
		x.at, x.held = i, time.Duration(e.Value)
	}
	if x.at >= 0 && x.most >= 0 && x.most < x.held {
		return violated(m, x.at, "c%d says that %s has been held for %v, but its holder had it for %v at most",
			h.Events[x.at].Client, e.Path, x.held, x.most)
	}
	return Verdict{}
}

// find returns what is known of a znode.
func (m *alarms) find(path string) *alarm {
	return recall(&m.list, func(a *alarm) bool { return a.path == path }, alarm{path, -1, 0, -1})
}
