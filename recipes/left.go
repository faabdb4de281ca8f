package recipes

import (
	"context"
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
	i := slices.IndexFunc(a.left, func(l left) bool { return l.path == path && len(l.event) == 0 })
	if i < 0 || a.rang() {
		return nil
	}
	return a.left[i].event
}

// leave notes that there is a watch on path, and forgets those that have fired.
func (a *alarm) leave(path string, event <-chan zk.Event) {
	a.forget(func(l left) bool { return l.path == path || len(l.event) > 0 })
	a.left = append(a.left, left{path, event})
}

func (a *alarm) forget(which func(l left) bool) {
	if a.left = slices.DeleteFunc(a.left, which); len(a.left) == 0 {
		a.left = nil // what is remembered of it is nothing
	}
}

// getW reads a znode. Its next change fires the event, which is that of a watch left before, if there is one.
func (a *alarm) getW(conn requests, path string) (data []byte, stat *zk.Stat, event <-chan zk.Event, err error) {
	if event = a.watch(path); event != nil {
		data, stat, err = conn.Get(path)
		return data, stat, event, err
	}
	return conn.GetW(path)
}

// awaitPath is await for the next change of path, of which the event tells.
func (a *alarm) awaitPath(ctx context.Context, env Env, path string, event <-chan zk.Event) error {
	a.leave(path, event)
	return a.await(ctx, env, event)
}
