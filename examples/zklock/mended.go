package zklock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Mended is the lock without the bugs that the tests find:
//
//   - When it gives up, for whatever reason, it deletes its znode. It finds the znode by an id of its own in the name:
//     CreateProtectedEphemeralSequential does not return its GUID, and leaves the znode if its listing fails.
//   - It takes the lock only with a znode that is listed and belongs to the present session. go-zookeeper silently
//     begins a new session, and the znode of the old one ends with it.
//   - It looks again when its session changes state, because a watch may be lost with the connection.
//   - It does not give up when a connection is lost, and Unlock succeeds if the znode is already gone.
type Mended struct {
	conn recipes.Conn
	env  recipes.Env
	dir  string
	acl  []zk.ACL
	id   string // begins the names of its znodes, while it holds the lock
}

// NewMended is New for the lock without bugs.
func NewMended(conn recipes.Conn, env recipes.Env, dir string, acl []zk.ACL) *Mended {
	return &Mended{conn: conn, env: env, dir: dir, acl: acl}
}

// pause is the wait before the next try.
const pause = 10 * time.Millisecond

// Lock waits until it holds the lock, or ctx is done.
func (l *Mended) Lock(ctx context.Context) error {
	if l.id != "" {
		return zk.ErrDeadlock
	}
	id := l.env.UUID()
	err := l.persist(ctx, func() (bool, error) { return l.advance(ctx, id) })
	if err != nil {
		return errors.Join(err, l.remove(id))
	}
	l.id = id
	return nil
}

// Unlock releases the lock. It tries again for as long as there is no connection.
func (l *Mended) Unlock(context.Context) error {
	if l.id == "" {
		return zk.ErrNotLocked
	}
	err := l.remove(l.id)
	if err == nil {
		l.id = ""
	}
	return err
}

// persist calls step until it is done, ctx is done, or it fails with an error that a new connection does not cure.
func (l *Mended) persist(ctx context.Context, step func() (done bool, err error)) error {
	for {
		done, err := step()
		if done || err != nil && !interrupted(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			if err := l.env.Sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
}

func interrupted(err error) bool {
	var socket interface{ Timeout() bool } // the error of a write to the connection
	return err == zk.ErrConnectionClosed || err == zk.ErrNoServer || err == zk.ErrSessionExpired ||
		err == zk.ErrSessionMoved || errors.As(err, &socket)
}

// advance looks at the queue and takes the next step. It is done when it holds the lock.
func (l *Mended) advance(ctx context.Context, id string) (done bool, err error) {
	change := l.env.SessionEvents()
	names, err := l.list()
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, id) })
	switch {
	case at < 0:
		_, err := l.conn.Create(l.dir+"/"+id+"-lock-", []byte{}, zk.FlagEphemeral|zk.FlagSequence, l.acl)
		if err == zk.ErrNoNode {
			err = makeAll(l.conn, l.dir, l.acl)
		}
		return false, err
	case at == 0:
		exists, stat, err := l.conn.Exists(l.dir + "/" + names[0])
		own := err == nil && exists && stat.EphemeralOwner == l.conn.SessionID() && len(change) == 0
		if !own && err == nil {
			err = l.env.Sleep(ctx, pause) // a znode of an old session ends with it
		}
		return own, err
	}
	exists, _, gone, err := l.conn.ExistsW(l.dir + "/" + names[at-1])
	if err == nil && exists {
		_, _, err = l.env.Await(ctx, gone, change)
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

// remove deletes all znodes whose names begin with id.
func (l *Mended) remove(id string) error {
	return l.persist(context.Background(), func() (bool, error) {
		names, err := l.list()
		for _, name := range names {
			if strings.HasPrefix(name, id) && err == nil {
				if err = l.conn.Delete(l.dir+"/"+name, -1); err == zk.ErrNoNode {
					err = nil
				}
			}
		}
		return err == nil, err
	})
}
