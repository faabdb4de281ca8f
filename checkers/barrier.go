package checkers

import (
	"fmt"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Barrier is the safety of a barrier: a client that passes was waiting at a moment when the barrier was open. It is
// open at first. Each hold and each release takes effect once, at some moment between its beginning and its end. One
// that failed, or whose client crashed, may take effect at any later time or never. One that was refused has none. The
// checker follows all the ways in which the operations can have taken effect so far, so it reports nothing that some
// order of events would excuse.
//
// The operations are called hold, release and wait.
type Barrier struct{}

// Name implements [Checker].
func (Barrier) Name() string { return "barrier" }

// Doc implements [Checker].
func (Barrier) Doc() string { return "nobody passes the barrier while it is held" }

// Needs implements [Declaring].
func (Barrier) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("closes the barrier", "hold"),
			judged("opens it", "release"),
			judged("passes when it is open", "wait"),
			untells("is for gather", "impatient")),
		Seen: []Need{some("a hold without an error", "record it with Object.Return", succeeds("hold")),
			some("a wait without an error", "record it with Object.Return", succeeds("wait"))},
	}
}

// Check implements [Checker].
func (b Barrier) Check(h *history.History) Verdict { return check(h, b.Monitor()) }

// Monitor implements [Monitored].
func (b Barrier) Monitor() Monitor {
	s := &gates{}
	s.Reset()
	return s
}

// gates is the monitor of Barrier.
type gates struct {
	recipeEvents
	Barrier
	possible []gate    // none covers another
	underway []ongoing // the place of each is its bit in done; a free place has no op
	holder   int32     // the client whose hold was the last to end
}

// gate is one possible state: whether the barrier is held, which of the operations under way have taken effect, and how
// many failed releases may still take effect.
type gate struct {
	held  bool
	spare int
	done  uint64
}

func isGateOp(op string) bool { return op == "hold" || op == "release" || op == "wait" }

func (s *gates) Reset() {
	s.possible, s.underway, s.holder = append(s.possible[:0], gate{}), s.underway[:0], 0
}

func (s *gates) Hash() uint64 {
	s.spread() // it does not matter when this is done
	var ops, ways hash.Hash
	for _, x := range s.underway {
		if x.op != "" {
			ops += printOf(s.underway, x.caller).String(x.op)
		}
	}
	for _, g := range s.possible {
		done := hash.Hash(0)
		for i := range s.underway {
			if g.done>>i&1 != 0 {
				done += printOf(s.underway, s.underway[i].caller).String(s.underway[i].op)
			}
		}
		ways += done.Bool(g.held).Uint64(uint64(g.spare))
	}
	return uint64(ops.Uint64(uint64(ways)))
}

func (s *gates) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case len(s.underway) > maxOps:
	case e.Kind == history.Invoke && isGateOp(e.Op):
		s.begin(e)
	case e.Kind == history.Return && isGateOp(e.Op):
		if !s.end(ongoingOf(e), e.Err == nil, refused(e)) {
			return violated(s, i, "c%d passed, but the barrier was held all the time that it waited, the last hold being that "+
				"of c%d", e.Client, s.holder)
		}
		if e.Op == "hold" && e.Err == nil {
			s.holder = e.Client
		}
	case e.Kind == history.Crashed:
		s.crash(e.Client)
	}
	if len(s.underway) > maxOps { // from now on
		why := fmt.Sprintf("too many operations, more than %d, are in progress or have no known outcome", maxOps)
		return Verdict{Unknown, s.Name(), why, i}
	}
	return Verdict{}
}

// begin notes an operation.
func (s *gates) begin(e *history.Event) {
	i := slices.Index(s.underway, ongoing{})
	if i < 0 {
		i = len(s.underway)
		s.underway = append(s.underway, ongoing{})
	}
	s.underway[i] = ongoingOf(e)
	if e.Op == "wait" {
		for k := range s.possible {
			s.possible[k].pass(1 << i)
		}
	}
}

// pass lets the waits in the set pass if the barrier is open. This never rules anything out.
func (g *gate) pass(waits uint64) {
	if !g.held {
		g.done |= waits
	}
}

// end removes an operation. If it succeeded, end also removes every way in which it has had no effect, and if it was
// refused, every way in which it has opened the barrier. It returns false when no way is left.
func (s *gates) end(x ongoing, success, refused bool) bool {
	i := slices.Index(s.underway, x)
	if i < 0 {
		return true // there is no such operation
	}
	s.spread()
	if s.underway[i].op == "release" && refused {
		s.possible = drop(s.possible, func(g gate) bool { return g.done>>i&1 != 0 })
	}
	s.forget(i, success, refused)
	return len(s.possible) > 0
}

// forget frees the place of an operation that has ended. A failed release that has had no effect may still have one,
// unless it was refused. So may a failed hold, but it need not be considered: it could only keep somebody from passing.
func (s *gates) forget(i int, success, refused bool) {
	release := s.underway[i].op == "release"
	s.underway[i] = ongoing{}
	old := s.possible
	s.possible = nil
	for _, g := range old {
		done := g.done>>i&1 != 0
		g.done &^= 1 << i
		switch {
		case done || !success && !release || refused:
		case !release:
			continue
		case success:
			g.held = false
		default:
			g.spare++
		}
		s.add(g)
	}
}

// add adds a way, unless one is there that covers it, and reports whether it is new.
func (s *gates) add(g gate) bool {
	g.pass(s.of("wait"))
	if slices.ContainsFunc(s.possible, func(x gate) bool { return s.covers(x, g) }) {
		return false
	}
	s.possible = append(drop(s.possible, func(x gate) bool { return s.covers(g, x) }), g)
	return true
}

// covers reports whether all that can follow y can follow x as well. An open barrier rules nothing out. A release that
// has had no effect can still open the barrier; it must do so before it succeeds, but can do it then. A hold must take
// effect before it succeeds, too, and could only do harm.
func (s *gates) covers(x, y gate) bool {
	return (y.held || !x.held) && x.spare >= y.spare && x.done&^y.done&s.of("release") == 0 &&
		y.done&^x.done&^s.of("release") == 0
}

// of returns the operations of one sort.
func (s *gates) of(op string) (set uint64) {
	for i, x := range s.underway {
		if x.op == op {
			set |= 1 << i
		}
	}
	return set
}

func (s *gates) crash(client int32) {
	for i, x := range s.underway {
		if x.client == client && x.op != "" {
			s.spread()
			s.forget(i, false, false)
		}
	}
}

// spread adds every way that can follow from those in the list.
func (s *gates) spread() {
	for more := true; more; {
		more = false
		for k := 0; k < len(s.possible); k++ { // may become fewer as well
			g := s.possible[k]
			if g.held && g.spare > 0 {
				more = s.add(gate{false, g.spare - 1, g.done}) || more
			}
			for i, x := range s.underway {
				if x.op != "" && x.op != "wait" && g.done>>i&1 == 0 {
					more = s.add(gate{x.op == "hold", g.spare, g.done | 1<<i}) || more
				}
			}
		}
	}
}
