package model

import "github.com/go-zookeeper/zk"

// Op is an operation code of the ZooKeeper protocol.
type Op int32

// The operations, with the wire's numbers (org.apache.zookeeper.ZooDefs.OpCode).
const (
	OpError           Op = -1 // a txn that has failed at the leader; Request.Version has the code
	OpCreate          Op = 1
	OpDelete          Op = 2
	OpExists          Op = 3
	OpGetData         Op = 4
	OpSetData         Op = 5
	OpGetACL          Op = 6
	OpSetACL          Op = 7
	OpGetChildren     Op = 8
	OpSync            Op = 9
	OpPing            Op = 11
	OpGetChildren2    Op = 12
	OpCheck           Op = 13
	OpMulti           Op = 14
	OpCreate2         Op = 15
	OpReconfig        Op = 16 // always refused: reconfigEnabled is off
	OpCheckWatches    Op = 17
	OpRemoveWatches   Op = 18
	OpCreateContainer Op = 19
	OpDeleteContainer Op = 20
	OpCreateTTL       Op = 21
	OpMultiRead       Op = 22
	OpAuth            Op = 100
	OpSetWatches      Op = 101
	OpSASL            Op = 102
	OpGetEphemerals   Op = 103
	OpCountChildren   Op = 104 // getAllChildrenNumber
	OpSetWatches2     Op = 105
	OpAddWatch        Op = 106
	OpWhoAmI          Op = 107
	OpCreateSession   Op = -10
	OpCloseSession    Op = -11
)

const lowestOp = OpCloseSession

// opNames is indexed by the operation's number minus the lowest number.
var opNames = [...]string{
	OpError - lowestOp: "error", OpCreate - lowestOp: "create", OpDelete - lowestOp: "delete",
	OpExists - lowestOp: "exists", OpGetData - lowestOp: "get", OpSetData - lowestOp: "set",
	OpGetACL - lowestOp: "getACL", OpSetACL - lowestOp: "setACL", OpGetChildren - lowestOp: "children",
	OpSync - lowestOp: "sync", OpPing - lowestOp: "ping",
	OpGetChildren2 - lowestOp: "children2", OpCheck - lowestOp: "check", OpMulti - lowestOp: "multi",
	OpCreate2 - lowestOp: "create2", OpReconfig - lowestOp: "reconfig",
	OpCheckWatches - lowestOp: "checkWatches", OpRemoveWatches - lowestOp: "removeWatches",
	OpCreateContainer - lowestOp: "createContainer",
	OpDeleteContainer - lowestOp: "deleteContainer", OpCreateTTL - lowestOp: "createTTL",
	OpMultiRead - lowestOp: "multiRead", OpAuth - lowestOp: "auth",
	OpSetWatches - lowestOp: "setWatches", OpSASL - lowestOp: "sasl",
	OpGetEphemerals - lowestOp: "getEphemerals",
	OpCountChildren - lowestOp: "getAllChildrenNumber",
	OpSetWatches2 - lowestOp:   "setWatches2", OpAddWatch - lowestOp: "addWatch", OpWhoAmI - lowestOp: "whoAmI",
	OpCreateSession - lowestOp: "createSession",
	OpCloseSession - lowestOp:  "closeSession",
}

// String returns the short name used in transcripts and schedules.
func (o Op) String() string {
	if i := int(o - lowestOp); i >= 0 && i < len(opNames) && opNames[i] != "" {
		return opNames[i]
	}
	return "unknown"
}

// IsWrite reports whether the operation becomes a txn of the replicated log. It then takes a zxid even if it fails.
func (o Op) IsWrite() bool {
	switch o {
	case OpCreate, OpDelete, OpSetData, OpSetACL, OpCheck, OpMulti, OpCreate2, OpCreateContainer,
		OpDeleteContainer, OpCreateTTL, OpReconfig, OpCreateSession, OpCloseSession, OpError:
		return true
	}
	return false
}

// InMulti reports whether a multi can have the operation.
func (o Op) InMulti() bool {
	switch o {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpCheck:
		return true
	}
	return false
}

// InMultiRead reports whether a multiRead can have the operation.
func (o Op) InMultiRead() bool { return o == OpGetData || o == OpGetChildren }

// Null stands for a string that is null on the wire: a path, or the scheme or id in an ACL. It is not valid UTF-8, so
// no text equals it.
const Null = "\xffnull"

// Request is one request of a client. Which fields count depends on Op. The model keeps Data, and each replica reads
// the request when it applies it, so the caller must not change a request that it has passed on.
type Request struct {
	Op      Op
	Path    string
	Data    []byte // nil and empty are different on the wire; reconfig, sasl: the record
	Version int32  // -1 matches any version
	Flags   int32  // create: zk.FlagEphemeral, zk.FlagSequence, ...
	Mode    int32  // addWatch: 0 persistent, 1 recursive; remove/checkWatches: 1 child, 2 data, 3 any
	Watch   bool   // reads: leave a watch
	TTL     int64  // createTTL: milliseconds
	ACL     []zk.ACL
	Ops     []Request // multi, multiRead
	Watches *WatchLists
}

// WatchLists is what a client sends after a reconnect, so that the server arms its watches again and sends what they
// have missed. A list that is null on the wire has one path, [Null].
type WatchLists struct {
	RelativeZxid                              int64
	Data, Exist, Child, Persistent, Recursive []string
}

// Response is the answer to a request. Data and ACL may be the replica's own and must not be changed.
type Response struct {
	Op       Op // inside a multi: the result's type; OpError for a failed sub-operation
	Err      Code
	Zxid     int64 // the replica's last zxid when the answer was made; -1 for an unknown operation
	Path     string
	Data     []byte
	Stat     zk.Stat
	Children []string // also the paths of getEphemerals
	Count    int      // getAllChildrenNumber
	ACL      []zk.ACL // getACL; whoAmI with Perms 0
	Results  []Response
	Silent   bool // the server never answers: a top-level check that succeeds (3.8.0)
	Hangup   bool // the server closes the connection after the answer
}

// Event is a watch event on its way to one connection.
type Event struct {
	Type zk.EventType
	Path string
	Zxid int64 // the txn that fired it; not on the wire before 3.9
	// Caught marks a catch-up event of SetWatches, which no live txn has fired.
	Caught bool
}

// Txn is one entry of the replicated log. All replicas apply the same entries in the same order, and so reach the
// same states. A failed request is also an entry.
type Txn struct {
	Zxid    int64
	Time    int64 // milliseconds since the epoch
	Session int64
	Auth    []ID // identities of the connection that sent the request
	Req     *Request
}
