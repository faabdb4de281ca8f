package recipes

import (
	"slices"

	"github.com/go-zookeeper/zk"
)

// left is a watch that was left for a wait. There is no way to take it back, and each one takes up memory until it
// fires. So where the wait ends before, the next wait for the same listens to it, unless the session has changed state
// since.
type left struct {
	path  string
	event <-chan zk.Event
}

// watch returns the event of a watch that was left on path and will fire at its next change, or nil.
func (a *alarm) watch(path string) <-chan zk.Event {
	a.forget(func(l left) bool { return len(l.event) > 0 || a.rang() })
	for _, l := range a.left {
		if l.path == path {
			return l.event
		}
	}
	return nil
}

// leave notes a watch that was left now.
func (a *alarm) leave(path string, event <-chan zk.Event) { a.left = append(a.left, left{path, event}) }

func (a *alarm) forget(which func(l left) bool) {
	if a.left = slices.DeleteFunc(a.left, which); len(a.left) == 0 {
		a.left = nil // what is remembered of it is nothing
	}
}

// getW reads a znode. Its next change fires the event.
func (a *alarm) getW(conn requests, path string) (data []byte, stat *zk.Stat, event <-chan zk.Event, err error) {
	if event = a.watch(path); event != nil {
		data, stat, err = conn.Get(path)
		return data, stat, event, err
	}
	data, stat, event, err = conn.GetW(path)
	if err == nil {
		a.leave(path, event)
	}
	return data, stat, event, err
}
