package ensemble

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes/live"
)

// An administrator's connection tries again what has failed for want of a server: faults are over when it is used, but
// a server may still be busy with their consequences.
const (
	adminTries = 60
	adminPause = 500 * time.Millisecond
)

// administer does something by a connection of its own, which is closed afterwards, or when ctx is done: then whatever
// waits for an answer fails.
func administer(ctx context.Context, o LiveOptions, opt live.Options, do func(admin *live.Client) error) error {
	admin, err := dial(ctx, o, opt)
	if err != nil {
		return err
	}
	defer admin.Close() // faults may strike its server
	defer context.AfterFunc(ctx, admin.Close)()
	return do(admin)
}

// patiently does something until it fails for a reason that will not go away, or ctx is done.
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

// unserved reports whether an error says that no server has answered, rather than what one has.
func unserved(err error) bool {
	return passes(err) || errors.Is(err, zk.ErrClosing) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

// create makes a znode that nobody else makes: if it exists at a second try, the first has succeeded.
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

// readTree writes the znodes below path into the history.
func (h *liveHost) readTree(ctx context.Context, c *live.Client, path string) error {
	var data []byte
	var stat *zk.Stat
	var children []string
	err := patiently(ctx, func() (err error) {
		if _, err = c.Sync(path); err != nil {
			return err
		}
		if data, stat, err = c.Get(path); err != nil {
			return err
		}
		children, _, err = c.Children(path)
		return err
	})
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) { // a scenario may have made it unreadable
		return nil
	}
	if err != nil {
		return err
	}
	h.history.Tree = append(h.history.Tree, history.Node{Path: path, Data: string(data), Owner: stat.EphemeralOwner,
		Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid, Version: stat.Version})
	slices.Sort(children)
	for _, name := range children {
		if err := h.readTree(ctx, c, path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}
