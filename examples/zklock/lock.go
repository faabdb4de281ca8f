// Package zklock has a port of go-zookeeper's lock, and a version without its bugs.
//
// [Lock] has the logic of zk.Lock in github.com/go-zookeeper/zk v1.0.4 (lock.go, BSD 3-Clause, copyright 2013 Samuel
// Stauffer), but its code is written anew. docs/adopt.md says what a port has to change: the connection and the
// environment are parameters, and Env.Await waits for a watch and takes a context.
package zklock

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Lock is the published lock.
type Lock struct {
	conn recipes.Conn
	env  recipes.Env
	dir  string
	acl  []zk.ACL
	mine string // the path of its znode, while it holds the lock
}

// New returns a lock on the znodes below dir. Lock creates dir if it is missing.
func New(conn recipes.Conn, env recipes.Env, dir string, acl []zk.ACL) *Lock {
	return &Lock{conn: conn, env: env, dir: dir, acl: acl}
}

// attempts is how often Lock tries to create the znode.
const attempts = 3

// Lock waits until it holds the lock. It gives up at the first error, even that of a lost connection.
func (l *Lock) Lock(ctx context.Context) error {
	if l.mine != "" {
		return zk.ErrDeadlock
	}
	mine, err := l.enqueue()
	if err != nil {
		return err
	}
	number, err := sequence(mine)
	if err != nil {
		return err
	}
	for {
		names, _, err := l.conn.Children(l.dir)
		if err != nil {
			return err
		}
		before, err := predecessor(names, number)
		if err != nil {
			return err
		}
		if before == "" {
			l.mine = mine
			return nil
		}
		_, _, gone, err := l.conn.GetW(l.dir + "/" + before)
		if err == zk.ErrNoNode {
			continue
		}
		if err != nil {
			return err
		}
		_, event, err := l.env.Await(ctx, gone)
		if err != nil {
			return err
		}
		if event.Err != nil {
			return event.Err
		}
	}
}

// Unlock releases the lock. After an error the lock still counts as held.
func (l *Lock) Unlock(context.Context) error {
	if l.mine == "" {
		return zk.ErrNotLocked
	}
	err := l.conn.Delete(l.mine, -1)
	if err == nil {
		l.mine = ""
	}
	return err
}

// enqueue creates the znode, and dir if that is missing.
func (l *Lock) enqueue() (mine string, err error) {
	for range attempts {
		mine, err = l.conn.CreateProtectedEphemeralSequential(l.dir+"/lock-", []byte{}, l.acl)
		if err != zk.ErrNoNode {
			break
		}
		if err := makeAll(l.conn, l.dir, l.acl); err != nil {
			return "", err
		}
	}
	return mine, err
}

// makeAll creates a folder and its parents, unless they exist.
func makeAll(conn recipes.Conn, dir string, acl []zk.ACL) error {
	for i := 1; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		exists, _, err := conn.Exists(dir[:i])
		if err == nil && !exists {
			_, err = conn.Create(dir[:i], []byte{}, 0, acl)
		}
		if err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	return nil
}

// sequence returns the number at the end of a znode's name.
func sequence(name string) (int, error) {
	parts := strings.Split(name, "lock-")
	return strconv.Atoi(parts[len(parts)-1])
}

// predecessor returns the name with the highest number below the given one, or "" if there is none.
func predecessor(names []string, number int) (before string, err error) {
	highest := -1
	for _, name := range names {
		n, err := sequence(name)
		if err != nil {
			return "", err
		}
		if n < number && n > highest {
			before, highest = name, n
		}
	}
	return before, nil
}
