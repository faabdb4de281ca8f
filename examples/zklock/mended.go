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
//   - When it gives up, for whatever reason, it removes its znode. For that it has to know the znode by a name of its
//     own: CreateProtectedEphemeralSequential keeps the GUID to itself, and an error of its listing leaves the znode.
//   - It holds the lock only by a znode that is listed and belongs to the present session. go-zookeeper makes a new
//     session without a word, and the znode of the old one goes.
//   - It looks again when its session changes state, since a watch may be lost with the connection.
//   - A lost connection is no reason to give up, and a znode that has gone is no reason not to unlock.
type Mended struct {
	conn recipes.Conn
	env  recipes.Env
	dir  string
	acl  []zk.ACL
	id   string // of the own znodes, while the lock is held
}

// NewMended is New for the lock without bugs.
func NewMended(conn recipes.Conn, env recipes.Env, dir string, acl []zk.ACL) *Mended {
	return &Mended{conn: conn, env: env, dir: dir, acl: acl}
}

// pause is how long it waits before it tries again.
const pause = 10 * time.Millisecond

// Lock waits for the lock, until ctx is done.
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

// Unlock gives the lock up.
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

// persist calls a step until it is done, or fails for another reason than a lost connection.
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

// advance looks at the queue and does what comes next. It is done when the lock is held.
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
			err = l.env.Sleep(ctx, pause) // it goes with the session that made it
		}
		return own, err
	}
	exists, _, gone, err := l.conn.ExistsW(l.dir + "/" + names[at-1])
	if err == nil && exists {
		_, _, err = l.env.Await(ctx, gone, change)
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

// remove removes what there is by that id.
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
