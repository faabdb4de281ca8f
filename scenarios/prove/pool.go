package prove

import (
	"sync"
	"sync/atomic"
)

// pool gives work to idle workers. All edges that are not being explored are in it or on the stack of a worker.
type pool struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   []edge
	workers int
	idle    int // workers that wait for work or for the pause to end
	paused  bool
	stopped bool

	hungry atomic.Bool // a worker waits for work
	halt   atomic.Bool // workers must hand in what they have
}

func newPool(workers int) *pool {
	p := &pool{workers: workers}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// take returns work, a part of the queue, or false when there is none left or the search was stopped.
func (p *pool) take() ([]edge, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle++
	p.changed.Broadcast()
	for !p.stopped && (p.paused || len(p.queue) == 0) {
		if !p.paused && p.idle == p.workers {
			p.stopped = true
			p.changed.Broadcast()
			break
		}
		p.hungry.Store(true)
		p.changed.Wait()
	}
	if p.stopped {
		return nil, false
	}
	p.idle--
	n := max(1, len(p.queue)/p.workers)
	work := append([]edge(nil), p.queue[len(p.queue)-n:]...)
	p.queue = p.queue[:len(p.queue)-n]
	p.hungry.Store(false)
	return work, true
}

// give hands in edges.
func (p *pool) give(edges []edge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, edges...)
	p.changed.Broadcast()
}

// stop ends the search: no worker gets work any more.
func (p *pool) stop() {
	p.halt.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.changed.Broadcast()
}

// pause waits until all edges are in the queue, calls f, and lets work go on. It does not call f if the search is
// stopped meanwhile, because some edges may then be elsewhere.
func (p *pool) pause(f func(queue []edge)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = true
	p.halt.Store(true)
	for p.idle < p.workers && !p.stopped {
		p.changed.Wait()
	}
	p.paused = false
	if p.stopped {
		return
	}
	f(p.queue)
	p.halt.Store(false)
	p.changed.Broadcast()
}

// waiting returns the number of edges in the queue.
func (p *pool) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}
