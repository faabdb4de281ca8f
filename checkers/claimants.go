package checkers

import "zksim/internal/hash"

// claimants are the claims that their objects have not given up and were not told are lost, valid or not. A monitor
// needs them for its hash only: objects of one client may claim by the same path, or by one that nobody knows, and the
// world knows which of them do.
type claimants []claim

// claims notes that an object claims c and nothing else.
func (l *claimants) claims(c claim) {
	l.end(c.object)
	*l = append(*l, c)
}

// end notes that an object no longer claims anything.
func (l *claimants) end(object int32) {
	*l = withoutObject(*l, object)
}

// crash forgets what a client claims.
func (l *claimants) crash(client int32) {
	*l = withoutClient(*l, client)
}

// print returns a hash that tells a claim from those of all other objects.
func (l claimants) print(c claim) hash.Hash {
	p, n := c.print(), uint64(0)
	for _, d := range l {
		if d.client == c.client && d.path == c.path && d.object < c.object {
			n++
		}
	}
	if n > 0 {
		p = p.Uint64(n)
	}
	return p
}
