package sim

import "encoding/binary"

// Hash returns the running hash: a digest of every step so far and of all that
// the clients sent and saw. It depends on nothing but the schedule.
func (w *World) Hash() uint64 { return w.hash }

// Hashes returns the running hash after each step. Two runs of one schedule
// that differ part at the first index where these do.
func (w *World) Hashes() []uint64 { return w.hashes }

func (w *World) fold(x uint64) { w.hash = mix(w.hash + 0x9e3779b97f4a7c15 ^ x) }

func (w *World) foldString(s string) {
	for len(s) >= 8 {
		w.fold(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	x := uint64(len(s))
	for i := range len(s) {
		x = x<<8 | uint64(s[i])
	}
	w.fold(x)
}

func (w *World) foldBytes(b []byte) {
	for len(b) >= 8 {
		w.fold(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	x := uint64(len(b))
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	w.fold(x)
}
