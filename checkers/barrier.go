package checkers

import (
	"slices"

	"zksim/model/history"
)

// Barrier is the safety of a barrier: whoever passes was waiting at a moment when
// it was open, as it is at first. Each hold and each release takes effect once, at some moment
// between its beginning and its end; one that failed, or whose client crashed, may
// take effect at any later time or never. The checker follows all the ways in which
// the operations can have taken effect so far, so it finds nothing that the order
// of events would excuse.
//
// The operations are called hold, release and wait.
type Barrier struct{}

// Name implements [Checker].
func (Barrier) Name() string { return "barrier" }

// Doc implements [Checker].
func (Barrier) Doc() string { return "nobody passes the barrier while it is held" }

// Check implements [Checker].
func (b Barrier) Check(h *history.History) Verdict {
	s := gates{possible: []gate{{}}}
	holder := int32(0) // whose hold was the last to end
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke && isGateOp(e.Op):
			if !s.begin(e) {
				return Verdict{Unknown, b.Name(), "too many releases have no known outcome", i}
			}
		case e.Kind == history.Return && isGateOp(e.Op):
			if !s.end(e.Object, e.Err == nil) {
				return violated(b, i, "c%d passed, but the barrier was held all the time that it waited, the last hold being that of c%d", e.Client, holder)
			}
			if e.Op == "hold" && e.Err == nil {
				holder = e.Client
			}
		case e.Kind == history.Crashed:
			s.crash(e.Client)
		}
	}
	return Verdict{}
}

func isGateOp(op string) bool { return op == "hold" || op == "release" || op == "wait" }

// gate is one way in which things can stand: the barrier, which of the operations
// under way have taken effect, and how many releases that failed may still do so.
type gate struct {
	held  bool
	spare int
	done  uint64
}

// gateOp is an operation under way; its place in the list is its bit in done. A
// free place has no op.
type gateOp struct {
	op             string
	client, object int32
}

type gates struct {
	possible []gate
	underway []gateOp
}

// begin notes an operation. It returns false when there is no place.
func (s *gates) begin(e *history.Event) bool {
	x := gateOp{e.Op, e.Client, e.Object}
	if i := slices.Index(s.underway, gateOp{}); i >= 0 {
		s.underway[i] = x
	} else {
		s.underway = append(s.underway, x)
	}
	return len(s.underway) <= 64
}

// end takes an operation out, and with success every way in which it had no
// effect. It returns false when nothing possible is left.
func (s *gates) end(object int32, success bool) bool {
	i := slices.IndexFunc(s.underway, func(x gateOp) bool { return x.object == object })
	if i < 0 {
		return true // there is no such operation
	}
	s.spread()
	if success {
		s.possible = drop(s.possible, func(g gate) bool { return g.done>>i&1 == 0 })
	}
	s.forget(i)
	return len(s.possible) > 0
}

// forget frees the place of an operation that has ended. A release without effect
// may still have one. A hold may as well, but need not be considered: it could
// only keep somebody from passing.
func (s *gates) forget(i int) {
	release := s.underway[i].op == "release"
	s.underway[i] = gateOp{}
	old := s.possible
	s.possible = nil
	for _, g := range old {
		if release && g.done>>i&1 == 0 {
			g.spare++
		}
		g.done &^= 1 << i
		s.add(g)
	}
}

// add adds a way and reports whether it is new: there is none that is the same but
// for more spare releases. Where the barrier is open those who wait pass, which
// harms nobody.
func (s *gates) add(g gate) bool {
	for i, x := range s.underway {
		if x.op == "wait" && !g.held {
			g.done |= 1 << i
		}
	}
	for k := range s.possible {
		if x := &s.possible[k]; x.held == g.held && x.done == g.done {
			more := g.spare > x.spare
			x.spare = max(x.spare, g.spare)
			return more
		}
	}
	s.possible = append(s.possible, g)
	return true
}

func (s *gates) crash(client int32) {
	for i, x := range s.underway {
		if x.client == client && x.op != "" {
			s.spread()
			s.forget(i)
		}
	}
}

// spread adds everything that can come of what is possible.
func (s *gates) spread() {
	for more := true; more; {
		more = false
		for k := 0; k < len(s.possible); k++ {
			g := s.possible[k]
			more = s.add(g) || more // those who wait may be new
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
