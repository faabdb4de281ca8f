package ensemble

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/wire"
	"zksim/model/history"
	"zksim/recipes/live"
)

// An administrator's connection retries what has failed because no server answered. Faults are over when it is used,
// but a server may still be busy with their consequences.
const (
	adminTries = 60
	adminPause = 500 * time.Millisecond
)

// administer calls do with a connection of its own, which is closed afterwards, or when ctx is done. In that case
// everything that waits for an answer fails.
func administer(ctx context.Context, o LiveOptions, opt live.Options, do func(admin *live.Client) error) error {
	admin, err := dial(ctx, o, opt)
	if err != nil {
		return err
	}
	defer admin.Close() // faults may strike its server
	defer context.AfterFunc(ctx, admin.Close)()
	return do(admin)
}

// patiently retries do until it succeeds, fails for a reason that will not go away, runs out of tries, or ctx is done.
func patiently(ctx context.Context, do func() error) (err error) {
	for range adminTries {
		if err = do(); err == nil || !passes(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(adminPause):
		}
	}
	return err
}

// passes reports whether an error says that there is no connection now.
func passes(err error) bool {
	return slices.ContainsFunc([]error{zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved},
		func(x error) bool { return errors.Is(err, x) })
}

// unserved reports whether an error says that no server has answered, rather than what a server has answered.
func unserved(err error) bool {
	return passes(err) || errors.Is(err, zk.ErrClosing) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

// create makes a znode that no other client makes. If it exists at a second try, the first try succeeded.
func create(ctx context.Context, c *live.Client, path string, data []byte, flags int32, acl []zk.ACL) error {
	again := false
	return patiently(ctx, func() error {
		_, err := c.Create(path, data, flags, acl)
		if again && errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		again = true
		return err
	})
}

// audit reads the znodes of a run, and records how far the server was each time.
type audit struct {
	reached atomic.Int64 // the zxid of the latest answer
	looks   []look
}

// options returns the options of the connections of the audit, which hear every answer.
func (a *audit) options() live.Options {
	return tapping(func(c net.Conn) (net.Conn, error) {
		tap := &wire.Tap{Broken: func(error) {}, Hear: func(e history.Event) {
			if e.Kind == history.Reply {
				a.reached.Store(e.Zxid)
			}
		}}
		return tap.Conn(c), nil
	})
}

// read reads the znodes from path down. It leaves out those that may not be read, because a scenario may have made them
// so.
func (a *audit) read(ctx context.Context, c *live.Client, path string) error {
	x := look{path: path}
	err := patiently(ctx, func() (err error) {
		if _, err = c.Sync(path); err != nil {
			return err
		}
		x.data, x.stat, err = c.Get(path)
		if x.zxid = a.reached.Load(); err != nil {
			return err
		}
		x.read = true
		x.names, _, err = c.Children(path)
		x.listed = a.reached.Load()
		return err
	})
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		return nil
	case errors.Is(err, zk.ErrNoNode):
		a.looks = append(a.looks, look{path: path, zxid: max(x.zxid, x.listed)})
		return nil
	case err != nil:
		return err
	}
	slices.Sort(x.names)
	a.looks = append(a.looks, x)
	for _, name := range x.names {
		if err := a.read(ctx, c, path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// tree returns the znodes that exist.
func (a *audit) tree() (list []history.Node) {
	for i := range a.looks {
		if x := &a.looks[i]; x.stat != nil {
			list = append(list, history.Node{Path: x.path, Data: string(x.data), Owner: x.stat.EphemeralOwner,
				Czxid: x.stat.Czxid, Mzxid: x.stat.Mzxid, Pzxid: x.stat.Pzxid, Version: x.stat.Version})
		}
	}
	return list
}
