package sim

import (
	"cmp"
	"slices"

	"zksim/internal/hash"
	"zksim/model"
)

// The state of a world in parts: its servers, each client with its connection, the
// time, and the rest. What a step does to a part depends on few others, so exhaustive
// search can remember it and need not run the code again.

// Servers is the state of the servers, and what is asked about it elsewhere.
type Servers struct {
	hash     uint64
	lag      bool // there are followers
	deposed  bool // a leader was deposed and does not know it
	mortal   bool // a znode ends some time, or may be reaped
	changed  []stamp
	sessions []int64
	snapshot *model.Snapshot // for a Replica; nil: there is more to them
}

// stamp says when a znode has changed last: zxids.
type stamp struct {
	path           uint64 // hash
	data, children int64
}

// Hash returns a hash of all that the servers have.
func (s *Servers) Hash() uint64 { return s.hash }

// Deposed reports whether there is a leader that was deposed and does not know it.
func (s *Servers) Deposed() bool { return s.deposed }

// Mortal reports whether there are znodes whose end is a matter of time.
func (s *Servers) Mortal() bool { return s.mortal }

// ServersHash returns what the Hash of [World.Servers] would.
func (w *World) ServersHash() uint64 {
	var h hash.Hash
	for _, s := range w.servers {
		h = h.Uint64(s.store.Fingerprint()).Int(int64(w.committed - s.applied)).Bool(s.frozen)
	}
	for i := w.everywhere() - w.trimmed; i < len(w.log); i++ {
		h = w.log[i].hashed(h)
	}
	if len(w.servers) > 1 {
		h = w.reign(h)
	}
	return uint64(h)
}

// hashed appends all that a follower will make of the entry.
func (e *entry) hashed(h hash.Hash) hash.Hash {
	t := &e.txn
	h = hashIdentities(h.Int(t.Zxid).Int(t.Time).Int(t.Session), t.Auth)
	if e.author != nil {
		h = h.Int(int64(e.author.id))
	}
	return hashRequest(h, &e.req)
}

// Servers returns the state of the servers.
func (w *World) Servers() *Servers {
	store := w.leader().store
	s := &Servers{hash: w.ServersHash(), lag: len(w.servers) > 1, deposed: w.Deposed() >= 0,
		mortal:   store.NextReap() != model.Never,
		sessions: store.Sessions()}
	if len(w.servers) == 1 {
		s.snapshot, _ = store.Snapshot()
	}
	store.Changed(func(path string, data, children int64) {
		s.changed = append(s.changed, stamp{hashOf(path), data, children})
	})
	slices.SortFunc(s.changed, func(a, b stamp) int { return cmp.Compare(a.path, b.path) })
	return s
}

// missed returns what a server makes of a watch whose client says that it knows all up
// to a zxid: whether the znode, or its list of children, has changed since. What is yet to
// change will be newer in any case.
func (s *Servers) missed(x watched) uint64 {
	if s.lag {
		return uint64(x.since)
	}
	i, ok := slices.BinarySearchFunc(s.changed, x.path,
		func(y stamp, path uint64) int { return cmp.Compare(y.path, path) })
	if !ok {
		return 0
	}
	return bit(s.changed[i].data > x.since) | bit(s.changed[i].children > x.since)<<1
}

// Of returns what of the servers decides which steps of a client are possible.
func (s *Servers) Of(p *Part) uint64 {
	return bit(slices.Contains(s.sessions, p.session)) | bit(slices.Contains(s.sessions, p.session-1))<<1
}

// Rest returns a hash of what is neither servers nor clients nor the time: whether the faults are
// over, and which are yet to come.
func (w *World) Rest() uint64 {
	h := hash.Hash(0).Bool(w.calm)
	if w.injector != nil {
		h = h.Uint64(w.injector.Fingerprint())
	}
	return uint64(h)
}
