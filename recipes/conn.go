// Package recipes holds coordination recipes for ZooKeeper and the two
// interfaces that they are written against: [Conn], what they ask of
// ZooKeeper, and [Env], how they wait, tell time and start concurrent work.
//
// A recipe must not know whether it runs on a real server or in the simulator.
// So that every interleaving is a decision of the scheduler, nothing here uses
// the go and select statements, package sync, the clock or a source of
// randomness; all of these come from Env. A test of the source enforces it.
//
// # What the recipes rest on
//
// All rest on these of ZooKeeper's promises: what is acknowledged is never lost; a
// write is acknowledged only when a quorum has it; a session never sees an older state than
// before; and a read behind an own acknowledged write of the same session shows all that was
// acknowledged to anybody before that write was sent.
//
// None rests on a sync for what it concludes. A leader that was cut off does not know for a while that
// another one was elected: it answers a sync at once, and reads from what it has; a sync
// that succeeds may so be followed by a listing without a znode that exists. Nor does any
// conclude from zk.StateExpired that its session has ended for the others: that leader
// goes by its own clock, and the session may live on, with its ephemeral znodes, for
// as long as the session timeout.
//
// So to find out what became of a request whose answer was lost, recipes fence: they send a multi without
// operations, and read when it was answered, in the same session. It changes no znode, needs no
// permission, fires no watch, and costs what any write costs. It waits where a leader was
// deposed, until that finds out.
// Reads that promise to know of all that ended before the call are fenced, too.
package recipes

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// Conn is the part of [zk.Conn] that recipes use, with the same signatures, so
// that code written for go-zookeeper moves in by changing one parameter type.
//
// The behaviour is go-zookeeper's (v1.0.4), pitfalls included. The ones that a
// recipe has to survive:
//
//   - zk.ErrConnectionClosed says nothing about the outcome: the request may
//     have been applied, may be applied a little later, or never. Nor does zk.ErrClosing, which
//     a request may end with that is under way when the connection is closed for good.
//     Nor does the error of a failed write to the socket, which reaches the caller as it is: it is none of the
//     library's, and errors.Is(err, syscall.EPIPE) tells of the usual one.
//   - zk.ErrNoServer means that the request was never sent. "unknown error: -127" means that a busy server
//     has thrown it away (THROTTLEDOP, which throttled_op_wait_time turns on): recipes send it again.
//   - A request that exceeds what a packet may have (1 MB, unless jute.maxbuffer says
//     otherwise) makes the server close the connection, which looks like any other
//     loss: recipes try again until their context is done.
//   - A request issued while the connection is down waits and is executed after
//     the reconnect, possibly in a new session. No context ends that wait: see
//     [Env.Within].
//   - A new session is made silently when the old one has expired. Operations
//     practically never return zk.ErrSessionExpired.
//   - A sync may be answered by a leader that was deposed, and so may zk.StateExpired come
//     from one: see the package comment.
//   - CreateProtectedEphemeralSequential finds its znode after a lost reply, but not when the connection
//     is lost again while it looks, nor after its third try: then it returns an error, and leaves the znode.
//   - Watch channels hear nothing of a disconnect. They get one event, then are
//     closed; at the end of the session that event is zk.EventNotWatching.
//   - A watch may be lost when the connection is lost twice in a row: the library
//     renews watches behind the requests that wait, and relative to the latest
//     reply. Who waits for a watch has to look again after a disconnect.
type Conn interface {
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	CreateContainer(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	CreateTTL(path string, data []byte, flags int32, acl []zk.ACL, ttl time.Duration) (string, error)
	CreateProtectedEphemeralSequential(path string, data []byte, acl []zk.ACL) (string, error)
	Delete(path string, version int32) error
	Get(path string) ([]byte, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Multi(ops ...interface{}) ([]zk.MultiResponse, error)
	Sync(path string) (string, error)
	GetACL(path string) ([]zk.ACL, *zk.Stat, error)
	SetACL(path string, acl []zk.ACL, version int32) (*zk.Stat, error)
	AddAuth(scheme string, auth []byte) error
	SessionID() int64
	State() zk.State
	Close()
}

var _ Conn = (*zk.Conn)(nil)
