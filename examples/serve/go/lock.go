// Package lock has a lock with a bug that published libraries have had: it repeats a create whose reply was lost. The
// first znode, which nobody knows, then locks everyone out.
package lock

import (
	"crypto/rand"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Enter joins the queue of a lock, and returns the znode whose create was answered.
func Enter(c *zk.Conn, path string) (string, error) {
	for {
		mine, err := create(c, path+"/n-")
		if !lost(err) {
			return mine, err
		}
	}
}

// EnterProtected is Enter without the bug: it gives its znode a unique name, and looks for that before each create.
//
// [zk.Conn.CreateProtectedEphemeralSequential] does the same, but gives up if its listing fails. With a single server
// that happens now and then: requests that wait when the client begins to dial again fail with [zk.ErrNoServer].
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

// find returns the path of a child whose name begins with prefix, or "" if there is none.
func find(c *zk.Conn, path, prefix string) (string, error) {
	children, _, err := c.Children(path)
	for _, child := range children {
		if strings.HasPrefix(child, prefix) {
			return path + "/" + child, err
		}
	}
	return "", err
}

// lost reports whether a request that has failed with err may have been executed.
func lost(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}
