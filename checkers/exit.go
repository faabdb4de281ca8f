package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Exit is the promise of a double barrier to those that leave: when Leave returns without an error, all others of the
// round have begun to leave or their sessions have ended. For the events see [Rounds]. A client that was disconnected
// inside must have been told of the loss, Lost, or have begun to leave, by the time its session ends. It is excused if
// its session ends before it could know.
type Exit struct{}

// Name implements [Checker].
func (Exit) Name() string { return "exit" }

// Doc implements [Checker].
func (Exit) Doc() string {
	return "nobody has left the barrier before all of the round leave, and a client that is disconnected inside is told " +
		"before its session ends"
}

// Needs implements [Declaring].
func (Exit) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("enters a round by the znode in Path; its end has the round in Value", "enter"),
			judged("goes out when all of the round do", "leave"),
			untells("is for gather", "impatient")),
		Seen: []Need{{What: "a leave without an error, of an object that has entered",
			Hint: "record enter and leave with the same object", In: func(h *history.History) bool {
				m := &exits{}
				return reaches(h, m, func(e *history.Event) bool { return succeeds("leave")(e) && m.latest(e.Object) != nil })
			}}},
	}
}

// Check implements [Checker].
func (c Exit) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Exit) Monitor() Monitor { return &exits{} }

// exits is the monitor of Exit.
type exits struct {
	sessionEvents
	Exit
	stays
	lapses
}

// Hash implements [Monitor]. It remembers who has left which round, who may still leave it and who is inside. Of an
// Enter whose session has ended, it remembers who had left before.
func (m *exits) Hash() uint64 {
	var all, calls hash.Hash // in any order
	for k, x := range m.all {
		p := printOf(m.all, x.caller).Uint64(uint64(x.rank)).Bool(x.out != never)
		switch {
		case x.inside():
			all += p.String(x.path)
		case x.out != never || m.mayLeave(k):
			all += p
		}
	}
	for _, x := range m.calls {
		for _, y := range x.ended {
			p := printOf(m.calls, x.caller).String(y.path)
			for _, z := range m.all {
				if z.out < y.at && z.object != x.object {
					p += printOf(m.all, z.caller).Uint64(uint64(z.rank))
				}
			}
			calls += p.Uint64(m.rank(y.again))
		}
	}
	return uint64(all.Uint64(uint64(calls)).Uint64(uint64(m.print())))
}

func (m *exits) Reset() {
	m.stays.Reset()
	m.reset()
}

// mayLeave reports whether stay k may be the one that a returning Leave ends.
func (m *exits) mayLeave(k int) bool {
	x := &m.all[k]
	return x.out == never && !x.crashed && m.latest(x.object) == x
}

func (m *exits) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if x := m.lapses.step(e); x != nil {
		return violated(m, i, "c%d was not told that it is inside no longer by %s, whose session has ended, and was "+
			"disconnected before", x.client, x.path)
	}
	s := m.stays.step(h, i)
	switch {
	case e.Kind == history.Lost, e.Kind == history.Invoke && e.Op == "leave":
		m.lapses.end(e.Object)
	case s != nil && e.Op == "enter" && s.inside():
		m.begin(claimOf(e))
	}
	if s == nil {
		return Verdict{}
	}
	for k := range m.all {
		t := &m.all[k]
		for _, pair := range [2][2]*stay{{s, t}, {t, s}} {
			if x, y := pair[0], pair[1]; x.round == y.round && x.object != y.object && x.out < y.leaves && x.out < y.ends {
				return violated(m, x.out, "c%d has left round 0x%x while c%d is inside by %s", x.client, x.round, y.client, y.path)
			}
		}
	}
	return Verdict{}
}
