package serve

import (
	"fmt"
	"slices"

	"zksim/model/history"
	"zksim/scenarios/judge"
)

// Judgement is what can be said of a run from the wire alone.
type Judgement = judge.Judgement

// Judge judges all that has happened since the beginning or the last Reset.
func (e *Ensemble) Judge() Judgement {
	h, forgotten := e.History()
	_, rules := e.Strikes()
	var j Judgement
	if forgotten > 0 {
		j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("the first %d events are forgotten, so the znodes cannot be "+
			"judged", forgotten))
	} else {
		j.Znodes(h)
	}
	j.Herd(h)
	leftOver(&j, h, e.connected())
	e.mu.Lock()
	for _, text := range e.record.reported {
		j.Violations = append(j.Violations, "reported: "+text)
	}
	e.mu.Unlock()
	for _, r := range rules {
		if r.Times == 0 {
			j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("the rule %s has never struck", r.Rule))
		}
	}
	if !slices.ContainsFunc(h.Events, func(x history.Event) bool { return x.Kind == history.Call }) {
		j.Inconclusive = append(j.Inconclusive, "no client has asked for anything")
	}
	return j
}

// connected returns the clients that have connections.
func (e *Ensemble) connected() map[int32]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := map[int32]bool{}
	for _, s := range e.sessions { // order-free: a set
		if s.conn != nil {
			list[int32(s.client.ID())] = true
		}
	}
	return list
}

// leftOver finds the ephemerals of clients that have gone without closing their sessions.
func leftOver(j *Judgement, h *history.History, connected map[int32]bool) {
	n := 0
	for _, z := range h.Tree {
		if z.Owner == 0 {
			continue
		}
		n++
		if c := h.Sessions[z.Owner]; !connected[c] {
			j.Violations = append(j.Violations, fmt.Sprintf("left over: %s of c%d, which has gone and did not close its session",
				z.Path, c))
		}
	}
	if n > 0 {
		j.Facts = append(j.Facts, fmt.Sprintf("ephemerals: %d are there at the end", n))
	}
}
