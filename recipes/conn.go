// Package recipes holds coordination recipes for ZooKeeper. They are written against two interfaces: [Conn], what
// they ask of ZooKeeper, and [Env], how they wait, tell time and start concurrent work.
//
// A recipe must not know whether it runs on a real server or in the simulator. Nothing here uses go statements, select
// statements that wait or choose, package sync, the clock or a source of randomness; all of these come from Env, so
// that every interleaving is a decision of the scheduler. A test of the source enforces it.
//
// # What the recipes rest on
//
// All recipes rest on these promises of ZooKeeper: an acknowledged write is never lost; a write is acknowledged only
// when a quorum has it; a session never sees an older state than before; and a read that follows an acknowledged
// write of the same session shows everything that was acknowledged to anybody before that write was sent.
//
// No recipe draws conclusions from a sync. A leader that was cut off does not know for a while that another one was
// elected: it answers a sync at once, and reads from what it has, so the listing after a successful sync may lack a
// znode that exists. Nor does any recipe conclude from zk.StateExpired that its session has ended for others: that
// leader goes by its own clock, and the session may live on, with its ephemeral znodes, for as long as the session
// timeout.
//
// To find out what became of a request whose answer was lost, recipes therefore fence: they send a multi without
// operations, wait for its answer, and read in the same session. The multi changes no znode, needs no permission,
// fires no watch, and costs as much as any write. At a deposed leader it waits until the leader finds out. Reads that
// promise to know of everything that ended before the call are fenced too.
package recipes

import (
	"time"

	"github.com/go-zookeeper/zk"
)

// Conn is the part of [zk.Conn] that recipes use, with the same signatures, so
// that code written for go-zookeeper moves in by changing one parameter type.
//
// The behaviour is go-zookeeper's (v1.0.4), pitfalls included. A recipe has to survive these:
//
//   - zk.ErrConnectionClosed says nothing about the outcome: the request may have been applied, may be applied a
//     little later, or never. Nor does zk.ErrClosing, which may end a request that is under way when the connection
//     is closed for good. Nor does the error of a failed write to the socket, which reaches the caller as it is: it
//     is not one of the library's errors. The usual one is syscall.EPIPE; where the process was stopped for a while
//     it is a timeout. Each is a net.Error, but so is context.DeadlineExceeded.
//   - zk.ErrNoServer means that the request was never sent. "unknown error: -127" means that a busy server has
//     dropped it (THROTTLEDOP, which throttled_op_wait_time turns on): recipes send it again after 100 ms.
//   - CreateTTL fails with "unknown error: -6" on servers without extendedTypesEnabled=true, which is not the default.
//     Simulated servers have it, and so have those that simrun starts.
//   - A request that is larger than a packet may be (1 MB, unless jute.maxbuffer says otherwise) makes the server
//     close the connection. This looks like any other loss: recipes try again until their context is done.
//     From 1.5 MB on the library itself returns zk.ErrShortBuffer. But if a multi fills its buffer of 1,572,864 bytes
//     exactly up to the flag between two operations, it panics in a goroutine of its own, which ends the program.
//   - A request issued while the connection is down waits and is executed after the reconnect, possibly in a new
//     session. No context ends that wait; see [Env.Within].
//   - A new session is made silently when the old one has expired. Operations
//     practically never return zk.ErrSessionExpired.
//   - A sync may be answered, and zk.StateExpired sent, by a leader that was deposed; see the package comment.
//   - CreateProtectedEphemeralSequential looks for its znode after a lost reply, and creates another one if it sees
//     none, as on a server that lags; after three creates it returns an error. It also returns an error, and leaves
//     the znode behind, if it cannot look: because the connection is lost again, or the parent is "/".
//   - Watch channels hear nothing of a disconnect. They get one event, then are
//     closed; at the end of the session that event is zk.EventNotWatching.
//   - A watch may be lost when the connection is lost twice in a row: the library renews watches behind the requests
//     that wait, and relative to the latest reply. A client that waits for a watch has to look again after a
//     disconnect.
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
