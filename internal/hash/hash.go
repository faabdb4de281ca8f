// Package hash has the one hash of zksim: a running 64-bit hash that is the same on every machine. It does not resist
// adversaries.
package hash

import (
	"encoding/binary"
	"math/bits"
)

// Hash is the hash of a sequence of values. The zero value is the hash of the empty sequence. Each method returns the
// hash of the sequence with one more value. Different sequences of the same types never have the same encoding.
type Hash uint64

// Uint64 appends x. To begin with a small number, it can instead be converted to a Hash.
func (h Hash) Uint64(x uint64) Hash {
	hi, lo := bits.Mul64(uint64(h)^0x9e3779b97f4a7c15, x^0xd1342543de82ef95)
	return Hash(hi ^ lo ^ x)
}

// Int appends n.
func (h Hash) Int(n int64) Hash { return h.Uint64(uint64(n)) }

// Bool appends b.
func (h Hash) Bool(b bool) Hash {
	if b {
		return h.Uint64(1)
	}
	return h.Uint64(2)
}

// String appends s with its length.
func (h Hash) String(s string) Hash {
	n := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		h = h.Uint64(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
	}
	rest := n
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
	}
	return h.Uint64(rest)
}

// Bytes appends b with its length; nil and empty differ.
func (h Hash) Bytes(b []byte) Hash {
	if b == nil {
		return h.Uint64(1 << 63)
	}
	n := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = h.Uint64(binary.LittleEndian.Uint64(b))
	}
	rest := n
	for _, c := range b {
		rest = rest<<8 | uint64(c)
	}
	return h.Uint64(rest)
}

// Mix returns a hash of one number. It is different for different numbers (the finalizer of splitmix64; Steele, Lea and
// Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
