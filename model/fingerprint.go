package model

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// Fingerprint returns a hash of the replica's state: znodes with everything that a client can read of them, sessions
// and watches. If Config.Order is set, it does not depend on the order in which they were made, and that state
// decides everything that the replica does from then on. It takes time in proportion to their number.
func (s *Server) Fingerprint() uint64 {
	var h hash.Hash
	h = h.Int(s.zxid).Bool(s.ExtendedTypes).Bool(s.EnforceQuota).Uint64(s.Order)
	if s.Like != ZooKeeper {
		h = h.Int(int64(s.Like))
	}
	sum := uint64(0)
	for _, n := range s.nodes { // order-free: a sum
		sum += n.hashed()
	}
	for id, x := range s.sessions { // order-free: a sum
		sum += hash.Mix(uint64(hash.Hash(1).Int(id).Int(int64(x.timeout))))
	}
	for i, t := range [...]*watchTable{&s.data, &s.child} {
		for path, x := range t.paths { // order-free: a sum
			for w := range x.all() {
				sum += w.hashed(i, path)
			}
		}
	}
	return uint64(h.Uint64(sum))
}

// hashed returns a hash of the znode without its parent and children, which the paths tell.
func (n *node) hashed() uint64 {
	h := HashACL(hash.Hash(2).String(n.path).Bytes(n.data), n.acl.list)
	for _, x := range [...]int64{n.owner, n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime} {
		h = h.Int(x)
	}
	for _, x := range [...]int32{n.version, n.aversion, n.creates, int32(n.kind)} {
		h = h.Int(int64(x))
	}
	if n.sets != 0 {
		h = h.Int(int64(n.sets))
	}
	return hash.Mix(uint64(h))
}

// hashed returns a hash of a watch on path and of the identities that decide what it may hear.
func (w *watch) hashed(table int, path string) uint64 {
	h := hash.Hash(3).Int(int64(table)).String(path).Int(int64(w.conn.Index)).Int(int64(w.mode))
	for _, id := range w.conn.Auth {
		h = h.String(id.Scheme).String(id.ID)
	}
	return hash.Mix(uint64(h))
}

// HashACL appends an access control list.
func HashACL(h hash.Hash, list []zk.ACL) hash.Hash {
	if slices.Equal(list, openACL.list) {
		return h.Int(-1)
	}
	h = h.Int(int64(len(list)))
	for _, a := range list {
		h = h.Int(int64(a.Perms)).String(a.Scheme).String(a.ID)
	}
	return h
}
