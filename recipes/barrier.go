package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// BarrierOptions are the options of a barrier. The zero value is fine.
type BarrierOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
}

// Barrier is a gate that anybody may hold shut and anybody may open: the recipe
// "Barriers" of the ZooKeeper documentation, without its holes.
//
// # Protocol
//
// The barrier is one persistent znode. It is held while its data is "held", and open while its data is anything else
// or the znode does not exist.
//
//  1. To hold or to release, fence and read. If the barrier is as it should be, that is all. Otherwise set the data
//     if the version is still the one that was read. If the answer is lost, send the same request again.
//  2. If the version has moved on, this call or another one has made the change since the read, and nothing is left
//     to do. But if an earlier call of the object was given up, that one may have moved it: begin again.
//  3. To wait, fence, once in a session, and read, leaving a watch. If the barrier is held, wait for the watch, and
//     read again. The barrier has been open meanwhile if it is open now, or if the zxid of its last change (mzxid) is
//     not the one that was read first.
//
// # What the recipe page leaves out
//
// On the page the barrier is held while the znode exists. A release is then a delete. It cannot say which znode it
// means, because the version of each is 0: repeated after a lost answer, it opens a barrier that others hold by now
// (mutant release-again). The version of a znode that stays tells holds apart. So each call takes effect once, and a
// request that is executed late does nothing if the barrier has changed since.
//
// The page does not say that the first read may show the past, when the barrier was not held yet; hence the fence
// (mutant stale-wait). Nor does it say what happens to clients that wait when the barrier is released and held again
// before they look again (mutant held-again-wait). Here they pass: Wait returns if the barrier has been open since
// its first read, however soon it is held again.
//
// # Fan-out
//
// A release notifies everyone who waits, and all of them can go on. A hold
// notifies nobody.
//
// A Barrier is for one goroutine at a time.
type Barrier struct {
	session
	path  string
	acl   []zk.ACL
	alarm alarm
	doubt bool // a change that was given up may still be made
}

// NewBarrier returns the barrier at the znode path, which must not be "/". Hold makes it and its parents when they
// are missing; nobody deletes it.
func NewBarrier(conn Conn, env Env, path string, opt BarrierOptions) *Barrier {
	return &Barrier{session: session{conn, env}, path: path, acl: open(opt.ACL)}
}

const barrierHeld = "held"

// Hold shuts the barrier, which stays shut when the client ends. It is no error if the barrier is held already. After
// an error such as ctx's the barrier may have been shut, or may still be while the session of the call lives; a
// Release by the same object makes it certain.
func (b *Barrier) Hold(ctx context.Context) error {
	for {
		err := b.change(ctx, barrierHeld)
		if err == zk.ErrNoNode {
			err = b.makePath(ctx, b.path, b.acl)
			if err == nil {
				continue
			}
		}
		return err
	}
}

// Release opens the barrier, no matter which client holds it. It is no error if it is open. After an error such as
// ctx's it may have been opened, or may still be while the session of the call lives, but not once somebody has
// opened and held it again.
func (b *Barrier) Release(ctx context.Context) error {
	err := b.change(ctx, "")
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// change sets the data unless it is so already. It returns zk.ErrNoNode if there is no znode.
func (b *Barrier) change(ctx context.Context, to string) (err error) {
	defer Forget(b.env)(&b.doubt, &err)
	if err := ctx.Err(); err != nil {
		return err
	}
	given := b.doubt
	var now []byte
	var stat *zk.Stat
	err = b.fresh(ctx, func() (err error) {
		now, stat, err = b.on(ctx).Get(b.path)
		return err
	}, &now, &stat)
	if held := string(now) == barrierHeld; err != nil || held == (to == barrierHeld) && (held || !b.doubt) {
		return err
	}
	err = b.retry(ctx, func() error {
		_, err := b.on(ctx).Set(b.path, []byte(to), stat.Version)
		b.doubt = b.doubt || interrupted(err)
		return err
	}, &b.doubt)
	b.doubt = b.doubt && err != nil && err != zk.ErrBadVersion
	switch {
	case err == zk.ErrBadVersion && given: // perhaps by the abandoned change, which can take effect no more
		return b.change(ctx, to)
	case err == zk.ErrBadVersion:
		return nil
	}
	return err
}

// Wait returns when the barrier was open at some moment since the call. It is certain to return if that moment came
// after its first read, even if the barrier is held again by now; a read whose session ends before Wait has its
// answer does not count. When ctx is done first it returns ctx's error. Lost connections and expired sessions are
// handled; after the connection was closed it returns zk.ErrClosing.
func (b *Barrier) Wait(ctx context.Context) (err error) {
	defer Forget(b.env)(&b.alarm, &err)
	var first *zk.Stat
	var session int64
	for {
		Keep(b.env, &b.alarm, &first, &session)
		var now []byte
		var stat *zk.Stat
		var changed <-chan zk.Event
		b.alarm.set(b.env)
		err := b.freshSince(ctx, &session, b.path, func() (err error) {
			now, stat, changed, err = b.alarm.getW(b.on(ctx), b.path)
			return err
		}, &now, &stat, &changed)
		switch {
		case err == zk.ErrNoNode:
			return nil
		case err != nil:
			return err
		case first == nil:
			first = stat
		}
		if string(now) != barrierHeld || stat.Mzxid != first.Mzxid {
			return nil
		}
		if err := b.alarm.awaitPath(ctx, b.env, b.path, changed); err != nil {
			return err
		}
	}
}
