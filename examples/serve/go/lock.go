// Package lock has a lock with a bug that shipped libraries have had: the create is tried again when its reply is lost,
// and the first znode, of which nobody knows, locks everyone out.
package lock

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// Enter joins the queue of a lock, and returns the znode that it knows of.
func Enter(c *zk.Conn, path string) (string, error) {
	for {
		mine, err := c.Create(path+"/n-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return mine, err
		}
	}
}

// EnterProtected is Enter with a name that says whose the znode is.
func EnterProtected(c *zk.Conn, path string) (string, error) {
	return c.CreateProtectedEphemeralSequential(path+"/n-", nil, zk.WorldACL(zk.PermAll))
}
