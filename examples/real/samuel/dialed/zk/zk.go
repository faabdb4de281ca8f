// Package zk is go-zookeeper under the path of its predecessor, github.com/samuel/go-zookeeper/zk. It has only the
// names that the store of valkeyrie uses. Other code needs more lines of the same kind.
package zk

import "github.com/go-zookeeper/zk"

type (
	Conn          = zk.Conn
	DeleteRequest = zk.DeleteRequest
	Event         = zk.Event
	Lock          = zk.Lock
	Stat          = zk.Stat
)

const (
	EventNodeChildrenChanged = zk.EventNodeChildrenChanged
	EventNodeDataChanged     = zk.EventNodeDataChanged
	EventNotWatching         = zk.EventNotWatching
	EventSession             = zk.EventSession
	FlagEphemeral            = zk.FlagEphemeral
	PermAll                  = zk.PermAll
	StateExpired             = zk.StateExpired
)

var (
	ErrBadVersion              = zk.ErrBadVersion
	ErrNoChildrenForEphemerals = zk.ErrNoChildrenForEphemerals
	ErrNoNode                  = zk.ErrNoNode
	ErrNodeExists              = zk.ErrNodeExists
	Connect                    = zk.Connect
	NewLock                    = zk.NewLock
	WorldACL                   = zk.WorldACL
)
