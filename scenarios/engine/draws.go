package engine

import (
	"sync"

	"zksim/internal/hash"
)

// Draws draws the numbers of [Process.Choose] for a [Host] that explores nothing. A number depends on the seed, the
// client, and how many its program has had.
type Draws struct {
	Seed uint64

	mu    sync.Mutex
	drawn map[int]uint64 // by client
}

// Choose implements [Host].
func (d *Draws) Choose(p *Process, n int) int {
	d.mu.Lock() //zksim:ignore not used in the simulator
	defer d.mu.Unlock()
	if d.drawn == nil {
		d.drawn = map[int]uint64{}
	}
	d.drawn[p.ID]++
	return int(hash.Mix(uint64(hash.Hash(d.Seed).Int(int64(p.ID)).Uint64(d.drawn[p.ID]))) % uint64(n))
}
