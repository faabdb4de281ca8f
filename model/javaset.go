package model

import (
	"cmp"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// javaHash is the hash that java.util.HashMap uses for a String.
func javaHash(s string) uint32 { return spread(stringHash(s)) }

func spread(h uint32) uint32 { return h ^ h>>16 }

// stringHash is Java's String.hashCode.
func stringHash(s string) uint32 {
	var h uint32
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			h = 31*h + uint32(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			h = 31*(31*h+uint32(r1)) + uint32(r2)
		} else {
			h = 31*h + uint32(r)
		}
		i += n
	}
	return h
}

// grow returns the number of buckets of a HashSet made with the given initial
// number after it has reached size elements. It never shrinks.
func grow(buckets, initial uint32, size int) uint32 {
	buckets = max(buckets, initial)
	for size > int(buckets/4*3) {
		buckets *= 2
	}
	return buckets
}

// cloneBuckets is the number of buckets of HashSet.clone: sized for the
// elements at hand (HashMap.putMapEntries).
func cloneBuckets(size int) uint32 {
	b := uint32(1)
	for b < uint32(float32(size)/0.75+1) {
		b *= 2
	}
	return b
}

// byInsertion and then byBucket sort nodes as a HashSet with that many buckets
// iterates: by bucket, and by insertion within one.
func byInsertion(nodes []*node) {
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.born, b.born) })
}

func byBucket(nodes []*node, buckets uint32, hash func(*node) uint32) {
	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Compare(hash(a)&(buckets-1), hash(b)&(buckets-1))
	})
}

func nameHash(n *node) uint32 { return n.hash }
func pathHash(n *node) uint32 { return javaHash(n.path) }

// shuffled sorts nodes by a hash of name and salt: an order that depends on
// nothing but the names. ZooKeeper promises no order at all.
func shuffled(nodes []*node, salt uint64) {
	slices.SortFunc(nodes, func(a, b *node) int {
		if c := cmp.Compare(mix(uint64(a.hash)^salt), mix(uint64(b.hash)^salt)); c != 0 {
			return c
		}
		return cmp.Compare(a.path, b.path)
	})
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
