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

// TryRLock is RLock if no writer holds or awaits the lock; otherwise it returns ErrLocked.
func (l *readWrite) TryRLock(ctx context.Context) error { return l.acquire(ctx, &l.read, false) }

// RUnlock releases what RLock has taken, like [Lock.Unlock]. It returns ErrNotHeld when the lock is not held for
// reading.
func (l *readWrite) RUnlock(ctx context.Context) error { return l.read.release(ctx) }

// Lock waits until the lock is held for writing, by this object alone. Errors are
// those of [Lock.Lock].
func (l *readWrite) Lock(ctx context.Context) error { return l.acquire(ctx, &l.write, true) }

// TryLock is Lock if nobody holds or awaits the lock; otherwise it returns ErrLocked.
func (l *readWrite) TryLock(ctx context.Context) error { return l.acquire(ctx, &l.write, false) }

// Unlock releases what Lock has taken, like [Lock.Unlock]. It returns ErrNotHeld when the lock is not held for
// writing.
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

// Lost is like [Lock.Lost].
func (l *readWrite) Lost() <-chan zk.Event { return l.held().Lost() }

// Token returns a number for a resource that refuses stale holders: the zxid that created its own znode, 0 while the
// lock is not held. It is higher than the tokens of all earlier holders that excluded this one. Readers that share
// the lock have different tokens in no particular order, so the resource remembers two numbers: it refuses a write
// whose token is lower than that of any access it has seen, and a read whose token is lower than that of any write.
func (l *readWrite) Token() int64 { return l.held().Token() }

// Znodes returns the paths that the object answers for: its own znodes while it
// holds or awaits the lock.
func (l *readWrite) Znodes() []string { return append(l.read.znodes(), l.write.znodes()...) }

// RWLock is a fair lock that is held by one writer alone or by any number of readers together: the recipe "Shared
// Locks" of the ZooKeeper documentation. First come, first served: readers that come after a waiting writer wait for
// it.
//
// # Protocol
//
// As [Lock], with two kinds of contenders.
//
//  1. To read, create dir/_c_GUID-read-, ephemeral and sequential. To write, create dir/_c_GUID-read- and
//     dir/_c_GUID-write- in one multi, so that no number lies between theirs. The second is the place in the queue,
//     the first is for Downgrade. After a lost answer, fence and look for both.
//  2. List dir. A reader waits for the writes ahead of it, a writer for everything ahead of it except its own read.
//     If there is nothing to wait for, and its own znode is there and belongs to the present session, the lock is
//     held.
//  3. Otherwise leave a watch on the last of the znodes to wait for, and on no other. When it fires, or if the znode
//     was already gone, go to 2.
//
// To unlock, delete its own znodes, the read first. To downgrade, delete the write: the readers directly behind it
// come in, and the next writer waits for the read, which has been ahead of it all the time.
//
// # What the recipe page leaves out
//
// Everything that [Lock] says, and:
//
// The page has a reader wait for "a node with a pathname starting with write- and the next lowest sequence number".
// That number must be lower than its own. A reader that waits for any write also waits for writes behind it, which
// wait for the reader (mutant sibling-wait).
//
// The page has no downgrade. If a writer creates a new read znode before it gives up the write, its read is behind
// the waiting writers, and the first of them comes in (mutant downgrade; CURATOR-276, CURATOR-621).
//
// There is no upgrade: two readers that wait to become the writer wait for each
// other forever. Unlock, lock for writing, and look again at what was read.
//
// # Fan-out
//
// The end of a write notifies the readers between it and the next write, all of which can go on if nobody is ahead,
// and at most one writer. The end of a read notifies at most one writer, in vain if a reader ahead of that writer is
// not done yet. Otherwise only a client that gives up waiting, and a downgrade, notify clients in vain.
//
// An RWLock is for one goroutine at a time, holds the lock in one way at a time
// and is not re-entrant; see [Lock].
type RWLock struct{ readWrite }

// NewRWLock returns a lock on the znode dir, which must not be "/" and should be used for nothing else. It is created
// when it is missing.
func NewRWLock(conn Conn, env Env, dir string, opt LockOptions) *RWLock {
	l := &RWLock{newReadWrite(session{conn, env}, dir, opt)}
	l.write.partner = l.read.word
	return l
}

// Downgrade turns a lock held for writing into one held for reading, with the same token and no writer in between;
// RUnlock ends it. From the call on the caller must not write, and until Downgrade returns it knows nothing of the
// lock. Then Lost returns a new channel; the old one means nothing any more.
//
// ErrNotHeld says that the lock was not held for writing; nothing has changed. After any other error the lock is not
// held in either way, as after Unlock: ErrLost says that the session has ended or that somebody has deleted the znode;
// ctx's error says that the release goes on in the background.
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
