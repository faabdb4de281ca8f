// Package lock has a lock with a bug that shipped libraries have had: the create is tried again when its reply is lost,
// and the first znode, of which nobody knows, locks everyone out.
package lock

import (
	"crypto/rand"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Enter joins the queue of a lock, and returns the znode that it knows of.
func Enter(c *zk.Conn, path string) (string, error) {
	for {
		mine, err := create(c, path+"/n-")
		if !lost(err) {
			return mine, err
		}
	}
}

// EnterProtected is Enter with a name that says whose the znode is, and looks for it before it creates one.
//
// [zk.Conn.CreateProtectedEphemeralSequential] does so too, but gives up if its look fails. With a single server that
// happens now and then: a request that waits when the client begins to dial again fails with [zk.ErrNoServer].
func EnterProtected(c *zk.Conn, path string) (string, error) {
	name := rand.Text() + "-n-"
	for {
		mine, err := find(c, path, name)
		if mine == "" && err == nil {
			mine, err = create(c, path+"/"+name)
		}
		if !lost(err) {
			return mine, err
		}
	}
}

func create(c *zk.Conn, path string) (string, error) {
	return c.Create(path, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
}

// find returns the child of path whose name begins so, "" if there is none.
func find(c *zk.Conn, path, prefix string) (string, error) {
	children, _, err := c.Children(path)
	for _, child := range children {
		if strings.HasPrefix(child, prefix) {
			return path + "/" + child, err
		}
	}
	return "", err
}

// lost reports whether nobody knows if a request was executed.
func lost(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}
