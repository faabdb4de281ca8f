package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// SingleNodeLock is the lock that everybody writes first: create one znode, and the client that succeeds holds it;
// the others watch it. It is correct, but neither fair nor gentle, and is here as the reference for the herd effect.
//
// # Protocol
//
// In one multi, create dir/lock and dir/holder-GUID, both ephemeral. If dir/lock exists, leave a watch on it and try
// again when it fires. If the answer is lost, fence and look for the GUID. To unlock, delete both in one multi,
// dir/holder-GUID first: by the time a late request is executed, dir/lock may be somebody else's, and then the multi
// fails as a whole. If it fails because somebody has deleted dir/lock, delete dir/holder-GUID alone.
//
// The holder watches dir/holder-GUID only. Deleting dir/lock by hand lets the next
// one in without telling the holder, whose Unlock would then delete the other's
// dir/lock. Deleting dir/holder-GUID tells the holder, but its Unlock then leaves
// dir/lock, which stays until the session ends. So an operator who must break the
// lock closes the session instead.
//
// # Fan-out
//
// A release notifies every waiter, and all but one in vain.
//
// A SingleNodeLock is for one goroutine at a time, and is not re-entrant; see [Lock].
type SingleNodeLock struct {
	session
	dir   string
	opt   LockOptions
	owner string // name of the znode that proves who holds
	held  *hold
	alarm alarm
}

// NewSingleNodeLock returns a lock on the znodes below dir, which must not be "/". Lock creates it when it is missing.
func NewSingleNodeLock(conn Conn, env Env, dir string, opt LockOptions) *SingleNodeLock {
	opt.ACL = open(opt.ACL)
	return &SingleNodeLock{session: session{conn, env}, dir: dir, opt: opt}
}

// Lock is like [Lock.Lock].
func (l *SingleNodeLock) Lock(ctx context.Context) error { return l.acquire(ctx, true) }

// TryLock is like [Lock.TryLock].
func (l *SingleNodeLock) TryLock(ctx context.Context) error { return l.acquire(ctx, false) }

func (l *SingleNodeLock) path() string { return l.dir + "/lock" }

func (l *SingleNodeLock) acquire(ctx context.Context, wait bool) (err error) {
	defer Forget(l.env)(&l.owner, &l.held, &l.alarm, &err)
	if l.held != nil {
		return ErrHeld
	}
	for {
		Keep(l.env, &l.alarm)
		owner, err := l.claim(ctx)
		switch {
		case err == zk.ErrNodeExists && !wait:
			return ErrLocked
		case err == zk.ErrNodeExists:
			err = l.retry(ctx, func() error { return l.awaitChange(ctx, l.path(), &l.alarm) }, &l.alarm)
		case err == nil:
			l.owner = owner
			err = l.take(ctx, owner)
			if err == nil {
				return nil
			}
			l.owner = ""
			if err == errGone {
				err = l.release(ctx, owner) // or it would keep the next attempt out
			}
			if err != nil {
				l.abandon(owner)
			}
		}
		if err != nil {
			return err
		}
	}
}

// claim creates the znodes and returns the name of the one that proves the claim, or zk.ErrNodeExists when the lock
// is taken.
func (l *SingleNodeLock) claim(ctx context.Context) (owner string, err error) {
	owner = "holder-" + l.env.UUID()
	defer Forget(l.env)(&owner, &err)
	return owner, l.create(ctx, creation{what: "lock", dir: l.dir, acl: l.opt.ACL,
		do: func() error {
			_, err := l.on(ctx).Multi(
				&zk.CreateRequest{Path: l.path(), Data: l.opt.Data, Acl: l.opt.ACL, Flags: zk.FlagEphemeral},
				&zk.CreateRequest{Path: l.dir + "/" + owner, Acl: l.opt.ACL, Flags: zk.FlagEphemeral})
			return err
		},
		done: func(ctx context.Context) (bool, error) {
			name, err := l.find(ctx, l.dir, owner)
			return name != "", err
		},
		undo: func(ctx context.Context) { l.release(ctx, owner) }})
}

// take makes sure that the claim belongs to the present session.
func (l *SingleNodeLock) take(ctx context.Context, owner string) (err error) {
	defer Forget(l.env)(&l.held, &l.alarm, &err)
	l.alarm.set(l.env)
	seen, err := l.look(ctx, l.dir+"/"+owner)
	if interrupted(err) || err == nil && seen.stat == nil {
		return errGone
	}
	if err != nil {
		return err
	}
	if seen.stat.EphemeralOwner != l.conn.SessionID() || l.alarm.rang() {
		return errGone
	}
	l.held = l.hold(l.dir+"/"+owner, seen, &l.alarm, nil)
	return nil
}

// release deletes the claim, if it is there.
func (l *SingleNodeLock) release(ctx context.Context, owner string) error {
	return l.removeProven(ctx, l.dir+"/"+owner, l.path())
}

func (l *SingleNodeLock) abandon(owner string) {
	defer Forget(l.env)(&owner)
	l.cleanUp("lock", func(ctx context.Context) { l.release(ctx, owner) })
}

// Unlock is like [Lock.Unlock].
func (l *SingleNodeLock) Unlock(ctx context.Context) error {
	if l.held == nil {
		return ErrNotHeld
	}
	h, owner := l.held, l.owner
	l.held, l.owner = nil, ""
	h.end()
	err := l.release(ctx, owner)
	if err != nil && ctx.Err() != nil {
		l.abandon(owner)
	}
	return err
}

// Lost is like [Lock.Lost].
func (l *SingleNodeLock) Lost() <-chan zk.Event { return l.held.Lost() }

// Token is like [Lock.Token].
func (l *SingleNodeLock) Token() int64 { return l.held.Token() }

// Znodes is like [Lock.Znodes]; there are two.
func (l *SingleNodeLock) Znodes() []string {
	if l.owner == "" {
		return nil
	}
	return []string{l.path(), l.dir + "/" + l.owner}
}
