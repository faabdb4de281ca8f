package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of revocable locks.
const (
	// LateRevoke waits for the data of its znode to become "unlock", and does not check whether it already is when
	// first read.
	LateRevoke Flaw = 17
	// DeafHolder listens only for a revocation: it is not told that its znode was deleted.
	DeafHolder Flaw = 113
	// DeafAfterAsked listens for one event: a holder that was asked to give up its lock is not told later that its
	// znode was deleted.
	DeafAfterAsked Flaw = 118
)

// RevocableLock is a revocable lock with one flaw. Otherwise it follows the protocol of recipes.RevocableLock in the
// plainest way.
type RevocableLock struct {
	*RWLock
	revoked chan zk.Event
}

// NewRevocableLock returns a revocable lock on dir with the given flaw.
func NewRevocableLock(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *RevocableLock {
	return &RevocableLock{RWLock: NewRWLock(conn, env, dir, flaw)}
}

// RLock waits until the lock is held for reading.
func (l *RevocableLock) RLock(ctx context.Context) error { return l.listen(l.RWLock.RLock(ctx)) }

// TryRLock returns recipes.ErrLocked when the lock is not free for reading.
func (l *RevocableLock) TryRLock(ctx context.Context) error { return l.listen(l.RWLock.TryRLock(ctx)) }

// Lock waits until the lock is held for writing.
func (l *RevocableLock) Lock(ctx context.Context) error { return l.listen(l.RWLock.Lock(ctx)) }

// TryLock returns recipes.ErrLocked when the lock is not free for writing.
func (l *RevocableLock) TryLock(ctx context.Context) error { return l.listen(l.RWLock.TryLock(ctx)) }

// listen waits for the revocation of a lock that was acquired without error.
func (l *RevocableLock) listen(err error) error {
	if err != nil {
		return err
	}
	path := l.dir + "/" + l.node
	revoked := make(chan zk.Event, 1)
	l.revoked = revoked
	ctx, cancel := context.WithCancel(context.Background())
	end := l.end
	l.end = func() {
		end()
		cancel()
	}
	data, _, event, err := l.conn.GetW(path)
	if l.flaw == LateRevoke {
		data = nil
	}
	l.env.Go("revoke-watch", func() {
		for err == nil && string(data) != "unlock" {
			if _, _, err = l.env.Await(ctx, event); err == nil {
				data, _, event, err = l.conn.GetW(path)
			}
		}
		if err == nil {
			revoked <- zk.Event{}
			if l.flaw == DeafAfterAsked {
				end()
			}
		}
	})
	return nil // after an error here the lock is lost
}

// Revoked fires when the data of the lock's znode is "unlock".
func (l *RevocableLock) Revoked() <-chan zk.Event { return l.revoked }
