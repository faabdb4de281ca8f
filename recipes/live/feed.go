package live

import (
	"sync"

	"github.com/go-zookeeper/zk"
)

// feed sends each change of the session's state to all channels that were requested before it. It never blocks. The
// zero value is ready for use.
type feed struct {
	mu      sync.Mutex
	waiting []chan zk.Event // each has room for its one event
	closed  bool
}

// closing is the last event of every feed.
var closing = zk.Event{Type: zk.EventSession, State: zk.StateDisconnected, Err: zk.ErrClosing}

// next returns a new channel with the contract of Env.SessionEvents.
func (f *feed) next() <-chan zk.Event {
	ch := make(chan zk.Event, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		ch <- closing
		close(ch)
		return ch
	}
	f.waiting = append(f.waiting, ch)
	return ch
}

// publish sends ev to the waiting channels if it has one of the states that Env.SessionEvents promises, and reports
// whether it did. The other states (StateConnecting, StateConnected) are steps on the way to StateHasSession or
// StateExpired and come in any number.
func (f *feed) publish(ev zk.Event) bool {
	switch ev.State {
	case zk.StateDisconnected, zk.StateExpired, zk.StateHasSession, zk.StateAuthFailed:
	default:
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.send(ev)
	return true
}

// close tells all waiting channels, and those requested later, that the connection is closed for good. Nothing is
// published from then on.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.send(closing)
}

// over reports whether the feed is closed.
func (f *feed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *feed) send(ev zk.Event) {
	for _, ch := range f.waiting {
		ch <- ev
		close(ch)
	}
	f.waiting = nil
}
