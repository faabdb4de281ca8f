package prove

import (
	"cmp"
	"math/bits"
	"sync"

	"zksim/internal/hash"
)

// fingerprint is a hash of a state, of 128 bits.
type fingerprint [2]uint64

// compare orders two fingerprints, like cmp.Compare.
func (x fingerprint) compare(y fingerprint) int {
	return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
}

// set is a set of fingerprints that workers share. It takes 16 bytes a member, plus a quarter to two fifths.
type set struct {
	shards [shardCount]struct {
		mu    sync.Mutex
		count int
		sum   uint64        // mixed first halves of all members
		slots []fingerprint // open addressing, at most four fifths full; zero is a free one
		_     [8]byte
	}
}

// add adds x to the set, and reports whether it is new.
func (s *set) add(x fingerprint) (fresh bool) {
	x[0] = keyOf(x[0]) // a free slot has 0
	shard := &s.shards[x[0]>>58]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if 5*(shard.count+1) > 4*len(shard.slots) {
		more := make([]fingerprint, 8+len(shard.slots)+len(shard.slots)/7)
		for _, y := range shard.slots {
			if y[0] != 0 {
				*placeOf(more, y) = y
			}
		}
		shard.slots = more
	}
	slot := placeOf(shard.slots, x)
	if *slot == x {
		return false
	}
	*slot = x
	shard.count++
	shard.sum += hash.Mix(x[0])
	return true
}

// placeOf returns the slot of x, or the free slot where it belongs.
func placeOf(slots []fingerprint, x fingerprint) *fingerprint {
	i, _ := bits.Mul64(x[0]<<6, uint64(len(slots)))
	for ; slots[i] != x && slots[i][0] != 0; i++ {
		if i+1 == uint64(len(slots)) {
			i = ^uint64(0)
		}
	}
	return &slots[i]
}

// size returns the number of members, and a digest of them that does not depend on their order.
func (s *set) size() (members int, digest uint64) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		members += shard.count
		digest += shard.sum
		shard.mu.Unlock()
	}
	return members, digest
}

// members returns the members of a shard. Nothing may be added meanwhile.
func (s *set) members(shard int) (list []fingerprint) {
	for _, x := range s.shards[shard].slots {
		if x[0] != 0 {
			list = append(list, x)
		}
	}
	return list
}
