package checkers

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"zksim/model/history"
)

var barrierFamily = family{Barrier{}, passesLegally, &gateStage{}}

func TestTheMonitorOfBarrierAgreesWithAllOrders(t *testing.T) { barrierFamily.agrees(t) }

func TestTheMonitorOfBarrierRemembersEnough(t *testing.T) { barrierFamily.forgets(t) }

// holderOf is whose the objects of a stage are: o4 is of c1, as o1.
var holderOf = [...]int32{0, 1, 2, 3, 1}

// gateStage is the stage of a barrier.
type gateStage struct {
	ops     [5]string // by object
	crashed [4]bool
}

func (s *gateStage) clone() stage { x := *s; return &x }

func (s *gateStage) key() string { return fmt.Sprint(*s) }

func (s *gateStage) propose(r *rand.Rand) history.Event {
	o := int32(1 + r.IntN(4))
	e := history.Event{Kind: history.Invoke, Client: holderOf[o], Object: o,
		Op: []string{"hold", "hold", "release", "wait", "wait"}[r.IntN(5)]}
	if s.ops[o] != "" {
		e.Kind, e.Op = history.Return, s.ops[o]
	}
	switch r.IntN(20) {
	case 0:
		e = history.Event{Kind: history.Crashed, Client: e.Client}
	case 1, 2:
		if e.Kind == history.Return {
			e.Err, e.OK = errors.New("gave up"), r.IntN(2) == 0
		}
	}
	return e
}

func (s *gateStage) take(e *history.Event) bool {
	if s.crashed[e.Client] {
		return false
	}
	switch e.Kind {
	case history.Crashed:
		s.crashed[e.Client] = true
		for o, c := range holderOf {
			if c == e.Client {
				s.ops[o] = ""
			}
		}
	case history.Invoke:
		if s.ops[e.Object] != "" {
			return false
		}
		s.ops[e.Object] = e.Op
	case history.Return:
		if s.ops[e.Object] != e.Op {
			return false
		}
		s.ops[e.Object] = ""
	}
	return true
}

// passesLegally tries all moments at which holds and releases can have had their
// effects.
func passesLegally(h *history.History) Level {
	type way struct {
		held    bool
		pending uint32 // holds and releases without an effect so far, by their Invokes
		passed  uint32 // waits
	}
	var ops []*history.Event
	now := map[int32]int{} // by object
	ways := map[way]bool{{}: true}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Invoke:
			now[e.Object] = len(ops)
			ops = append(ops, e)
		case history.Return:
			bit := uint32(1) << now[e.Object]
			kept := map[way]bool{}
			for w := range ways {
				if e.Err == nil && (w.pending&bit != 0 || e.Op == "wait" && w.passed&bit == 0) {
					delete(ways, w)
				}
				if refused(e) && e.Op != "wait" {
					delete(ways, w)
					if w.pending&bit != 0 {
						kept[way{w.held, w.pending &^ bit, w.passed}] = true
					}
				}
			}
			maps.Copy(ways, kept)
			delete(now, e.Object)
		}
		if len(ways) == 0 {
			return Violated
		}
		var queue []way
		add := func(w way) {
			for _, k := range now {
				if ops[k].Op == "wait" && !w.held {
					w.passed |= 1 << k
				}
			}
			if !ways[w] {
				ways[w] = true
				queue = append(queue, w)
			}
		}
		for w := range ways {
			if e.Kind == history.Invoke && e.Op != "wait" {
				delete(ways, w)
				w.pending |= 1 << (len(ops) - 1)
			}
			queue = append(queue, w)
		}
		for _, w := range queue {
			ways[w] = true
		}
		for len(queue) > 0 {
			w := queue[0]
			queue = queue[1:]
			add(w)
			for k, op := range ops {
				if w.pending>>k&1 != 0 {
					add(way{op.Op == "hold", w.pending &^ (1 << k), w.passed})
				}
			}
		}
	}
	return OK
}
