package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// ChildrenWatch tells the names of the children of one znode, and tells them again whenever one was created or
// deleted: Kazoo's recipe of that name.
//
// # Protocol
//
// As [DataWatch], with the list of children in place of the data, and the pzxid and the number of children in place
// of the mzxid: where the sequence numbers end, only deletions move the pzxid. Changes of the children's data are not
// told; see [ChildrenCache].
//
// # What the texts leave out
//
// Kazoo's watcher fails when the znode does not exist, and ends when it is deleted; this one waits for it. The names
// are in no particular order.
//
// # Fan-out
//
// One notification for each child created or deleted, at most one for each read.
type ChildrenWatch struct {
	session
	path string
	opt  WatchOptions
}

// NewChildrenWatch returns a watcher of the children of the znode path, which need
// not exist.
func NewChildrenWatch(conn Conn, env Env, path string, opt WatchOptions) *ChildrenWatch {
	return &ChildrenWatch{session{conn, env}, path, opt}
}

// Run is like [DataWatch.Run]; stat is the parent's.
func (w *ChildrenWatch) Run(ctx context.Context, f func(children []string, stat *zk.Stat) bool) error {
	return follow(ctx, &observer{session: w.session, opt: w.opt}, w.path, w.on(ctx).ChildrenW, ofChildren, f)
}
