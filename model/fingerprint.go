package model

// Fingerprint returns a hash of the replica's state: znodes with all that a
// client can read of them but the times, sessions and watches. It does not
// depend on the order in which they were made, and costs time in proportion to
// their number. Zxids are hashed as rank returns them; it must keep their order.
func (s *Server) Fingerprint(rank func(zxid int64) int64) uint64 {
	sum := mix(uint64(rank(s.zxid)))
	for path, n := range s.nodes { // order-free: a sum
		x := hashString(1, path)
		x = hashString(x, string(n.data))
		for _, v := range [...]int64{rank(n.czxid), rank(n.mzxid), rank(n.pzxid), int64(n.version), int64(n.aversion), int64(n.creates),
			n.owner, int64(n.kind)} {
			x = mix(x + 0x9e3779b97f4a7c15 ^ uint64(v))
		}
		if n.kind == ttl { // it ends some time after
			x = mix(x + 0x9e3779b97f4a7c15 ^ uint64(n.mtime))
		}
		sum += x
	}
	for id, x := range s.sessions { // order-free: a sum
		sum += mix(uint64(id) ^ uint64(x.timeout)<<40)
	}
	for i, t := range [...]*watchTable{&s.data, &s.child} {
		for path, x := range t.paths { // order-free: a sum
			for w := range x.all() {
				h := hashString(uint64(i+2), path) ^ uint64(w.conn.Index)<<8 ^ uint64(w.mode)
				if len(w.conn.Auth) > 1 { // what it may hear of depends on that
					for _, id := range w.conn.Auth {
						h = hashString(hashString(h, id.Scheme), id.ID)
					}
				}
				sum += mix(h)
			}
		}
	}
	return sum
}

func hashString(x uint64, s string) uint64 {
	for i := range len(s) {
		x = (x ^ uint64(s[i])) * 0x100000001b3
	}
	return mix(x ^ uint64(len(s)))
}
