package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// running is the set of functions that were started and have not returned. It is not a sync.WaitGroup, which forbids
// a start from zero while another goroutine waits and does not know names. The zero value is ready for use.
type running struct {
	mu    sync.Mutex
	names map[string]int // how many of each name
	idle  chan struct{}  // closed and dropped when names becomes empty; made by the first start
}

// start runs f in a goroutine of its own.
func (r *running) start(name string, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.names) == 0 {
		r.names = map[string]int{}
		r.idle = make(chan struct{})
	}
	r.names[name]++
	go func() {
		defer r.end(name) // also when f ends with runtime.Goexit
		f()
	}()
}

func (r *running) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[name]--; r.names[name] == 0 {
		delete(r.names, name)
	}
	if len(r.names) == 0 {
		close(r.idle)
	}
}

// wait has the contract of Client.Wait.
func (r *running) wait(ctx context.Context) error {
	r.mu.Lock()
	idle, busy := r.idle, len(r.names) > 0
	r.mu.Unlock()
	if !busy {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-idle: // both at once
		return nil
	default:
		return fmt.Errorf("live: still running: %s: %w", r.list(), ctx.Err())
	}
}

// list names what is running, "lock/watch, queue/take (3)".
func (r *running) list() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.Sorted(maps.Keys(r.names))
	for i, name := range names {
		if n := r.names[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	return strings.Join(names, ", ")
}
