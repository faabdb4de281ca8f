package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ErrLost is returned by Downgrade when the lock was lost.
var ErrLost = errors.New("recipes: lock is lost")

// readWrite is a place in one queue for each of the two ways to lock.
type readWrite struct{ read, write place }

func newReadWrite(s session, dir string, opt LockOptions) readWrite {
	return readWrite{
		newPlace(s, dir, "read", opt, func(word string) bool { return word == "write" }),
		newPlace(s, dir, "write", opt, func(word string) bool { return word == "read" || word == "write" }),
	}
}

// RLock waits until the lock is held for reading, together with other readers.
// Errors are those of [Lock.Lock].
func (l *readWrite) RLock(ctx context.Context) error { return l.acquire(ctx, &l.read, true) }

// TryRLock is RLock if no writer holds or awaits the lock; else it returns
// ErrLocked.
func (l *readWrite) TryRLock(ctx context.Context) error { return l.acquire(ctx, &l.read, false) }

// RUnlock gives up what RLock got, as [Lock.Unlock] does. It returns ErrNotHeld
// when the lock is not held for reading.
func (l *readWrite) RUnlock(ctx context.Context) error { return l.read.release(ctx) }

// Lock waits until the lock is held for writing, by this object alone. Errors are
// those of [Lock.Lock].
func (l *readWrite) Lock(ctx context.Context) error { return l.acquire(ctx, &l.write, true) }

// TryLock is Lock if nobody holds or awaits the lock; else it returns ErrLocked.
func (l *readWrite) TryLock(ctx context.Context) error { return l.acquire(ctx, &l.write, false) }

// Unlock gives up what Lock got, as [Lock.Unlock] does. It returns ErrNotHeld when
// the lock is not held for writing.
func (l *readWrite) Unlock(ctx context.Context) error { return l.write.release(ctx) }

func (l *readWrite) acquire(ctx context.Context, p *place, wait bool) error {
	if l.held() != nil {
		return ErrHeld
	}
	return p.acquire(ctx, wait)
}

// held returns what is held in either way.
func (l *readWrite) held() *hold {
	if l.write.held != nil {
		return l.write.held
	}
	return l.read.held
}

// Lost is as [Lock.Lost].
func (l *readWrite) Lost() <-chan zk.Event { return l.held().Lost() }

// Token returns a number for a resource that refuses stale holders, 0 while the
// lock is not held: the zxid that created its own znode. It is higher than those
// of all earlier holders that excluded this one. Readers that share the lock
// have different tokens in no particular order, so the resource remembers two
// numbers: it refuses a write whose token is lower than that of any access it
// has seen, and a read whose token is lower than that of any write.
func (l *readWrite) Token() int64 { return l.held().Token() }

// Znodes returns the paths that the object answers for: its own znodes while it
// holds or awaits the lock.
func (l *readWrite) Znodes() []string { return append(l.read.znodes(), l.write.znodes()...) }

// RWLock is a fair lock that one writer holds alone or any number of readers
// together: the recipe "Shared Locks" of the ZooKeeper documentation. First come,
// first served: readers that come after a waiting writer wait for it.
//
// # Protocol
//
// It is that of [Lock], with two kinds of contenders.
//
//  1. To read, create dir/_c_GUID-read-, ephemeral and sequential. To write,
//     create dir/_c_GUID-read- and dir/_c_GUID-write- in one multi, so that no
//     number lies between theirs. The second is the place in the queue, the
//     first is for Downgrade. After a lost answer fence and look for both.
//  2. List dir. A reader is kept waiting by the writes ahead of it, a writer by
//     everything ahead of it but its own read. If there is none, and the own
//     znode is there and of the present session, the lock is held.
//  3. Otherwise leave a watch on the last of those, only on that one, and go to 2
//     when it fires or was gone already.
//
// To unlock, delete its own znodes, the read first. To downgrade, delete the
// write: readers directly behind it come in, and the next writer goes on to wait
// for the read, which has been ahead of it all the time.
//
// # What the recipe page leaves out
//
// All that is said at [Lock], and:
//
// The page has a reader wait for "a node with a pathname starting with write- and
// the next lowest sequence number". It must be a lower number than the own. A
// reader that waits for any write waits for those behind it, too, which wait
// for it (mutant sibling-wait).
//
// It has no downgrade. A writer that takes a new read znode before it gives up
// the write has its read behind the writers that wait, and the first of them
// comes in (mutant downgrade; CURATOR-276, CURATOR-621).
//
// There is no upgrade: two readers that wait to become the writer wait for each
// other forever. Unlock, lock for writing, and look again at what was read.
//
// # Fan-out
//
// The end of a write notifies the readers between it and the next write, all of
// which can go on if nobody is ahead, and at most one writer. The end of a read
// notifies at most one writer, in vain if a reader ahead of that one is not done yet.
// Else only a client that gives up waiting, and a downgrade, notify clients in vain.
//
// An RWLock is for one goroutine at a time, holds the lock in one way at a time
// and is not re-entrant; see [Lock].
type RWLock struct{ readWrite }

// NewRWLock returns a lock on the znode dir, which must not be "/" and should be
// used for nothing else. It is made when it is missing.
func NewRWLock(conn Conn, env Env, dir string, opt LockOptions) *RWLock {
	l := &RWLock{newReadWrite(session{conn, env}, dir, opt)}
	l.write.partner = l.read.word
	return l
}

// Downgrade turns a lock that is held for writing into one that is held for
// reading, with the same token, and no writer in between: it ends with RUnlock.
// From the call on the caller must not write, and until the answer comes it knows
// nothing. Then Lost returns a new channel; the old one means nothing any more.
//
// After an error the lock is not held in either way, as after Unlock: ErrLost says
// that the session has ended or somebody has deleted the znode, ctx's error that the
// rest happens in the background.
func (l *RWLock) Downgrade(ctx context.Context) (err error) {
	w, r := &l.write, &l.read
	defer Forget(w.env)(&r.nodes, &r.held, &r.alarm, &w.alarm, &err)
	if w.held == nil {
		return ErrNotHeld
	}
	w.held.end()
	nodes := w.nodes
	w.held, w.nodes, r.nodes = nil, nil, nodes
	err = r.remove(ctx, r.dir+"/"+nodes[1])
	if err == nil {
		r.nodes = nodes[:1:1]
		err = r.queue(ctx, nodes[0], true) // it is the first, unless it is gone
	}
	if err == nil {
		return nil
	}
	r.nodes = nil
	r.giveUp(ctx, nodes)
	if err == errGone {
		return ErrLost
	}
	return err
}
