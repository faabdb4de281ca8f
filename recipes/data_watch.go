package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// DataWatch tells the data of one znode, and tells it again whenever it has
// changed: the recipe of that name of Kazoo, on the one-shot watches that
// chapter "Dealing with state change" of Junqueira and Reed, ZooKeeper (2013),
// builds upon.
//
// # Protocol
//
//  1. In the first session sync; in each later one fence.
//  2. Get the data, leaving a watch. If there is no znode, leave one by exists;
//     if that finds the znode, get again.
//  3. If the session has changed meanwhile, go to 1: the answer may be of a
//     server that lags behind what was told before.
//  4. If the mzxid is another than that told last, tell.
//  5. When the watch fires, for whatever reason, or when the connection was lost
//     and is there again, go to 1.
//
// So it never tells an older state than one it has told before, it tells the
// last state in the end, and several changes in a row may be told as one, as
// watches do.
//
// # What the texts leave out
//
// The data must be read by the same request that leaves the watch (mutant
// read-first). At the end of the session the watch fires with
// zk.EventNotWatching and must be left again (mutant deaf). A new session may be
// served by a server that lags, or by a leader that was deposed (mutant no-sync). A znode that was deleted and
// made again begins with version 0 again, so versions do not tell states apart
// (mutant by-version).
//
// The programmer's guide promises that watches are left again on a new connection
// and that what was missed is told. go-zookeeper leaves them after the requests
// that had waited for the connection: if one of these is answered, and the
// connection is lost again before the watches are left, then the next attempt
// claims to have seen all up to that answer, and changes before it are never
// told (mutant trusting).
//
// Two things no client can see: a deletion and a creation between two reads are
// one change, and a znode that others made unreadable ends its watch in silence.
//
// # Fan-out
//
// One notification for each change, at most one for each read. After each loss of
// the connection one read, whose watch takes up memory beside the older ones until
// the next change.
type DataWatch struct {
	session
	path string
	opt  WatchOptions
}

// NewDataWatch returns a watcher of the znode path, which need not exist.
func NewDataWatch(conn Conn, env Env, path string, opt WatchOptions) *DataWatch {
	return &DataWatch{session{conn, env}, path, opt}
}

// Run calls f, from the calling goroutine, with the data and the stat of the znode,
// and again after each change; without a znode the stat is nil. It returns nil
// when f has returned false, ctx's error when ctx is done, zk.ErrClosing after
// the connection was closed, and errors that waiting does not cure, such as
// zk.ErrNoAuth, as they are. Lost connections and expired sessions are dealt
// with. What Run promises about states told before concerns one call of it.
// When it ends, its last watch stays until the next change.
func (w *DataWatch) Run(ctx context.Context, f func(data []byte, stat *zk.Stat) bool) error {
	return follow(ctx, &observer{session: w.session, opt: w.opt}, w.path, w.on(ctx).GetW, ofData, f)
}
