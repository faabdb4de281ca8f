package checkers

import (
	"math/bits"

	"zksim/model/history"
)

// Monitor judges a history while it grows. What it remembers of the past is all that
// its later verdicts depend on, so that exhaustive search can take two runs for the
// same whose monitors remember the same.
type Monitor interface {
	// Step judges event i of h; it has been given all events before it, but looks at them for
	// nothing but the wording of a violation: what it needs of them it remembers, in its
	// fields, which share no memory. Of i it remembers only what comes before what. After a
	// violation it may not be used. A checker that judges how a run ends may leave that to
	// Check.
	Step(h *history.History, i int) Verdict
	// Hash returns a hash of what the monitor remembers. If it is the same for two
	// histories, in worlds in which the same can happen, and both go on in the same way,
	// Check says the same of both. Zxids and the numbers of objects, which differ between
	// runs that mean the same, are not part of it.
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

// finisher is a monitor of which some things are left to the end.
type finisher interface {
	Monitor
	// end judges how the run ended, when Step has found nothing.
	end(h *history.History) Verdict
}

// checkToEnd has a monitor judge a whole history and its end.
func checkToEnd(h *history.History, m finisher) Verdict {
	if v := check(h, m); v.Level != OK {
		return v
	}
	return m.end(h)
}

// recall returns the element of a list that is meant, until the list grows; fresh, as a new
// one, if there is none.
func recall[T any](list *[]T, meant func(*T) bool, fresh T) *T {
	for k := range *list {
		if x := &(*list)[k]; meant(x) {
			return x
		}
	}
	*list = append(*list, fresh)
	return &(*list)[len(*list)-1]
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
	n := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		p = p.Word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	rest := uint64(0)
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
	}
	return p.Word(rest).Word(n)
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
