package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Rounds is the promise of a double barrier that is used again. A round has no more members than it was made for, and
// has each of them once. Nobody enters while a member of another round is inside.
//
// The operations are called enter and leave. An enter asks for n participants (Value, the same for all). It answers
// with its own znode (Path) and a number of the round (Value). A session ends when the servers delete (Client 0) the
// znode, after the call began. If the client then makes a znode of the same path, before the answer, the number tells
// which one is meant. A round that began by the txn that made it, or by a later one, is of the new znode. Any other
// round is taken for one of the znode that has gone, also if its number is not the zxid of a txn.
type Rounds struct {
	// Listed says that a round begins with a txn that writes the names of its members into a znode beside theirs, which
	// are ephemeral, as in recipes.DoubleBarrier. Then all of these exist at that moment.
	Listed bool
}

// Name implements [Checker].
func (Rounds) Name() string { return "rounds" }

// Doc implements [Checker].
func (Rounds) Doc() string { return "rounds of the barrier have their own members and do not overlap" }

// Needs implements [Declaring].
func (Rounds) Needs() Needs {
	n := Exit{}.Needs()
	n.Seen = []Need{goesIn}
	return n
}

// Check implements [Checker].
func (c Rounds) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Rounds) Monitor() Monitor { return &rounds{Rounds: c} }

// rounds is the monitor of Rounds.
type rounds struct {
	recipeEvents
	Rounds
	stays
	alive []string // the ephemeral znodes: part of the tree
}

func (m *rounds) Reset() {
	m.stays.Reset()
	m.alive = m.alive[:0]
}

// Hash implements [Monitor]. It remembers the members of every round, and who is inside.
func (m *rounds) Hash() uint64 {
	var all, calls hash.Hash // in any order
	for _, x := range m.all {
		p := printOf(m.all, x.caller).Uint64(uint64(x.rank))
		if x.inside() {
			p = p.String(x.path)
		}
		all += p
	}
	for _, x := range m.calls {
		p := printOf(m.calls, x.caller).Uint64(uint64(x.need))
		ended := hash.Hash(0)
		for _, y := range x.ended {
			ended += hash.Hash(0).String(y.path).Uint64(m.rank(y.again))
		}
		calls += p.Uint64(uint64(ended))
	}
	return uint64(all.Uint64(uint64(calls)))
}

func (m *rounds) Step(h *history.History, i int) Verdict {
	if absent := m.absent(&h.Events[i]); absent != "" {
		return violated(m, i, "c%d begins a round of which %s is a member, whose session has ended or who has given up",
			h.Events[i].Client, absent)
	}
	x := m.step(h, i)
	if x == nil || h.Events[i].Op != "enter" {
		return Verdict{}
	}
	members := int64(1)
	for _, y := range m.all[:len(m.all)-1] {
		switch {
		case y.round != x.round:
			if y.inside() && x.inside() {
				return violated(m, i, "c%d entered round 0x%x while c%d is inside 0x%x by %s", x.client, x.round, y.client, y.round,
					y.path)
			}
		case y.object == x.object:
			return violated(m, i, "c%d entered round 0x%x twice, by %s and %s", x.client, x.round, y.path, x.path)
		default:
			members++
		}
	}
	if members > x.need {
		return violated(m, i, "c%d entered round 0x%x as number %d of %d", x.client, x.round, members, x.need)
	}
	return Verdict{}
}

// absent returns a member that does not exist, if e begins a round with such a member. Otherwise it returns "".
func (m *rounds) absent(e *history.Event) string {
	switch {
	case !m.Listed:
	case e.Kind == history.Created && e.Session != 0:
		m.alive = append(m.alive, e.Path)
	case e.Kind == history.Deleted:
		m.alive = drop(m.alive, func(path string) bool { return path == e.Path })
	case e.Kind == history.Changed && !slices.Contains(m.alive, e.Path): // else it is of one member
		folder, _ := cutLast(e.Path)
		for _, name := range strings.Fields(e.Data) {
			if path := folder + "/" + name; !slices.Contains(m.alive, path) {
				return path
			}
		}
	}
	return ""
}
