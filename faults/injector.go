package faults

import (
	"strings"

	"zksim/model"
	"zksim/sim"
)

// Injector offers the faults of a plan to a world, each as long as its budget
// lasts. It implements sim.Injector.
type Injector struct {
	rules []rule
}

type rule struct {
	Rule
	fault *Fault
	kind  sim.Kind
	left  int
	seen  []int // per client: requests that fit the aim; only counted for Nth
}

// Reset prepares for a run with plan p, keeping memory.
func (in *Injector) Reset(p Plan) {
	in.rules = in.rules[:0]
	for _, r := range p {
		i := find(r.Fault)
		if i < 0 {
			panic("faults: no fault named " + r.Fault)
		}
		in.rules = append(in.rules, rule{Rule: r, fault: &Table[i], kind: sim.FirstFault + sim.Kind(i), left: r.Budget})
	}
}

// Verb returns the name of the fault behind a transition.
func (in *Injector) Verb(k sim.Kind) string { return Table[k-sim.FirstFault].Name }

// Enabled appends the faults that the plan still allows and the state permits.
func (in *Injector) Enabled(w *sim.World, list []sim.Transition) []sim.Transition {
	for i := range in.rules {
		r := &in.rules[i]
		if r.left == 0 || r.fault.initial {
			continue
		}
		for _, c := range w.Clients() {
			if r.permits(w, c) && !in.offered(list, r.kind, c) {
				list = append(list, sim.Transition{Kind: r.kind, Client: uint16(c.ID())})
			}
		}
	}
	return list
}

// offered reports whether an earlier rule already offers the transition.
func (in *Injector) offered(list []sim.Transition, k sim.Kind, c *sim.Client) bool {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Kind == k && int(list[i].Client) == c.ID() {
			return true
		}
	}
	return false
}

func (r *rule) permits(w *sim.World, c *sim.Client) bool {
	if r.Aim.Client != 0 && r.Aim.Client != c.ID() {
		return false
	}
	req, ok := r.fault.can(w, c)
	return ok && (!r.fault.request || r.Aim.fits(req) && (r.Aim.Nth == 0 || r.count(c) == r.Aim.Nth))
}

func (a *Aim) fits(r *model.Request) bool {
	if a.Op != "" && a.Op != sim.OpName(r) && a.Op != r.Op.String() {
		return false
	}
	return a.Path == "" || strings.HasPrefix(r.Path, a.Path)
}

func (r *rule) count(c *sim.Client) int {
	if c.ID() >= len(r.seen) {
		return 0
	}
	return r.seen[c.ID()]
}

// Issued counts a request for the rules that wait for the n-th.
func (in *Injector) Issued(c *sim.Client, req *model.Request) {
	for i := range in.rules {
		r := &in.rules[i]
		if r.Aim.Nth == 0 || !r.Aim.fits(req) {
			continue
		}
		for len(r.seen) <= c.ID() {
			r.seen = append(r.seen, 0)
		}
		r.seen[c.ID()]++
	}
}

// Apply makes the fault happen and charges the first rule that allows it.
func (in *Injector) Apply(w *sim.World, t sim.Transition) {
	c := w.Clients()[t.Client-1]
	for i := range in.rules {
		if r := &in.rules[i]; r.kind == t.Kind && r.left > 0 && r.permits(w, c) {
			r.left--
			break
		}
	}
	Table[t.Kind-sim.FirstFault].do(w, c)
}
