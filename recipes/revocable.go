package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// unlock is the data that asks a contender to give up its znode.
const unlock = "unlock"

// RevocableLock is an [RWLock] that others can ask its holder to give up: the recipe "Recoverable Shared Locks" of
// the ZooKeeper documentation. It cannot be downgraded.
//
// # Protocol
//
// As RWLock, without the read znode of a writer. A contender takes the lock with a getData of its own znode that
// leaves a watch. If the data is "unlock", or becomes so while the lock is held, Revoked fires. The holder does what
// must be done, and consents by unlocking.
//
// To revoke a lock, set the data of its znode to "unlock". That may be repeated, so a lost answer does no harm; a
// znode that is gone needs no revoking. A client that is asked while it still waits hears of it as soon as it holds
// the lock.
//
// # What the recipe page leaves out
//
// The page says to look for "unlock" when the watch fires. The znode may have that data when it is first read, and
// then no watch fires (mutant late-revoke).
//
// The page's other way is to delete the znode of a holder that does not answer, by
// "Freaking Laser Beams": see [RevocableLock.Break] for what that costs.
//
// # Fan-out
//
// As RWLock; a revocation notifies the holder, and in vain the client that waits for that znode.
type RevocableLock struct{ readWrite }

// NewRevocableLock returns a lock on the znode dir, which must not be "/" and should be used for nothing else.
// opt.ACL must also let clients that may revoke write to the znode. A revocation replaces opt.Data, which must not be
// "unlock".
func NewRevocableLock(conn Conn, env Env, dir string, opt LockOptions) *RevocableLock {
	l := &RevocableLock{newReadWrite(session{conn, env}, dir, opt)}
	l.read.revocable, l.write.revocable = true, true
	return l
}

// Revoked returns a channel that gets one event when the holder is asked to give up the
// lock, and is then closed. It is nil while the lock is not held. After Lost has fired
// it may be silent.
func (l *RevocableLock) Revoked() <-chan zk.Event { return l.held().Revoked() }

// Queue returns the paths of the clients that hold or await the lock, in order. It is a snapshot, perhaps of the
// past.
func (l *RevocableLock) Queue(ctx context.Context) ([]string, error) {
	names, err := l.write.list(ctx)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	for i := range names {
		names[i] = l.write.dir + "/" + names[i]
	}
	return names, err
}

// Revoke asks the client that holds or awaits the lock by the znode path to give it up. With nil, that client has
// been told, or will be before it takes the lock, or the znode is gone.
func (l *RevocableLock) Revoke(ctx context.Context, path string) (err error) {
	defer Forget(l.write.env)(&err)
	err = l.write.retry(ctx, func() error {
		_, err := l.write.on(ctx).Set(path, []byte(unlock), -1)
		return err
	})
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// Break takes the lock away from the client that holds or awaits it by the znode path. It asks for no consent, and it
// is not safe by itself: until the old holder hears of it, by Lost, it still believes that it holds the lock, while
// the next one holds it. Only a resource that refuses the old holder's Token is protected.
func (l *RevocableLock) Break(ctx context.Context, path string) error {
	return l.write.remove(ctx, path)
}
