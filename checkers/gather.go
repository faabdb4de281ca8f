package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Gather is the progress of a double barrier whose users give up after a while: nobody has to give up while there are
// enough of them. When the faults are over, time passes only when nothing else can happen. So suppose that n were
// waiting to enter when one of them became impatient, and that the same n were waiting when it gave up, some time
// later. Then they were waiting for nothing, unless somebody was inside, who may take its time.
//
// The operations are those of [Entry]. A client that is about to give up says so (impatient). In a real run timers wait
// for that, too, and its history is calm only from where they have.
type Gather struct{}

// Name implements [Checker].
func (Gather) Name() string { return "gather" }

// Doc implements [Checker].
func (Gather) Doc() string {
	return "with the faults over, nobody gives up while enough are waiting to enter and nobody is inside"
}

// Needs implements [Declaring].
func (Gather) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("waits until as many as Value are inside; an error says that it gave up", "enter"),
			tells("the client that enters is about to give up", "impatient"),
			judged("is inside until it returns", "leave")),
		Seen: []Need{Need{What: "an enter that is given up with the faults over, after impatient was told",
			Hint: "let clients give up, or leave the checker out", In: givesUp}.during()},
	}
}

// Check implements [Checker].
func (c Gather) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Gather) Monitor() Monitor { return &gathering{} }

// gathering is the monitor of Gather.
type gathering struct {
	recipeEvents
	Gather
	waiting []waiter
	inside  []caller
	crashed []int32   // clients that crashed in an Enter or inside
	znodes  []znodeOf // ephemeral ones that exist; the world knows those of crashed clients
	txns    bool      // an ephemeral znode was made, so the history records them
	calm    bool
}

// waiter is an Enter in progress.
type waiter struct {
	caller
	need   int64
	enough bool // enough were waiting when it became impatient, and still are
}

func (m *gathering) Reset() {
	m.waiting, m.inside, m.calm = m.waiting[:0], m.inside[:0], false
	m.crashed, m.znodes, m.txns = m.crashed[:0], m.znodes[:0], false
}

func (m *gathering) Hash() uint64 {
	waiting := hash.Hash(0) // in any order
	for _, x := range m.waiting {
		waiting += printOf(m.waiting, x.caller).Uint64(uint64(x.need)).Bool(x.enough)
	}
	inside := hash.Hash(0)
	for _, x := range m.inside {
		inside += printOf(m.inside, x)
	}
	for _, client := range m.crashed {
		inside += hash.Hash(client).Bool(m.txns)
	}
	return uint64(waiting.Uint64(uint64(inside)).Bool(m.calm))
}

func (m *gathering) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Calm:
		m.calm = true
	case e.Kind == history.Told && e.Op == "impatient" && m.calm:
		for k := range m.waiting {
			if x := &m.waiting[k]; x.object == e.Object {
				x.enough = int64(len(m.waiting)) >= x.need && !m.occupied()
			}
		}
	case e.Kind == history.Crashed:
		m.crash(e.Client)
	case e.Kind == history.Created && e.Session != 0:
		m.znodes, m.txns = append(m.znodes, znodeOf{e.Path, e.Client}), true
		if slices.Contains(m.crashed, e.Client) { // late
			m.others()
		}
	case e.Kind == history.Deleted:
		m.znodes = drop(m.znodes, func(x znodeOf) bool { return x.path == e.Path })
	case e.Op == "leave" && e.Kind == history.Return:
		m.inside, _ = take(m.inside, e)
	case e.Op == "enter" && (e.Kind == history.Invoke || e.Kind == history.Return):
		n, x := len(m.waiting), waiter{}
		m.waiting, x = take(m.waiting, e)
		if x.enough && e.Err != nil {
			return violated(m, i, "c%d gave up entering, although it was one of %d who were waiting and %d are enough", e.Client,
				n, x.need)
		}
		m.others()
		switch {
		case e.Kind == history.Invoke:
			m.waiting = append(m.waiting, waiter{caller: callerOf(e), need: e.Value})
		case e.Err == nil:
			m.inside = append(m.inside, callerOf(e))
		}
	}
	return Verdict{}
}

// crash notes that a client no longer waits. If it waited or was inside, its znode may still exist.
func (m *gathering) crash(client int32) {
	waiting, inside := len(m.waiting), len(m.inside)
	m.waiting = withoutClient(m.waiting, client)
	m.inside = withoutClient(m.inside, client)
	if len(m.waiting) < waiting {
		m.others()
	}
	if (len(m.waiting) < waiting || len(m.inside) < inside) && !slices.Contains(m.crashed, client) {
		m.crashed = append(m.crashed, client)
	}
}

// occupied reports whether somebody is inside, or the znode of a client that has crashed may be.
func (m *gathering) occupied() bool {
	return len(m.inside) > 0 || slices.ContainsFunc(m.crashed, func(client int32) bool {
		return !m.txns || slices.ContainsFunc(m.znodes, func(x znodeOf) bool { return x.client == client })
	})
}

// others notes that the set of those that wait has changed.
func (m *gathering) others() {
	for k := range m.waiting {
		m.waiting[k].enough = false
	}
}

// givesUp reports whether somebody gave up entering with the faults over.
func givesUp(h *history.History) bool {
	calm, about := false, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Told && e.Op == "impatient":
			about[e.Object] = calm
		case e.Kind == history.Return && e.Op == "enter":
			if e.Err != nil && about[e.Object] {
				return true
			}
			delete(about, e.Object)
		}
	}
	return false
}
