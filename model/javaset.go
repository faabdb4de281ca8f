package model

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"zksim/internal/hash"
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

// grow returns the number of buckets of a HashSet that has started with initial buckets and reached size elements. It
// never shrinks.
func grow(buckets, initial uint32, size int) uint32 {
	buckets = max(buckets, initial)
	for size > int(buckets/4*3) {
		buckets *= 2
	}
	return buckets
}

// cloneBuckets returns the number of buckets of HashSet.clone, which sizes them for the elements at hand
// (HashMap.putMapEntries).
func cloneBuckets(size int) uint32 {
	b := uint32(1)
	for b < uint32(float32(size)/0.75+1) {
		b *= 2
	}
	return b
}

// iteration puts nodes in the order in which a HashSet with that many buckets iterates: by bucket, and within a
// bucket by insertion. It takes linear time.
func iteration(nodes []*node, buckets uint32, hash func(*node) uint32) {
	bucket := func(n *node) uint32 { return hash(n) & (buckets - 1) }
	scatter(nodes, buckets, bucket)
	withinBuckets(nodes, bucket, func(a, b *node) int { return cmp.Compare(a.born, b.born) })
}

// cloned takes nodes in the order of a set and puts them in the order of its clone.
func cloned(nodes []*node, hash func(*node) uint32) {
	buckets := cloneBuckets(len(nodes))
	scatter(nodes, buckets, func(n *node) uint32 { return hash(n) & (buckets - 1) })
}

func nameHash(n *node) uint32 { return n.hash }
func pathHash(n *node) uint32 { return javaHash(n.path) }

// shuffled puts nodes in an order that depends only on their names and salt. ZooKeeper promises no order at all. It
// takes linear time.
func shuffled(nodes []*node, salt uint64) {
	order := func(a, b *node) int {
		if c := cmp.Compare(hash.Mix(uint64(a.hash)^salt), hash.Mix(uint64(b.hash)^salt)); c != 0 {
			return c
		}
		return cmp.Compare(a.path, b.path)
	}
	if len(nodes) <= few {
		slices.SortFunc(nodes, order)
		return
	}
	high := bits.Len(uint(len(nodes)))
	bucket := func(n *node) uint32 { return uint32(hash.Mix(uint64(n.hash)^salt) >> (64 - high)) }
	scatter(nodes, 1<<high, bucket)
	withinBuckets(nodes, bucket, order)
}

// few is the size up to which sorting beats counting.
const few = 64

// scatter sorts nodes by bucket and keeps the order within each bucket.
func scatter(nodes []*node, buckets uint32, bucket func(*node) uint32) {
	if len(nodes) <= few {
		slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(bucket(a), bucket(b)) })
		return
	}
	next := make([]int32, buckets+1)
	for _, n := range nodes {
		next[bucket(n)+1]++
	}
	for b := range buckets {
		next[b+1] += next[b]
	}
	for _, n := range slices.Clone(nodes) {
		b := bucket(n)
		nodes[next[b]] = n
		next[b]++
	}
}

// withinBuckets sorts the nodes of each bucket.
func withinBuckets(nodes []*node, bucket func(*node) uint32, order func(a, b *node) int) {
	for i := 0; i < len(nodes); {
		k := i + 1
		for k < len(nodes) && bucket(nodes[k]) == bucket(nodes[i]) {
			k++
		}
		slices.SortFunc(nodes[i:k], order)
		i = k
	}
}
