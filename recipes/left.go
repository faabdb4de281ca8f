package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// left is a watch that was left for a wait. A watch cannot be taken back, and takes up memory until it fires. So if
// the wait ends before the watch fires, the next wait on the same path listens to it, unless the session has changed
// state since.
type left struct {
	path  string
	event <-chan zk.Event
}

// watch returns the event of a watch that was left on path and has not fired, or nil.
func (a *alarm) watch(path string) <-chan zk.Event {
	i := slices.IndexFunc(a.left, func(l left) bool { return l.path == path && len(l.event) == 0 })
	if i < 0 || a.rang() {
		return nil
	}
	return a.left[i].event
}

// leave notes that there is a watch on path, and forgets watches that have fired.
func (a *alarm) leave(path string, event <-chan zk.Event) {
	a.forget(func(l left) bool { return l.path == path || len(l.event) > 0 })
	a.left = append(a.left, left{path, event})
}

func (a *alarm) forget(which func(l left) bool) {
	if a.left = slices.DeleteFunc(a.left, which); len(a.left) == 0 {
		a.left = nil // an empty list would count as another state
	}
}

// getW reads a znode. Its next change fires event, which belongs to a watch left before, if there is one.
func (a *alarm) getW(conn requests, path string) (data []byte, stat *zk.Stat, event <-chan zk.Event, err error) {
	if event = a.watch(path); event != nil {
		data, stat, err = conn.Get(path)
		return data, stat, event, err
	}
	return conn.GetW(path)
}

// awaitPath is await for the next change of path, which fires event.
func (a *alarm) awaitPath(ctx context.Context, env Env, path string, event <-chan zk.Event) error {
	a.leave(path, event)
	return a.await(ctx, env, event)
}
