package live

import (
	"slices"
	"sync"
)

// left is the set of requests that have not ended but that nobody waits for any more. The zero value is ready for
// use.
type left struct {
	mu    sync.Mutex
	ended []chan struct{} // one for each request, closed when it has ended
}

func (l *left) add(ended chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune()
	l.ended = append(l.ended, ended)
}

// list returns the channels of the requests that have not ended.
func (l *left) list() []chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prune()
	return slices.Clone(l.ended)
}

func (l *left) prune() {
	l.ended = slices.DeleteFunc(l.ended, func(ended chan struct{}) bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}
