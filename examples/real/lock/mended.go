// Package lock has a lock without the bugs that the test finds in zk.Lock.
package lock

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Mended is a lock that puts an id of its own into the names of its znodes. So it finds them again, however a request
// has ended, and a second znode does no harm. It takes the lock only with a znode of the present session.
type Mended struct {
	conn *zk.Conn
	dir  string
	acl  []zk.ACL
	id   string // begins the names of its znodes, while it holds the lock
}

// NewMended returns a lock on the znodes below dir. Lock creates dir if it is missing.
func NewMended(conn *zk.Conn, dir string, acl []zk.ACL) *Mended {
	return &Mended{conn: conn, dir: dir, acl: acl}
}

// pause is the wait before the next try. A waiter also looks again after it, because its watch may be lost.
const pause = time.Second

// Lock waits until it holds the lock.
func (l *Mended) Lock() error {
	if l.id != "" {
		return zk.ErrDeadlock
	}
	id := rand.Text()
	err := persist(func() (done bool, err error) { return l.advance(id) })
	if err == nil {
		l.id = id
	}
	return err
}

// Unlock releases the lock. It tries again for as long as there is no connection.
func (l *Mended) Unlock() error {
	if l.id == "" {
		return zk.ErrNotLocked
	}
	err := persist(l.remove)
	if err == nil {
		l.id = ""
	}
	return err
}

// persist calls step until it is done, or fails with an error that a new connection does not cure.
func persist(step func() (done bool, err error)) error {
	for {
		done, err := step()
		lost := errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
			errors.Is(err, zk.ErrSessionExpired) || errors.Is(err, zk.ErrSessionMoved)
		if done || err != nil && !lost {
			return err
		}
		if lost {
			time.Sleep(pause)
		}
	}
}

// advance looks at the queue and takes the next step. It is done when it holds the lock.
func (l *Mended) advance(id string) (done bool, err error) {
	names, err := l.list()
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, id) })
	switch at {
	case -1:
		_, err := l.conn.Create(l.dir+"/"+id+"-", nil, zk.FlagEphemeral|zk.FlagSequence, l.acl)
		if err == zk.ErrNoNode {
			err = l.makeAll()
		}
		return false, err
	case 0:
		exists, stat, err := l.conn.Exists(l.dir + "/" + names[0])
		own := err == nil && exists && stat.EphemeralOwner == l.conn.SessionID()
		if err == nil && !own {
			time.Sleep(pause) // a znode of an old session ends with it
		}
		return own, err
	}
	exists, _, gone, err := l.conn.ExistsW(l.dir + "/" + names[at-1])
	if err == nil && exists {
		select {
		case <-gone:
		case <-time.After(pause):
		}
	}
	return false, err
}

// list returns the names in the queue after a sync, in the order of their numbers.
func (l *Mended) list() ([]string, error) {
	if _, err := l.conn.Sync(l.dir); err != nil {
		return nil, err
	}
	names, _, err := l.conn.Children(l.dir)
	if err == zk.ErrNoNode {
		err = nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[strings.LastIndexByte(a, '-')+1:], b[strings.LastIndexByte(b, '-')+1:])
	})
	return names, err
}

// makeAll creates dir and its parents, unless they exist.
func (l *Mended) makeAll() error {
	for i := range len(l.dir) {
		if i < len(l.dir)-1 && l.dir[i+1] != '/' {
			continue
		}
		if _, err := l.conn.Create(l.dir[:i+1], nil, 0, l.acl); err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	return nil
}

// remove deletes the znodes of the lock that is held.
func (l *Mended) remove() (done bool, err error) {
	names, err := l.list()
	for _, name := range names {
		if err == nil && strings.HasPrefix(name, l.id) {
			if err = l.conn.Delete(l.dir+"/"+name, -1); err == zk.ErrNoNode {
				err = nil
			}
		}
	}
	return err == nil, err
}
