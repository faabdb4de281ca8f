package checkers

import (
	"math/bits"

	"zksim/model/history"
)

// Monitor judges a history while it grows. What it remembers of the past is all that
// its later verdicts depend on, so that exhaustive search can take two runs for the
// same whose monitors remember the same.
type Monitor interface {
	// Step judges event i of h; it has been given all events before it. After a
	// violation it may not be used.
	Step(h *history.History, i int) Verdict
	// Hash returns a hash of what the monitor remembers. Zxids and the numbers of
	// objects, which differ between runs that mean the same, are not part of it.
	Hash() uint64
	// Reset forgets everything.
	Reset()
}

// Monitored is a checker whose verdicts are those of a monitor.
type Monitored interface {
	Checker
	Monitor() Monitor
}

// check has a monitor judge a whole history.
func check(h *history.History, m Monitor) Verdict {
	for i := range h.Events {
		if v := m.Step(h, i); v.Level != OK {
			return v
		}
	}
	return Verdict{}
}

// Print is a hash of a few things, in their order; the zero value is that of nothing. It
// is what a [Monitor] may make its Hash of.
type Print uint64

// Word returns the hash of p and x.
func (p Print) Word(x uint64) Print {
	hi, lo := bits.Mul64(uint64(p)^0x9e3779b97f4a7c15, x^0xd1342543de82ef95)
	return Print(hi ^ lo ^ x)
}

// Text returns the hash of p and s.
func (p Print) Text(s string) Print {
	for i := range len(s) {
		p = (p ^ Print(s[i])) * 0x100000001b3
	}
	return p.Word(uint64(len(s)))
}

// Flag returns the hash of p and b.
func (p Print) Flag(b bool) Print {
	if b {
		return p.Word(1)
	}
	return p.Word(2)
}

func (c claim) print() Print {
	return Print(c.client).Text(c.path).Flag(c.shared)
}

// caller is an object in an operation, or that has begun one.
type caller struct{ client, object int32 }

func (c caller) who() caller { return c }

// ordinal tells the objects of one client in the list apart by their numbers, which a
// client gives in its own order: the number of those before x.
func ordinal[T interface{ who() caller }](list []T, x caller) (n uint64) {
	for _, y := range list {
		if c := y.who(); c.client == x.client && c.object < x.object {
			n++
		}
	}
	return n
}
