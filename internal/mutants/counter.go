package mutants

import (
	"context"
	"strconv"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of counters.
const (
	// DoubleCount repeats a set whose answer was lost, and takes the bad version that its own first try caused for
	// somebody else's update.
	DoubleCount Flaw = 28
	// StaleGet reads the number from whatever server it is connected to.
	StaleGet Flaw = 162
	// LastingReceipt makes receipts that are not ephemeral, and leaves them to the end of the session when the
	// connection is lost.
	LastingReceipt Flaw = 182
)

// Counter is a counter with one flaw. Otherwise it follows the protocol of recipes.Counter in the plainest way, without
// what that does after the end of the session.
type Counter struct {
	patient
	path string
	flaw Flaw
}

// NewCounter returns the counter on path with the given flaw.
func NewCounter(conn recipes.Conn, env recipes.Env, path string, flaw Flaw) *Counter {
	return &Counter{patient{conn, env}, path, flaw}
}

// Get returns the number.
func (c *Counter) Get(ctx context.Context) (int64, error) {
	n, _, err := c.read(ctx)
	return n, err
}

func (c *Counter) read(ctx context.Context) (n int64, version int32, err error) {
	get := func() error {
		data, stat, err := c.conn.Get(c.path)
		if err == nil {
			n, _ = strconv.ParseInt(string(data), 10, 64)
			version = stat.Version
		}
		return err
	}
	if c.flaw == StaleGet {
		err = c.until(ctx, get)
	} else {
		err = c.synced(ctx, c.path, get)
	}
	return n, version, err
}

// Add adds delta and returns the sum.
func (c *Counter) Add(ctx context.Context, delta int64) (int64, error) {
	for {
		n, version, err := c.read(ctx)
		if err == nil {
			err = c.set(ctx, n+delta, version)
		}
		if err != zk.ErrBadVersion {
			return n + delta, err
		}
	}
}

// CompareAndSet makes the number next if it is old, and reports whether it was.
func (c *Counter) CompareAndSet(ctx context.Context, old, next int64) (bool, error) {
	for {
		n, version, err := c.read(ctx)
		if err != nil || n != old {
			return false, err
		}
		if err = c.set(ctx, next, version); err != zk.ErrBadVersion {
			return err == nil, err
		}
	}
}

// set sets the number together with a receipt, which tells after a lost answer whether the number was set.
func (c *Counter) set(ctx context.Context, n int64, version int32) error {
	data := strconv.AppendInt(nil, n, 10)
	if c.flaw == DoubleCount {
		return c.until(ctx, func() error {
			_, err := c.conn.Set(c.path, data, version)
			return err
		})
	}
	receipt, flags := c.path+"/"+c.env.UUID(), int32(zk.FlagEphemeral)
	if c.flaw == LastingReceipt {
		flags = 0
	}
	err := c.until(ctx, func() error {
		_, err := c.conn.Multi(
			&zk.SetDataRequest{Path: c.path, Data: data, Version: version},
			&zk.CreateRequest{Path: receipt, Acl: everybody, Flags: flags})
		return err
	})
	executed := err == nil
	if err == zk.ErrBadVersion { // by its own first try if the receipt is there
		err := c.synced(ctx, c.path, func() (err error) {
			executed, _, err = c.conn.Exists(receipt)
			return err
		})
		if err != nil {
			return err
		}
	}
	if !executed {
		return err
	}
	return c.until(ctx, func() error {
		if err := c.conn.Delete(receipt, -1); err != zk.ErrNoNode && c.flaw != LastingReceipt {
			return err
		}
		return nil
	})
}
