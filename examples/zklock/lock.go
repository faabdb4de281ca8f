// Package zklock is a port of the lock of go-zookeeper, and one in which its bugs are mended.
//
// [Lock] has the logic of zk.Lock in github.com/go-zookeeper/zk v1.0.4 (lock.go, BSD 3-Clause, copyright 2013 Samuel
// Stauffer), in words of its own. What a port has to change is said in docs/adopt.md: the connection and the
// environment are parameters, and the wait for a watch is Env.Await, which takes a context.
package zklock

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Lock is the lock as it is published.
type Lock struct {
	conn recipes.Conn
	env  recipes.Env
	dir  string
	acl  []zk.ACL
	mine string // the own znode, while the lock is held
}

// New returns a lock on the znodes below dir, which is made if it is not there.
func New(conn recipes.Conn, env recipes.Env, dir string, acl []zk.ACL) *Lock {
	return &Lock{conn: conn, env: env, dir: dir, acl: acl}
}

// attempts is how often the znode is tried to be made.
const attempts = 3

// Lock waits for the lock. It returns the first error that it meets.
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

// Unlock gives the lock up.
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

// enqueue makes the own znode, and the folder if that is not there.
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

// makeAll makes a folder and its parents.
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

// sequence returns the number of a znode.
func sequence(name string) (int, error) {
	parts := strings.Split(name, "lock-")
	return strconv.Atoi(parts[len(parts)-1])
}

// predecessor returns the name with the highest number below that one; "" if there is none.
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
