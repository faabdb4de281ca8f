package prove

import (
	"cmp"
	"context"
	"slices"

	"zksim/internal/hash"
	"zksim/sim"
)

// Where code forgets, an endless loop returns to a known state, so no schedule shows it by its length. It shows
// elsewhere: while the servers and the time stay the same, each client goes its own way, whatever the others do. The
// search records which step follows which on these ways. When a level is closed, the places from which a client can
// reach neither rest nor a step that changes the servers or the time are traps. If there are any, the level is searched
// once more, for a state from which no client can change anything and some client is in a trap.

// hop is a step of a client from one place to another. To is 0 if the step changes the servers or the time.
type hop struct{ From, To uint64 }

// hops are the recorded steps of clients, by their hashes.
type hops struct{ table[hop] }

// placeIn returns the place of client k in a state: its own part, and everything that its next steps depend on.
func (x *state) placeIn(k int) uint64 {
	return uint64(hash.Hash(k).Uint64(x.clients[k].Key()).Uint64(x.servers.Hash()).Uint64(x.guarded).Int(x.now)) | 1
}

// add adds a step, if steps are recorded.
func (all *hops) add(h hop) {
	if all == nil {
		return
	}
	key := uint64(hash.Hash(h.From).Uint64(h.To))
	if _, known := all.get(key); !known {
		all.put(key, h)
	}
}

// note records that t leads from x to y, if it is a step of a client. Faults are not recorded, because none need
// happen.
func (all *hops) note(x, y *state, t sim.Transition) {
	if all == nil || t.Client == 0 || t.Kind == sim.Tick || t.Kind >= sim.FirstFault {
		return
	}
	h := hop{From: x.placeIn(int(t.Client) - 1)}
	if x.servers == y.servers && x.guarded == y.guarded && x.now == y.now {
		h.To = y.placeIn(int(t.Client) - 1)
	}
	all.add(h)
}

// list returns all hops.
func (all *hops) list() (list []hop) {
	if all == nil {
		return nil
	}
	for i := range all.shards {
		slots := load(&all.shards[i].slots)
		for k := range slots {
			if slots[k].key.Load() != 0 {
				list = append(list, slots[k].value)
			}
		}
	}
	return list
}

// traps sorts the places that have a step by where they can lead.
type traps struct {
	leads  map[uint64]bool // to a step that changes the servers or the time
	caught map[uint64]bool // neither to such a step nor to rest
}

// traps finds out where the places can lead.
func (all *hops) traps() *traps {
	back, x := map[uint64][]uint64{}, &traps{leads: map[uint64]bool{}, caught: map[uint64]bool{}}
	for _, h := range all.list() {
		back[h.To] = append(back[h.To], h.From)
		x.caught[h.From] = true
	}
	var ends []uint64
	for to := range back { // order-free: what can be reached from there is a set
		if !x.caught[to] {
			ends = append(ends, to)
		}
	}
	leading(back, x.leads, 0)
	rests := map[uint64]bool{}
	leading(back, rests, ends...)
	for at := range rests { // order-free: each by itself
		delete(x.caught, at)
	}
	return x
}

// leading adds to a set everything that leads to the given places.
func leading(back map[uint64][]uint64, set map[uint64]bool, to ...uint64) {
	for len(to) > 0 {
		at := to[len(to)-1]
		to = to[:len(to)-1]
		for _, y := range back[at] {
			if !set[y] {
				set[y] = true
				to = append(to, y)
			}
		}
	}
}

// hold reports whether no client can ever leave a state by a step, and some client goes on forever.
func (x *traps) hold(y *state, list []sim.Transition) bool {
	if x == nil || slices.ContainsFunc(list, ofServers) {
		return false
	}
	some := false
	for k := range y.clients {
		at := y.placeIn(k)
		if x.leads[at] {
			return false
		}
		some = some || x.caught[at]
	}
	return some
}

// circles looks for a state of a closed level from which the clients go on forever. If a limit is reached, it returns
// what remains unknown; otherwise "".
func (p *prover) circles(ctx context.Context, s *search) (left string, err error) {
	found := s.hops.traps()
	if len(found.caught) == 0 {
		return "", nil
	}
	x := newSearch(&p.scope, p.Reductions, s.most)
	x.memo, x.sentences, x.stuck, x.strict, x.again = p.memo, s.sentences, s.stuck, true, s.again
	x.doubtful, x.traps = s.doubtful, found
	if err := x.run(ctx, p.Workers, []edge{{}}, p.full); err != nil {
		return "", err
	}
	s.refuted, s.unsure = x.refuted, cmp.Or(s.unsure, x.unsure)
	if x.refuted == nil && len(x.pool.queue) > 0 {
		left = "whether some loop has no end is not known"
	}
	return left, nil
}

// goesOn judges the schedule that leads to a state from which the clients go on forever.
func (w *worker) goesOn() {
	w.endless(w.steps(w.next), "clients go on forever, from where neither the servers nor the time change any more")
}
