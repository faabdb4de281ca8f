package sim

import (
	"cmp"
	"slices"

	"zksim/internal/hash"
	"zksim/model"
)

// The state of a world in parts: its servers, each client with its connection, the time, and the rest. What a step does
// to a part depends on few other parts, so exhaustive search can remember it and need not run the code again.

// Servers is the state of the servers, and what others ask about it.
type Servers struct {
	hash    uint64
	mortal  bool // a znode will end, or may be reaped
	members []member
	lead    int
	respite int64
	former  int64
	log     []logged // what some server has not applied
	before  int64    // the zxid before these
	moves   []Transition
	stance  uint64
	deposed uint64
}

// logged is an entry of the log that shares no memory with the run that it comes from.
type logged struct {
	txn    model.Txn
	req    model.Request
	author int // number of the client; 0: the environment
}

// member is the state of one server.
type member struct {
	*Stored
	applied        int // of the log
	frozen         bool
	deposed, stuck bool
}

// Stored is what a replica has. Servers that have applied the same share one. It does not change.
type Stored struct {
	snapshot *model.Snapshot // for a Replica; nil: the server has more than that
	sessions []int64
	changed  []stamp // by path
}

// stamp says when a znode has last changed, as zxids.
type stamp struct {
	path           uint64 // hash
	data, children int64
}

// Hash returns a hash of all that the servers have.
func (s *Servers) Hash() uint64 { return s.hash }

// Moves returns what is possible for servers that do not lead.
func (s *Servers) Moves() []Transition { return s.moves }

// Several reports whether there is more than one server.
func (s *Servers) Several() bool { return len(s.members) > 1 }

// Deposed returns a hash of the deposed leader that does not know it is; 0 if there is none.
func (s *Servers) Deposed() uint64 { return s.deposed }

// Respite returns until when, after an election, no session ends; 0 if that time is over.
func (s *Servers) Respite(now int64) int64 {
	if s.respite <= now {
		return 0
	}
	return s.respite
}

// Everywhere returns how many txns all servers have applied; 0 with one server.
func (w *World) Everywhere() int64 {
	if len(w.servers) == 1 {
		return 0
	}
	return int64(w.everywhere())
}

// Stance returns a hash of what decides which steps and faults of the servers are possible and, with [Servers.Of] and
// [Part.Head], which of a client.
func (s *Servers) Stance() uint64 { return s.stance }

// Mortal reports whether there are znodes whose end is a matter of time.
func (s *Servers) Mortal() bool { return s.mortal }

// ServersHash returns the Hash of [World.Servers].
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

// logged returns the entry for the state of the servers.
func (e *entry) logged() logged {
	x := logged{txn: e.txn, req: e.req}
	x.txn.Req = nil
	if e.author != nil {
		x.author = e.author.id
	}
	return x
}

// Servers returns the state of the servers.
func (w *World) Servers() *Servers {
	leader, base := w.leader().store, w.everywhere()
	s := &Servers{hash: w.ServersHash(), mortal: leader.NextReap() != model.Never, lead: w.lead,
		respite: w.respite, former: w.former}
	for _, x := range w.servers {
		s.members = append(s.members, member{x.stored(), x.applied - base, x.frozen, x.deposed, x.stuck})
	}
	if s.Several() {
		for _, x := range w.servers {
			if x.applied == base {
				s.before = x.store.Zxid()
			}
		}
		for i := base - w.trimmed; i < len(w.log); i++ {
			s.log = append(s.log, w.log[i].logged())
		}
		s.moves, s.stance = w.appendServers(nil), w.standing(base)
		if k := w.Deposed(); k >= 0 {
			h := hash.Hash(k + 1).Int(int64(s.members[k].applied)).Int(w.servers[k].store.Zxid())
			if w.former > 0 {
				h = h.Int(w.former)
			}
			s.deposed = uint64(h)
		}
	}
	return s
}

// standing returns the stance of the servers; base is how many txns all of them have applied.
func (w *World) standing(base int) uint64 {
	h := hash.Hash(w.lead).Int(int64(w.committed - base))
	for _, s := range w.servers {
		h = h.Int(int64(s.applied - base)).Bool(s.frozen).Bool(s.deposed)
	}
	return uint64(h)
}

// stored returns what the server has, from World.Share if that has it.
func (s *server) stored() *Stored {
	if s.w.Share == nil {
		return storedOf(s.store)
	}
	return s.w.Share(s.store.Fingerprint(), func() *Stored { return storedOf(s.store) })
}

func storedOf(s *model.Server) *Stored {
	x := &Stored{sessions: s.Sessions()}
	x.snapshot, _ = s.Snapshot()
	s.Changed(func(path string, data, children int64) {
		x.changed = append(x.changed, stamp{hashOf(path), data, children})
	})
	slices.SortFunc(x.changed, func(a, b stamp) int { return cmp.Compare(a.path, b.path) })
	return x
}

// missed returns what the servers make of a watch whose client says that it knows everything up to a zxid. That is
// whether the znode, or its list of children, has changed since, on each server and by each txn that some server has
// not applied. Txns that change nothing and have the zxid of the one before do not count, see [Detail.DenseZxids]. What
// is yet to change will be newer in any case.
func (s *Servers) missed(x watched) uint64 {
	if !s.Several() {
		return s.members[0].missed(x)
	}
	var h hash.Hash
	for i := range s.members {
		h = h.Uint64(s.members[i].missed(x))
	}
	newer, before := 0, s.before
	for i := range s.log {
		zxid := s.log[i].txn.Zxid
		newer += int(bit(zxid > x.since && zxid > before))
		before = zxid
	}
	return uint64(h.Int(int64(newer)))
}

func (s *Stored) missed(x watched) uint64 {
	i, ok := slices.BinarySearchFunc(s.changed, x.path,
		func(y stamp, path uint64) int { return cmp.Compare(y.path, path) })
	if !ok {
		return 0
	}
	return bit(s.changed[i].data > x.since) | bit(s.changed[i].children > x.since)<<1
}

// Of returns what decides, of the servers, which steps of a client are possible: which servers have its session, and
// which the one before.
func (s *Servers) Of(p *Part) (bits uint64) {
	for k := range s.members {
		list := s.members[k].sessions
		bits |= (bit(slices.Contains(list, p.session)) | bit(slices.Contains(list, p.session-1))<<1) << (2 * k)
	}
	return bits
}

// Rest returns a hash of what is neither servers nor clients nor the time: whether the faults are over, and which are
// yet to come.
func (w *World) Rest() uint64 {
	h := hash.Hash(0).Bool(w.calm)
	if w.injector != nil {
		h = h.Uint64(w.injector.Fingerprint())
	}
	return uint64(h)
}
