package sim

import (
	"encoding/binary"
	"math/bits"

	"zksim/model"
)

// digest is a running hash of 64 bits, the same on every machine.
type digest uint64

func (d *digest) add(x uint64) {
	hi, lo := bits.Mul64(uint64(*d)^x^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	*d = digest(hi ^ lo)
}

func (d *digest) addString(s string) {
	for len(s) >= 8 {
		d.add(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	x := uint64(len(s))
	for i := range len(s) {
		x = x<<8 | uint64(s[i])
	}
	d.add(x)
}

func (d *digest) addBytes(b []byte) {
	for len(b) >= 8 {
		d.add(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	x := uint64(len(b))
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	d.add(x)
}

// addRequest adds what a server could see of r.
func (d *digest) addRequest(r *model.Request) {
	d.add(uint64(uint32(r.Op))<<32 | uint64(uint32(r.Version)))
	d.add(uint64(uint32(r.Flags))<<32 ^ uint64(r.TTL)<<8 ^ uint64(len(r.ACL))<<1 ^ bit(r.Watch))
	d.addString(r.Path)
	d.addBytes(r.Data)
	for i := range r.Ops {
		d.addRequest(&r.Ops[i])
	}
}

// addResponse adds what a client could see of r, zxids as rank returns them.
func (d *digest) addResponse(r *model.Response, rank func(int64) int64) {
	d.add(uint64(uint32(r.Err))<<32 | uint64(len(r.Children)))
	d.addString(r.Path)
	d.addBytes(r.Data)
	for _, name := range r.Children {
		d.addString(name)
	}
	s := &r.Stat
	d.add(uint64(rank(s.Czxid)) ^ uint64(rank(s.Mzxid))<<20 ^ uint64(rank(s.Pzxid))<<40)
	d.add(uint64(uint32(s.NumChildren))<<32 | uint64(uint32(s.DataLength)))
	d.add(uint64(s.EphemeralOwner) ^ uint64(uint32(s.Version))<<32 ^ uint64(uint32(s.Cversion))<<40 ^ uint64(uint32(s.Aversion))<<48)
	for _, a := range r.ACL {
		d.add(uint64(uint32(a.Perms)))
		d.addString(a.Scheme)
		d.addString(a.ID)
	}
	for i := range r.Results {
		d.addResponse(&r.Results[i], rank)
	}
}

// Hash returns the running hash: a digest of every step so far and of all that
// the clients sent and saw. It depends on nothing but the schedule.
func (w *World) Hash() uint64 { return uint64(w.hash) }

// Hashes returns the running hash after each step. Two runs of one schedule
// that differ part at the first index where these do.
func (w *World) Hashes() []uint64 { return w.hashes }
