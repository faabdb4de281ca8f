package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// DoubledEffect is the promise of acknowledgements: only one consumer can acknowledge an item, and so keep what it did
// with it. All others that got the item learn that their claim was lost.
type DoubledEffect struct{}

// Name implements [Checker].
func (DoubledEffect) Name() string { return "doubled-effect" }

// Doc implements [Checker].
func (DoubledEffect) Doc() string {
	return "only one of the clients that got an item can acknowledge it"
}

// Needs implements [Declaring].
func (DoubledEffect) Needs() Needs {
	return Needs{Words: queueWords("put", "take", "trytake", "claim", "tryclaim", "return"),
		Seen: []Need{some("an ack without an error", "let consumers acknowledge, or leave the checker out",
			succeeds("ack"))}}
}

// Check implements [Checker].
func (c DoubledEffect) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (DoubledEffect) Monitor() Monitor { return &effects{} }

// effects is the monitor of DoubledEffect. It keeps the acknowledged items. It forgets none, because an item may be
// acknowledged again at any later time.
type effects struct {
	recipeEvents
	DoubledEffect
	ops   queueOps
	acked []queueOp
}

func (m *effects) Reset() { m.ops, m.acked = m.ops[:0], m.acked[:0] }

func (m *effects) Hash() uint64 {
	sum := hash.Hash(0)
	for i := range m.acked {
		sum += hash.Hash(0).Uint64(uint64(m.acked[i].item))
	}
	return uint64(sum)
}

func (m *effects) Step(h *history.History, i int) Verdict {
	o, ok := m.ops.step(h, i)
	if !ok || o.name != "ack" || !o.succeeded() {
		return Verdict{}
	}
	for _, a := range m.acked {
		if a.item == o.item {
			return violated(m, i, "c%d acknowledged item %d, which c%d had acknowledged before", o.client, o.item, a.client)
		}
	}
	m.acked = append(m.acked, o)
	return Verdict{}
}
