package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// WatchOptions are the options of the watchers. The zero value is fine.
type WatchOptions struct {
	// Suspect, if not nil, is called with true when the watcher notices that it has no connection or no session, so that
	// what it has told may be out of date. It is called with false when the watcher has read everything again and told
	// what has changed.
	Suspect func(bool)
}

// observer is what all watchers have in common. It reads znodes so that no answer is older than an earlier one, and
// knows when answers may be out of date.
//
// A watch tells of the next change, unless the connection is lost. Then the library sets it again relative to the
// last zxid that it has seen; if another request was answered first, that zxid may include the change. So after each
// loss everything is read again.
type observer struct {
	session
	opt     WatchOptions
	synced  int64 // the session whose answers are not older than any before
	suspect bool
	doubts  int // how often suspect has changed, which is all that the callback can know
	change  <-chan zk.Event
}

// read runs f, which reads path, until it is answered within one session. Within a session ZooKeeper never goes back,
// whatever the servers. A new session may: the client library forgets the last zxid with the session, and the next
// server may lag, or be a deposed leader. So the first read of each later session comes after a fence; see
// [session.fresh].
func (o *observer) read(ctx context.Context, path string, f func() error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		id := o.conn.SessionID()
		var err error
		switch {
		case o.synced == 0: // there is nothing that an answer could be older than
			_, err = o.on(ctx).Sync(path)
		case id != o.synced:
			err = o.fence(ctx)
		}
		if err == nil {
			err = f()
		}
		switch {
		case interrupted(err) && ctx.Err() != nil: // the connection may be all right
			return ctx.Err()
		case interrupted(err):
			o.doubt(true)
			if err := o.again(ctx, err); err != nil {
				return err
			}
		case err != nil && err != zk.ErrNoNode: // that is an answer like any other
			return err
		case id != 0 && id == o.conn.SessionID():
			o.synced = id
			return err
		}
	}
}

// listen prepares a later wait. It must be called before the reads that the wait relies on.
func (o *observer) listen() {
	if o.change != nil {
		return
	}
	o.change = o.env.SessionEvents()
	if o.conn.State() != zk.StateHasSession {
		o.doubt(true)
	}
}

// wait blocks until one of events has fired, and returns its index. The first event is reserved: 0 says that the
// connection was lost and is back.
func (o *observer) wait(ctx context.Context, events ...<-chan zk.Event) (fired int, err error) {
	defer Forget(o.env)(&o.suspect, &o.doubts, &o.change, &fired, &err)
	events[0] = o.change
	i, ev, err := o.env.Await(ctx, events...)
	if err != nil || i > 0 {
		return i, err
	}
	o.change = nil
	if ev.State == zk.StateHasSession || ev.Err != nil {
		return i, ev.Err
	}
	o.doubt(true)
	return i, o.await(ctx)
}

func (o *observer) doubt(suspect bool) {
	if o.opt.Suspect != nil && o.suspect != suspect {
		o.suspect = suspect
		o.doubts++
		o.opt.Suspect(suspect)
	}
}

// readW is Conn.GetW or Conn.ChildrenW.
type readW[T any] func(path string) (T, *zk.Stat, <-chan zk.Event, error)

// look reads path, leaving a watch on it. If the znode does not exist, stat is nil and the watch is for its creation.
func look[T any](ctx context.Context, o *observer, path string, read readW[T]) (value T, stat *zk.Stat,
	event <-chan zk.Event, err error) {
	defer Forget(o.env)(&o.synced, &o.suspect, &o.doubts, &o.change, &value, &stat, &event, &err)
	err = o.read(ctx, path, func() error {
		for {
			var err error
			if value, stat, event, err = read(path); err != zk.ErrNoNode {
				return err
			}
			var exists bool
			if exists, _, event, err = o.on(ctx).ExistsW(path); err != nil || !exists {
				stat = nil
				return err
			}
		}
	})
	return value, stat, event, err
}

// follow tells what is at path, and tells it again whenever shown returns another state for the stat. No two states
// of a path are the same, even if the znode was deleted and created again. follow returns nil when tell returns
// false.
func follow[T any](ctx context.Context, o *observer, path string, read readW[T], shown func(*zk.Stat) state,
	tell func(T, *zk.Stat) bool) error {
	told := nothing
	var event <-chan zk.Event
	for {
		var value T
		var stat *zk.Stat
		var err error
		if value, stat, event, err = news(ctx, o, path, read, event,
			func(stat *zk.Stat) bool { return shown(stat) != told }); err != nil {
			return err
		}
		told = shown(stat)
		if !tell(value, stat) {
			return nil
		}
	}
}

// news waits for last, the event of the previous read, unless it is nil, and then until a read shows something new.
func news[T any](ctx context.Context, o *observer, path string, read readW[T], last <-chan zk.Event,
	isNew func(*zk.Stat) bool) (value T, stat *zk.Stat, event <-chan zk.Event, err error) {
	defer Forget(o.env)(&o.synced, &o.suspect, &o.doubts, &o.change, &value, &stat, &event, &err)
	for event = last; ; {
		if event != nil {
			o.doubt(false)
			if _, err = o.wait(ctx, nil, event); err != nil {
				return value, stat, event, err
			}
		}
		Keep(o.env, &o.synced, &o.suspect, &o.doubts, &o.change)
		o.listen()
		value, stat, event, err = look(ctx, o, path, read)
		if err != nil || isNew(stat) {
			return value, stat, event, err
		}
	}
}

// state tells the states of a path apart. The zero state means that there is no znode.
type state struct {
	zxid     int64
	children int32
}

// nothing is no state.
var nothing = state{zxid: -1}

// ofData returns the state of a znode's data: the zxid of the last change.
func ofData(stat *zk.Stat) state {
	if stat == nil {
		return state{}
	}
	return state{zxid: stat.Mzxid}
}

// ofChildren returns the state of a znode's list of children: the zxid of its last change, and their number. Where
// the sequence numbers end, only a deletion moves that zxid, but creates without a deletion make the number grow.
func ofChildren(stat *zk.Stat) state {
	if stat == nil {
		return state{}
	}
	return state{stat.Pzxid, stat.NumChildren}
}
