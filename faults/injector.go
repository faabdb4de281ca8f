package faults

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model"
	"zksim/sim"
)

// Injector offers the faults of a plan to a world, each while its budget lasts. It implements sim.Injector.
type Injector struct {
	rules  []rule // without the initial faults
	plan   int    // length of the plan
	counts bool   // a rule waits for the n-th request
	shared []charge
}

// charge is a fault that has struck and that several rules allow. It may count for any of them.
type charge struct {
	by []int // the rules
	at int   // the one that it counts for now
}

type rule struct {
	Rule
	place int // in the plan
	fault *Fault
	kind  sim.Kind
	left  int    // of the budget, less the faults that only this rule allows
	open  bool   // the state has permitted it at some moment
	seen  []seen // per client; only kept for Nth
}

// seen counts the requests of one client that fit an aim.
type seen struct {
	count int
	nth   *model.Request // the request aimed at, until its memory holds another request
}

// Reset prepares for a run with plan p, keeping memory.
func (in *Injector) Reset(p Plan) {
	in.rules, in.plan, in.counts, in.shared = in.rules[:0], 0, false, in.shared[:0]
	in.Add(p)
}

// Add appends rules to the plan in the middle of a run. Budgets of earlier rules do not change; a rule with nth
// counts from now on.
func (in *Injector) Add(p Plan) {
	first := in.plan
	in.plan += len(p)
	for place, r := range p {
		i := find(r.Fault)
		if i < 0 {
			panic("faults: no fault named " + r.Fault)
		}
		if Table[i].initial {
			continue
		}
		in.counts = in.counts || r.Aim.Nth > 0
		in.rules = append(in.rules, rule{Rule: r, place: first + place, fault: &Table[i], kind: sim.FirstFault + sim.Kind(i),
			left: r.Budget})
	}
}

// Verb returns the name of the fault behind a transition.
func (in *Injector) Verb(k sim.Kind) string { return Table[k-sim.FirstFault].Name }

// Local reports whether the fault t, which must be possible, would change only its client and that client's
// connection. Then it makes no difference whether it strikes before or after something that happens to others.
func (in *Injector) Local(w *sim.World, t sim.Transition) bool {
	rules := 0
	for i := range in.rules {
		if in.rules[i].kind == t.Kind {
			rules++
		}
	}
	if rules > 1 { // which of them may be charged depends on what it strikes
		return false
	}
	f := &Table[t.Kind-sim.FirstFault]
	return f.local != nil && f.local(w.Client(int(t.Client)))
}

// Strikes reports whether a fault of the plan strikes requests. Then more than the next request of a client may
// matter.
func (in *Injector) Strikes() bool {
	return slices.ContainsFunc(in.rules, func(r rule) bool { return r.fault.request })
}

// Counts reports whether it matters how many requests a client has made.
func (in *Injector) Counts() bool { return in.counts }

// Contends reports whether two rules have the same fault. Then which of them may be charged depends on what the fault
// strikes.
func (in *Injector) Contends() bool {
	for i := range in.rules {
		if slices.ContainsFunc(in.rules[:i], func(r rule) bool { return r.kind == in.rules[i].kind }) {
			return true
		}
	}
	return false
}

// Unspent reports for each rule of the plan whether it may strike once more; false for the initial faults.
func (in *Injector) Unspent() []bool {
	list := make([]bool, in.plan)
	for i := range in.rules {
		list[in.rules[i].place] = in.free(i)
	}
	return list
}

// Permitted appends the faults that the plan has for c and the state permits, even if they are used up.
func (in *Injector) Permitted(w *sim.World, c *sim.Client, list []sim.Transition) []sim.Transition {
	for i := range in.rules {
		list = in.rules[i].offer(w, c, list)
	}
	return list
}

// KindOf returns the kind of the transitions of a fault of the table.
func KindOf(name string) sim.Kind { return sim.FirstFault + sim.Kind(find(name)) }

// Ends reports whether a fault of this kind ends a session.
func Ends(k sim.Kind) bool { return Table[k-sim.FirstFault].ends }

// Elects reports whether a fault of this kind makes another server lead, which changes all clients.
func Elects(k sim.Kind) bool { return Table[k-sim.FirstFault].ensemble }

// Enabled appends the faults that the plan still allows and the state permits.
func (in *Injector) Enabled(w *sim.World, list []sim.Transition) []sim.Transition {
	for i := range in.rules {
		if !in.free(i) {
			continue
		}
		r := &in.rules[i]
		if r.fault.ensemble {
			list = r.offer(w, nil, list)
		}
		for _, c := range w.Clients() {
			if c.Left() {
				break // and all after it
			}
			list = r.offer(w, c, list)
		}
	}
	return list
}

// PermittedAlone is Permitted for faults that happen to the ensemble and to no client.
func (in *Injector) PermittedAlone(w *sim.World, list []sim.Transition) []sim.Transition {
	for i := range in.rules {
		if in.rules[i].fault.ensemble {
			list = in.rules[i].offer(w, nil, list)
		}
	}
	return list
}

// offer appends the fault of the rule, with a client or none, if the state permits it and no earlier rule offers it.
func (r *rule) offer(w *sim.World, c *sim.Client, list []sim.Transition) []sim.Transition {
	if !r.permits(w, c) {
		return list
	}
	t := sim.Transition{Kind: r.kind}
	if c != nil {
		t.Client = uint32(c.Slot())
	}
	if r.fault.ensemble {
		t.Arg = uint16(r.fault.server(w) + 1)
	}
	if r.open = true; slices.Contains(list, t) {
		return list
	}
	return append(list, t)
}

// meets reports whether the rule is for that client.
func (r *rule) meets(client int) bool { return r.Aim.Client == 0 || r.Aim.Client == client }

func (r *rule) permits(w *sim.World, c *sim.Client) bool {
	if c == nil && r.Aim.Client > 0 || c != nil && !r.meets(c.ID()) {
		return false
	}
	req, ok := r.fault.can(w, c)
	return ok && (!r.fault.request || r.Aim.fits(req) && (r.Aim.Nth == 0 || r.nth(c) == req))
}

func (a *Aim) fits(r *model.Request) bool {
	return a.Fits(sim.OpName(r), r.Path)
}

// nth returns the request of c that the rule aims at, or nil.
func (r *rule) nth(c *sim.Client) *model.Request {
	if c.ID() >= len(r.seen) {
		return nil
	}
	return r.seen[c.ID()].nth
}

// Issued counts a request for the rules that wait for the n-th.
func (in *Injector) Issued(c *sim.Client, req *model.Request) {
	if !in.counts {
		return
	}
	for i := range in.rules {
		r := &in.rules[i]
		if r.Aim.Nth == 0 {
			continue
		}
		for len(r.seen) <= c.ID() {
			r.seen = append(r.seen, seen{})
		}
		s := &r.seen[c.ID()]
		if s.nth == req {
			s.nth = nil
		}
		if !r.Aim.fits(req) {
			continue
		}
		if s.count++; s.count == r.Aim.Nth {
			s.nth = req
		}
	}
}

// Moved tells rules whose n-th request is from that it is now to.
func (in *Injector) Moved(c *sim.Client, from, to *model.Request) {
	for i := range in.rules {
		if r := &in.rules[i]; r.Aim.Nth > 0 && r.nth(c) == from {
			r.seen[c.ID()].nth = to
		}
	}
}

// Aimed returns a hash of which rules have req as their n-th request.
func (in *Injector) Aimed(c *sim.Client, req *model.Request) uint64 {
	if !in.counts {
		return 0
	}
	h := hash.Hash(0)
	for i := range in.rules {
		h = h.Bool(in.rules[i].nth(c) == req)
	}
	return uint64(h)
}

// Fingerprint returns a hash of the remaining budgets and the counts of requests.
func (in *Injector) Fingerprint() uint64 {
	h := hash.Hash(0).Int(int64(len(in.rules)))
	for i := range in.rules {
		r := &in.rules[i]
		h = h.Int(int64(r.kind)).Int(int64(r.left)).Int(int64(len(r.seen)))
		for _, n := range r.seen {
			h = h.Int(int64(n.count))
		}
	}
	shared := hash.Hash(0) // in any order
	for _, x := range in.shared {
		by := hash.Hash(0)
		for _, i := range x.by {
			by = by.Int(int64(i))
		}
		shared += by
	}
	if shared != 0 {
		h = h.Uint64(uint64(shared))
	}
	return uint64(h)
}

// Apply makes the fault happen and charges the rules that allow it.
func (in *Injector) Apply(w *sim.World, t sim.Transition) {
	r, c := in.charged(w, t)
	if r != nil {
		var few [8]int // usually enough
		in.charge(in.allowing(w, r, c, few[:0]))
	}
	Table[t.Kind-sim.FirstFault].do(w, c)
}

// allowing appends the rules that allow a fault of rule r to c, and that end connections as it does.
func (in *Injector) allowing(w *sim.World, r *rule, c *sim.Client, list []int) []int {
	for i := range in.rules {
		if x := &in.rules[i]; x.kind == r.kind && x.Aim.End == r.Aim.End && x.permits(w, c) {
			list = append(list, i)
		}
	}
	return list
}

// charge counts a fault that these rules allow.
func (in *Injector) charge(by []int) {
	for _, i := range by {
		x := &in.rules[i]
		if x.left == 0 || len(in.shared) > 0 && !in.room(i, true, make([]bool, len(in.rules))) {
			continue
		}
		if len(by) > 1 {
			in.shared = append(in.shared, charge{slices.Clone(by), i})
		} else {
			x.left--
		}
		return
	}
}

// free reports whether a rule may strike once more.
func (in *Injector) free(i int) bool {
	if len(in.shared) == 0 {
		return in.rules[i].left > 0
	}
	return in.room(i, false, make([]bool, len(in.rules)))
}

// spare returns what is left of the budget of a rule, less the faults that count for it now.
func (in *Injector) spare(i int) int {
	n := in.rules[i].left
	for k := range in.shared {
		if in.shared[k].at == i {
			n--
		}
	}
	return n
}

// room reports whether a rule may strike once more when faults that several rules allow count for others of these; if
// move, they do from now on. Tried are the rules that were looked at before.
func (in *Injector) room(i int, move bool, tried []bool) bool {
	if tried[i] {
		return false
	}
	tried[i] = true
	if in.spare(i) > 0 {
		return true
	}
	for k := range in.shared {
		x := &in.shared[k]
		if x.at != i {
			continue
		}
		for _, j := range x.by {
			if in.room(j, move, tried) {
				if move {
					x.at = j
				}
				return true
			}
		}
	}
	return false
}

// charged returns the first rule that allows a fault, or nil, and the client that it happens to, if any.
func (in *Injector) charged(w *sim.World, t sim.Transition) (*rule, *sim.Client) {
	var c *sim.Client
	if t.Client > 0 {
		c = w.Client(int(t.Client))
	}
	for i := range in.rules {
		if r := &in.rules[i]; r.kind == t.Kind && in.free(i) && r.permits(w, c) {
			return r, c
		}
	}
	return nil, c
}

// Ending returns how connections end by the rule that Apply would charge, one of [Endings] or "".
func (in *Injector) Ending(w *sim.World, t sim.Transition) string {
	if r, _ := in.charged(w, t); r != nil {
		return r.Aim.End
	}
	return ""
}
