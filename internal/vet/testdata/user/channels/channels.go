// Package channels uses goroutines and channels.
package channels

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

type watcher struct {
	env    recipes.Env
	events chan zk.Event
}

func (w *watcher) waits(ctx context.Context) {
	go w.run()              // want `^a go statement starts a goroutine outside of the simulator; use Env.Go$`
	go func() { w.run() }() // want `^a go statement`
	w.env.Go("run", w.run)

	<-w.events            // want `^a channel receive blocks outside of the simulator; use Env.Await$`
	_, ok := <-ctx.Done() // want `^a channel receive blocks`
	_ = ok
	w.env.Await(ctx, w.events)

	for range w.events { // want `^a range over a channel blocks outside of the simulator; use Env.Await$`
	}
	for e := range w.events { // want `^a range over a channel`
		_ = e
	}
	_, _ = len(w.events), cap(w.events)
	close(w.events)
}

func (w *watcher) run() {}

func (w *watcher) selects(ctx context.Context) {
	select { // want `^a select waits outside of the simulator, and picks at random among what is ready; use Env.Await$`
	case <-w.events:
	case <-ctx.Done():
	}
	select { // want `^a select waits`
	case e := <-w.events:
		_ = e
	}
	select { // want `^a select waits`
	case <-w.events:
	case w.events <- zk.Event{}:
	default:
	}
	select {} // want `^a select waits`
}

// polls does not wait, and what it gets is decided by the channel.
func (w *watcher) polls() {
	select {
	case <-w.events:
	default:
	}
	select {
	case e, ok := <-w.events:
		_, _ = e, ok
		<-w.events // want `^a channel receive`
	default:
	}
	select {
	case w.events <- zk.Event{}:
	default:
		w.events <- zk.Event{} // want `^a channel send`
	}
}

func (w *watcher) sends(ctx context.Context) {
	w.events <- zk.Event{} // want `^a channel send blocks outside of the simulator when there is no room; send once to a channel that this function makes with room, and receive with Env.Await$`

	done := make(chan zk.Event, 1)
	w.env.Go("once", func() { done <- zk.Event{} })
	defer recipes.Forget(w.env)(&done)
	w.env.Await(ctx, done)

	var both = make(chan zk.Event, 2)
	w.env.Go("a", func() { both <- zk.Event{} })
	w.env.Go("b", func() { both <- zk.Event{} })

	for range 2 {
		inside := make(chan zk.Event, 1)
		inside <- zk.Event{}
	}
}

func (w *watcher) sendsWithoutRoom(size int) {
	none := make(chan zk.Event)
	none <- zk.Event{} // want `^a channel send`

	zero := make(chan zk.Event, 0)
	zero <- zk.Event{} // want `^a channel send`

	some := make(chan zk.Event, size)
	some <- zk.Event{} // want `^a channel send`

	twice := make(chan zk.Event, 1)
	twice <- zk.Event{} // want `^a channel send`
	twice <- zk.Event{} // want `^a channel send`

	often := make(chan zk.Event, 1)
	for range size {
		often <- zk.Event{} // want `^a channel send`
	}

	changed := make(chan zk.Event, 1)
	changed = w.events
	changed <- zk.Event{} // want `^a channel send`
}

func generic[C chan zk.Event | <-chan zk.Event](env recipes.Env, events C) {
	for range events { // want `^a range over a channel`
	}
}
