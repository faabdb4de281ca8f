package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// DataWatch tells the data of one znode, and tells it again whenever it has changed: Kazoo's recipe of that name,
// built on one-shot watches as in the chapter "Dealing with state change" of Junqueira and Reed, ZooKeeper (2013).
//
// # Protocol
//
//  1. In the first session, sync; in each later one, fence.
//  2. Get the data, leaving a watch. If there is no znode, leave the watch by exists; if that finds the znode, get
//     again.
//  3. If the session has changed meanwhile, go to 1: the answer may come from a server that lags behind what was told
//     before.
//  4. If the mzxid differs from the one told last, tell.
//  5. When the watch fires, for whatever reason, or when the connection is back after a loss, go to 1.
//
// So it never tells an older state than one it has told before, and in the end it tells the last state. Several
// changes in a row may be told as one, as with any watch.
//
// # What the texts leave out
//
// The request that leaves the watch must also read the data (mutant read-first). When the session ends, the watch
// fires with zk.EventNotWatching and must be left again (mutant deaf). A new session may be served by a server that
// lags, or by a leader that was deposed (mutant no-sync). A znode that was deleted and created again starts at
// version 0, so versions do not tell states apart (mutant by-version).
//
// The programmer's guide promises that watches are set again on a new connection and that missed changes are told.
// go-zookeeper sets them after the requests that have waited for the connection. If one of these is answered and the
// connection is lost again before the watches are set, the next attempt claims to have seen everything up to that
// answer, and earlier changes are never told (mutant trusting).
//
// No client can see two things: a deletion and a creation between two reads are one change, and a znode that others
// made unreadable ends its watch in silence.
//
// # Fan-out
//
// One notification for each change, at most one for each read. One read after each lost connection; its watch takes
// up memory beside the older ones until the next change.
type DataWatch struct {
	session
	path string
	opt  WatchOptions
}

// NewDataWatch returns a watcher of the znode path, which need not exist.
func NewDataWatch(conn Conn, env Env, path string, opt WatchOptions) *DataWatch {
	return &DataWatch{session{conn, env}, path, opt}
}

// Run calls f, from the calling goroutine, with the data and the stat of the znode, and again after each change;
// without a znode, the stat is nil. It returns nil when f has returned false, ctx's error when ctx is done,
// zk.ErrClosing after the connection was closed, and errors that waiting does not cure, such as zk.ErrNoAuth, as they
// are. Lost connections and expired sessions are handled. What Run promises about states told before holds within one
// call. When it ends, its last watch stays until the next change.
func (w *DataWatch) Run(ctx context.Context, f func(data []byte, stat *zk.Stat) bool) error {
	return follow(ctx, &observer{session: w.session, opt: w.opt}, w.path, w.on(ctx).GetW, ofData, f)
}
