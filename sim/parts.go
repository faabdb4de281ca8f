package sim

import (
	"cmp"
	"slices"

	"zksim/model"
)

// The state of a world in parts: its servers, each client with its connection, and the
// rest. What a step does to a part depends on few others, so exhaustive search can
// remember it and need not run the code again.

// Servers is the state of the servers, and what is asked about it elsewhere.
type Servers struct {
	hash     uint64
	lag      bool // there are followers
	mortal   bool // a znode ends some time, or may be reaped
	changed  []stamp
	sessions []int64
	watching []uint64        // by client, c1 first: a hash of the watches there are for it; 0: none
	snapshot *model.Snapshot // for a StandIn; nil: there is more to them
}

// stamp says when a znode has changed last: the ranks of zxids.
type stamp struct {
	path           uint64
	data, children int64
}

// Hash returns a hash of all that the servers have.
func (s *Servers) Hash() uint64 { return s.hash }

// Mortal reports whether there are znodes whose end is a matter of time.
func (s *Servers) Mortal() bool { return s.mortal }

// ServersHash returns what the Hash of [World.Servers] would.
func (w *World) ServersHash() uint64 {
	var d digest
	for _, s := range w.servers {
		d.add(s.store.Fingerprint(w.Rank))
		d.add(uint64(w.committed-s.applied)<<1 | bit(s.frozen))
	}
	for i := w.everywhere(); i < len(w.log); i++ {
		e := &w.log[i]
		d.add(uint64(e.txn.Session))
		d.addRequest(&e.req)
	}
	return uint64(d)
}

// Servers returns the state of the servers.
func (w *World) Servers() *Servers {
	store := w.leader().store
	s := &Servers{hash: w.ServersHash(), lag: len(w.servers) > 1, mortal: store.NextReap() != model.Never, sessions: store.Sessions()}
	if len(w.servers) == 1 {
		s.snapshot, _ = store.Snapshot(w.Rank)
	}
	store.Changed(func(path string, data, children int64) {
		s.changed = append(s.changed, stamp{namePrint(path), w.Rank(data), w.Rank(children)})
	})
	slices.SortFunc(s.changed, func(a, b stamp) int { return cmp.Compare(a.path, b.path) })
	for _, c := range w.clients {
		var d digest
		if c.conn.Watching() {
			for _, x := range w.servers[c.server].store.Watches(&c.conn) {
				d.add(watchPrint(x))
			}
		}
		s.watching = append(s.watching, uint64(d))
	}
	return s
}

// missed returns what a server makes of a watch whose client says that it knows all up
// to a zxid: whether the znode, or its list of children, has changed since. What is yet to
// change will be newer in any case.
func (s *Servers) missed(x watched) uint64 {
	if s.lag {
		return uint64(x.since)
	}
	i, ok := slices.BinarySearchFunc(s.changed, x.path, func(y stamp, path uint64) int { return cmp.Compare(y.path, path) })
	if !ok {
		return 0
	}
	return bit(s.changed[i].data > x.since) | bit(s.changed[i].children > x.since)<<1
}

// Of returns what of the servers decides which steps of a client are possible.
func (s *Servers) Of(p *Part) uint64 {
	return bit(slices.Contains(s.sessions, p.session)) | bit(slices.Contains(s.sessions, p.session-1))<<1 | bit(s.watching[p.id-1] != 0)<<2
}

// Watching returns a hash of the watches that there are for a client; 0 if there are none.
func (s *Servers) Watching(p *Part) uint64 { return s.watching[p.id-1] }

// Rest returns a hash of what is neither servers nor clients: the time where it counts,
// and the faults that are yet to come.
func (w *World) Rest() uint64 {
	var d digest
	d.add(bit(w.calm))
	if w.Detail.Clock == Times || w.leader().store.NextReap() != model.Never {
		d.add(uint64(w.now))
	}
	if w.injector != nil {
		d.add(w.injector.Fingerprint())
	}
	return uint64(d)
}
