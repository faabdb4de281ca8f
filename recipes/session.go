package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// session is what every recipe knows: its connection and its environment.
type session struct {
	conn Conn
	env  Env
}

// await blocks until the connection has a session. It fails when ctx is done
// and, with zk.ErrClosing, when the connection was closed for good.
func (s session) await(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		change := s.env.SessionEvents()
		if s.conn.State() == zk.StateHasSession {
			return nil
		}
		_, ev, err := s.env.Await(ctx, change)
		if err != nil {
			return err
		}
		if ev.Err != nil {
			return ev.Err
		}
	}
}

// retry runs f, which must be idempotent, until it ends in something else than a
// lost connection.
func (s session) retry(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !interrupted(err) {
			return err
		}
		if err := s.await(ctx); err != nil {
			return err
		}
	}
}

// remove deletes a znode that is the caller's own by its unique name. A znode
// that is gone already is removed.
func (s session) remove(ctx context.Context, path string) error {
	err := s.retry(ctx, func() error { return s.conn.Delete(path, -1) })
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// makePath creates the persistent znodes of path that are missing.
func (s session) makePath(ctx context.Context, path string, acl []zk.ACL) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		err := s.retry(ctx, func() error {
			_, err := s.conn.Create(path[:i], nil, 0, acl)
			return err
		})
		if err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	return nil
}

// find looks for a child of dir whose name contains the unique word. Coming
// after a create whose answer was lost, it settles whether that create was
// executed: the sync makes the server apply everything that was proposed before,
// which a plain listing on a server that lags would miss, and a request of the
// old connection cannot be executed any more. The name is empty when there is
// none.
func (s session) find(ctx context.Context, dir, word string) (name string, err error) {
	err = s.retry(ctx, func() error {
		name = ""
		if _, err := s.conn.Sync(dir); err != nil {
			return err
		}
		children, _, err := s.conn.Children(dir)
		for _, c := range children {
			if strings.Contains(c, word) {
				name = c
			}
		}
		return err
	})
	if err == zk.ErrNoNode {
		return "", nil
	}
	return name, err
}

// awaitChange waits until something happens to the znode path; it returns at once
// when the znode is not there. After the session has ended the watch fires, too.
func (s session) awaitChange(ctx context.Context, path string) error {
	exists, _, event, err := s.conn.ExistsW(path)
	if err != nil || !exists {
		return err
	}
	_, _, err = s.env.Await(ctx, event)
	return err
}

// interrupted reports whether err says only that the connection was lost. With
// zk.ErrNoServer the request was never executed; with the others nobody knows:
// see [Conn].
func interrupted(err error) bool {
	if err == nil {
		return false
	}
	switch err {
	case zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved:
		return true
	}
	// The error of a failed write to the socket reaches the caller as it is.
	var network interface{ Timeout() bool }
	return errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// open returns acl, or the list that lets everybody do everything.
func open(acl []zk.ACL) []zk.ACL {
	if acl == nil {
		return worldACL
	}
	return acl
}

var worldACL = zk.WorldACL(zk.PermAll)
