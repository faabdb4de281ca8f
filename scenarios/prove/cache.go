package prove

import (
	"cmp"
	"sync"
	"sync/atomic"
)

// cache is a table that forgets. What was not asked for while a whole generation of new things was learned may have to
// be found out again. So results must not depend on its contents.
type cache[T any] struct {
	generation int // 0: usualGeneration

	both atomic.Pointer[generations[T]]
	mu   sync.Mutex // for adding
	made int        // number of additions
}

// generations are the generations of a cache. Nothing new goes into the old one.
type generations[T any] struct{ young, old *table[T] }

// usualGeneration keeps a cache of small values below a hundred megabytes.
const usualGeneration = 1 << 20

func (c *cache[T]) get(key uint64) (x T, ok bool) {
	g := c.both.Load()
	if g == nil {
		return x, false
	}
	if x, ok = g.young.get(key); ok {
		return x, true
	}
	if x, ok = g.old.get(key); ok {
		g.young.put(key, x)
	}
	return x, ok
}

// put puts x into the cache unless the key is taken. It returns the value under the key.
func (c *cache[T]) put(key uint64, x T) T {
	if there, ok := c.get(key); ok {
		return there
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.both.Load()
	if g == nil {
		g = &generations[T]{young: &table[T]{}, old: &table[T]{}}
		c.both.Store(g)
	}
	if c.made++; c.made%cmp.Or(c.generation, usualGeneration) == 0 {
		g = &generations[T]{young: &table[T]{}, old: g.young}
		c.both.Store(g)
	}
	return g.young.put(key, x)
}

// size returns how many things the cache has held so far. What was forgotten and found out again counts again.
func (c *cache[T]) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made
}
