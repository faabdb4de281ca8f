package prove

import (
	"sync"

	"zksim/internal/hash"
)

// visited is the set of fingerprints of the states that were reached: 8 bytes
// each, in open addressing, at most three quarters full. It is safe for concurrent
// use.
type visited struct {
	shards [shardCount]shard
}

const shardCount = 64

type shard struct {
	mu    sync.Mutex
	table []uint64 // 0: empty
	count int
	sum   uint64 // of all members, mixed
	zero  bool   // 0 is a member
	_     [64]byte
}

// add adds x and reports whether it is new.
func (v *visited) add(x uint64) bool {
	s := &v.shards[x>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	if x == 0 {
		if s.zero {
			return false
		}
		s.zero = true
		s.count++
		return true
	}
	if 4*(s.count+1) > 3*len(s.table) {
		s.grow()
	}
	if !s.insert(x) {
		return false
	}
	s.count++
	s.sum += uint64(hash.Hash(x).Uint64(x))
	return true
}

func (s *shard) insert(x uint64) bool {
	mask := uint64(len(s.table) - 1)
	for i := x & mask; ; i = (i + 1) & mask {
		switch s.table[i] {
		case 0:
			s.table[i] = x
			return true
		case x:
			return false
		}
	}
}

func (s *shard) grow() {
	old := s.table
	s.table = make([]uint64, max(64, 2*len(old)))
	for _, x := range old {
		if x != 0 {
			s.insert(x)
		}
	}
}

// size returns the number of members, and a digest of them that does not depend on the
// order in which they came.
func (v *visited) size() (members int, digest uint64) {
	for i := range v.shards {
		s := &v.shards[i]
		s.mu.Lock()
		members += s.count
		digest += s.sum
		s.mu.Unlock()
	}
	return members, digest
}
