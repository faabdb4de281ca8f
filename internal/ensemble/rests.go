package ensemble

import "sync"

// rests are the programs that wait for the end of the faults.
type rests struct {
	mu      sync.Mutex
	waiting map[int]bool
	calm    chan struct{} // closed when the faults are over and everything has settled
	once    sync.Once
}

func newRests() *rests { return &rests{waiting: map[int]bool{}, calm: make(chan struct{})} }

// wait waits until that end.
//
//zksim:ignore only on a real ensemble
func (r *rests) wait(client int) {
	r.mu.Lock()
	r.waiting[client] = true
	r.mu.Unlock()
	<-r.calm
}

// count returns how many programs wait or have waited.
func (r *rests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// end lets all programs go on, now and later.
func (r *rests) end() { r.once.Do(func() { close(r.calm) }) }
