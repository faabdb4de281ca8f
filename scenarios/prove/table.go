package prove

import (
	"sync"
	"sync/atomic"
)

// table is a map from hashes that workers share. Entries never change, so lookups never wait.
type table[T any] struct {
	shards [shardCount]struct {
		mu    sync.Mutex // for adding
		count int
		slots atomic.Pointer[[]slot[T]] // open addressing, at most three quarters full
		_     [40]byte
	}
}

const shardCount = 64

// slot is an entry of a table. Its value is set before its key, and neither changes afterwards.
type slot[T any] struct {
	key   atomic.Uint64 // 0: free
	value T
}

// keyOf returns the key in a slot: 0 would mean a free one.
func keyOf(key uint64) uint64 { return max(key, 1) }

// find returns the slot of a key, or the free one where it belongs.
func find[T any](slots []slot[T], key uint64) (s *slot[T], there bool) {
	mask := uint64(len(slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch s = &slots[i]; s.key.Load() {
		case key:
			return s, true
		case 0:
			return s, false
		}
	}
}

// load returns the slots of a shard, nil while it is empty.
func load[T any](p *atomic.Pointer[[]slot[T]]) []slot[T] {
	if all := p.Load(); all != nil {
		return *all
	}
	return nil
}

func (t *table[T]) get(key uint64) (x T, ok bool) {
	key = keyOf(key)
	if slots := load(&t.shards[key>>58].slots); slots != nil {
		if s, there := find(slots, key); there {
			return s.value, true
		}
	}
	return x, false
}

// put puts x into the table unless the key is taken. It returns the value under the key.
func (t *table[T]) put(key uint64, x T) T {
	key = keyOf(key)
	shard := &t.shards[key>>58]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	slots := load(&shard.slots)
	if 4*(shard.count+1) > 3*len(slots) {
		more := grown(slots)
		shard.slots.Store(&more)
		slots = more
	}
	s, known := find(slots, key)
	if known {
		return s.value
	}
	s.value = x
	s.key.Store(key)
	shard.count++
	return x
}

// size returns the number of keys.
func (t *table[T]) size() (keys int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		keys += s.count
		s.mu.Unlock()
	}
	return keys
}

// grown returns a copy of the slots with twice the room.
func grown[T any](old []slot[T]) []slot[T] {
	more := make([]slot[T], max(8, 2*len(old)))
	for i := range old {
		if key := old[i].key.Load(); key != 0 {
			s, _ := find(more, key)
			s.value = old[i].value
			s.key.Store(key)
		}
	}
	return more
}
