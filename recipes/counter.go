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

// Counter is a number that all clients share, like Curator's DistributedAtomicLong and Kazoo's Counter. The ZooKeeper
// documentation has no text on it.
//
// # Protocol
//
//  1. Sync and read the znode; but fence and read for Get, and before CompareAndSet reports false. The data is the
//     number in decimal. Remember the version. A missing or empty znode is zero.
//  2. In one multi, set the new number if the version is still the same, and create a receipt below the counter:
//     _r_GUID, ephemeral. If the znode is missing, create it, empty, and read again; do not assume version 0, which a
//     znode may have that was created with a number in it.
//  3. On a bad version somebody else was first: go to 1. If the answer is lost, fence and look for the receipt. If it
//     is there, the multi was executed. If it is not there and the session is still the same, the multi was not
//     executed: send it again. If the session has ended meanwhile, nobody can tell: [ErrUnknownOutcome].
//  4. Delete the receipt.
//
// # What the others leave out
//
// Both libraries set the number without a receipt and try again after a lost answer. Then a bad version may be due to
// one's own first attempt, and what was added once is counted twice (mutant double-count). The number itself does not
// tell who has written it, once others have added to it. And a number that is read without a fence may have been
// replaced long ago (mutant stale-get).
//
// A counter must not be deleted while it is in use: its versions would start again, and an old one would match.
//
// # Fan-out
//
// None, nobody watches. Of n clients that add at the same time, one succeeds and the others try again.
//
// The data has the format of Kazoo's Counter. A Counter may be used by several
// goroutines at once.
type Counter struct {
	session
	path string
	opt  CounterOptions
}

// NewCounter returns the counter on the znode path, which must not be "/". The first change creates it when it is
// missing. Changes need permission to read and write it, and to create and delete its children.
func NewCounter(conn Conn, env Env, path string, opt CounterOptions) *Counter {
	opt.ACL = open(opt.ACL)
	return &Counter{session{conn, env}, path, opt}
}

// Get returns the number, including all changes that ended before the call.
func (c *Counter) Get(ctx context.Context) (int64, error) {
	n, _, err := c.read(ctx, c.fresh)
	return n, err
}

// Add adds delta and returns the sum, which wraps around like any int64. An error that wraps [ErrUnknownOutcome] says
// that delta may have been added; after any other error it was not.
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

// CompareAndSet sets the number to next if it is old, and reports whether it did. Errors are as for [Counter.Add].
func (c *Counter) CompareAndSet(ctx context.Context, old, next int64) (swapped bool, err error) {
	defer Forget(c.env)(&swapped, &err)
	for {
		Keep(c.env)
		n, version, err := c.read(ctx, c.recent)
		if err == nil && n != old { // perhaps it is old, and a deposed leader has answered
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

// recent reads a number when its version will tell later whether it was the latest.
func (c *Counter) recent(ctx context.Context, read func() error, kept ...any) error {
	return c.synced(ctx, c.path, read, kept...)
}

// read returns the number and the version of its znode. For a missing znode it returns a version that no znode has.
// It must not be 0, the version of a znode that was created with a number in it and that a stale read has missed.
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

// set sets the number if the version is still the same, and reports whether it did.
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
