package sim

import (
	"zksim/internal/hash"
	"zksim/model"
)

// hashRequest appends all that a server could see of r, except the zxid of a SetWatches; see watched.
func hashRequest(h hash.Hash, r *model.Request) hash.Hash {
	h = h.Int(int64(r.Op)).Int(int64(r.Version)).Int(int64(r.Flags)).Int(int64(r.Mode)).Int(r.TTL).Bool(r.Watch)
	h = model.HashACL(h.String(r.Path).Bytes(r.Data), r.ACL).Int(int64(len(r.Ops)))
	for i := range r.Ops {
		h = hashRequest(h, &r.Ops[i])
	}
	if l := r.Watches; l != nil {
		for _, paths := range [...][]string{l.Data, l.Exist, l.Child, l.Persistent, l.Recursive} {
			h = hashStrings(h, paths)
		}
	}
	return h
}

// hashRequest appends a request of the client on its way, and which rules of the plan aim at it.
func (c *Client) hashRequest(h hash.Hash, r *model.Request) hash.Hash {
	aimed := uint64(0)
	if c.w.injector != nil {
		aimed = c.w.injector.Aimed(c, r)
	}
	return hashRequest(h.Uint64(aimed), r)
}

// hashResponse appends all that client code could see of r.
func hashResponse(h hash.Hash, r *model.Response) hash.Hash {
	h = h.Int(int64(r.Op)).Int(int64(r.Err)).String(r.Path).Bytes(r.Data)
	h = hashStrings(h, r.Children).Int(int64(r.Count)).Bool(r.Silent).Bool(r.Hangup)
	s := &r.Stat
	for _, n := range [...]int64{s.Czxid, s.Mzxid, s.Pzxid, s.Ctime, s.Mtime, s.EphemeralOwner} {
		h = h.Int(n)
	}
	for _, n := range [...]int32{s.Version, s.Cversion, s.Aversion, s.DataLength, s.NumChildren} {
		h = h.Int(int64(n))
	}
	h = model.HashACL(h, r.ACL).Int(int64(len(r.Results)))
	for i := range r.Results {
		h = hashResponse(h, &r.Results[i])
	}
	return h
}

func hashStrings(h hash.Hash, list []string) hash.Hash {
	h = h.Int(int64(len(list)))
	for _, s := range list {
		h = h.String(s)
	}
	return h
}

func hashIdentities(h hash.Hash, list []model.ID) hash.Hash {
	h = h.Int(int64(len(list)))
	for _, id := range list {
		h = h.String(id.Scheme).String(id.ID)
	}
	return h
}

// hashOf returns the hash of a string.
func hashOf(s string) uint64 { return uint64(hash.Hash(0).String(s)) }

// Hash returns the running hash: a digest of every step so far and of all that the clients sent and saw. It depends
// only on the schedule.
func (w *World) Hash() uint64 { return uint64(w.hash) }

// Hashes returns the running hash after each step. Two runs of one schedule that differ part at the first index where
// their hashes do.
func (w *World) Hashes() []uint64 { return w.hashes }
