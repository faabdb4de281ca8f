package recipes

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/go-zookeeper/zk"
)

// CounterOptions are the options of a counter. The zero value is fine.
type CounterOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
}

// Counter is a number that all clients share, as Curator's DistributedAtomicLong
// and Kazoo's Counter; the ZooKeeper documentation has no text on it.
//
// # Protocol
//
//  1. Sync and read the znode; or, for Get, and before CompareAndSet reports
//     false, fence and read. Its data is the number in decimal, and its
//     version is remembered. A znode that is missing or empty is zero.
//  2. In one multi, set the new number if the version is still the same, and
//     create a receipt below the counter: _r_GUID, ephemeral. A missing znode is
//     made, empty, and read again; version 0 may be that of one with a number in it.
//  3. On a bad version somebody else was first: go to 1. If the answer is lost,
//     fence and look for the receipt: if it is there, the multi was executed; if
//     not, and the session is still the same, it was not, and goes out again.
//     If the session has ended meanwhile, nobody can tell: [ErrUnknownOutcome].
//  4. Delete the receipt.
//
// # What the others leave out
//
// Both libraries set the number without a receipt and try again after a lost
// answer. Then a bad version may be due to one's own first attempt, and what was
// added once is counted twice (mutant double-count). Nor does the number itself
// tell who has written it, once others have added to it. And a number that is
// read without that may be one that was replaced long ago (mutant stale-get).
//
// A counter must not be deleted while it is in use: its versions would begin
// anew, and an old one would match.
//
// # Fan-out
//
// None, nobody watches. Of n clients that add at the same time one succeeds, and
// the others try again.
//
// The data has the format of Kazoo's Counter. A Counter may be used by several
// goroutines at once.
type Counter struct {
	session
	path string
	opt  CounterOptions
}

// NewCounter returns the counter on the znode path, which the first change
// creates when it is missing. Changes need the permissions to read and write it,
// and to create and delete children.
func NewCounter(conn Conn, env Env, path string, opt CounterOptions) *Counter {
	opt.ACL = open(opt.ACL)
	return &Counter{session{conn, env}, path, opt}
}

// Get returns the number, with all changes that ended before the call.
func (c *Counter) Get(ctx context.Context) (int64, error) {
	n, _, err := c.read(ctx, c.fresh)
	return n, err
}

// Add adds delta and returns the sum, which wraps around as that of int64s. An
// error that wraps [ErrUnknownOutcome] says that it has perhaps been added; after
// any other error it has not.
func (c *Counter) Add(ctx context.Context, delta int64) (sum int64, err error) {
	defer Forget(c.env)(&sum, &err)
	for {
		Keep(c.env)
		n, version, err := c.read(ctx, c.recent)
		if err != nil {
			return 0, err
		}
		switch ok, err := c.set(ctx, n+delta, version); {
		case err != nil:
			return 0, err
		case ok:
			return n + delta, nil
		}
	}
}

// CompareAndSet makes the number next if it is old, and reports whether it was.
// Errors are those of [Counter.Add].
func (c *Counter) CompareAndSet(ctx context.Context, old, next int64) (swapped bool, err error) {
	defer Forget(c.env)(&swapped, &err)
	for {
		Keep(c.env)
		n, version, err := c.read(ctx, c.recent)
		if err == nil && n != old { // perhaps it is, and a leader that was deposed has answered
			n, version, err = c.read(ctx, c.fresh)
		}
		if err != nil || n != old {
			return false, err
		}
		if ok, err := c.set(ctx, next, version); ok || err != nil {
			return ok, err
		}
	}
}

// recent is how the number is read of which a version will tell whether it was the latest.
func (c *Counter) recent(ctx context.Context, read func() error, kept ...any) error {
	return c.synced(ctx, c.path, read, kept...)
}

// read returns the number and the version of its znode; that of a missing one is that of none. It must not be 0: that
// has a znode that was made with a number in it, and a read of the past has missed.
func (c *Counter) read(
	ctx context.Context, fresh func(context.Context, func() error, ...any) error,
) (n int64, version int32, err error) {
	defer Forget(c.env)(&n, &version, &err)
	var data []byte
	err = fresh(ctx, func() error {
		d, stat, err := c.on(ctx).Get(c.path)
		if err == nil {
			data, version = d, stat.Version
		}
		return err
	}, &data, &version)
	if err == zk.ErrNoNode {
		return 0, math.MinInt32, nil
	}
	if err == nil && len(data) > 0 {
		if n, err = strconv.ParseInt(string(data), 10, 64); err != nil {
			err = fmt.Errorf("recipes: %s holds no number: %w", c.path, err)
		}
	}
	return n, version, err
}

// set reports whether the number was set; it is not when the version is another.
func (c *Counter) set(ctx context.Context, n int64, version int32) (bool, error) {
	err := c.receipted(ctx, c.path, c.opt.ACL,
		&zk.SetDataRequest{Path: c.path, Data: strconv.AppendInt(nil, n, 10), Version: version})
	switch err {
	case zk.ErrNoNode:
		return false, c.makePath(ctx, c.path, c.opt.ACL)
	case zk.ErrBadVersion:
		return false, nil
	}
	return err == nil, err
}
