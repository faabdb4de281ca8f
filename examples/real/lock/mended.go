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

// Mended is a lock that knows its znodes by a name of its own. So it finds them again, however its requests ended, and
// a second one does not hurt. It holds the lock only by a znode of the present session.
type Mended struct {
	conn *zk.Conn
	dir  string
	acl  []zk.ACL
	id   string // of the own znodes, while the lock is held
}

// NewMended returns a lock on the znodes below dir, which is made if it is not there.
func NewMended(conn *zk.Conn, dir string, acl []zk.ACL) *Mended {
	return &Mended{conn: conn, dir: dir, acl: acl}
}

// pause is how long it waits before it tries again, also where a watch may have been lost.
const pause = time.Second

// Lock waits for the lock.
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

// Unlock gives the lock up.
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

// persist calls a step until it is done, or fails for another reason than a lost connection.
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

// advance looks at the queue and does what comes next. It is done when the lock is held.
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
			time.Sleep(pause) // it goes with the session that made it
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

// list returns the names of the queue in order, as they are now.
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

// makeAll makes the folder and its parents.
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

// remove removes the own znodes.
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
