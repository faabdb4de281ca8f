package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of the locks.
var (
	// ErrHeld is returned by Lock and TryLock when the object already holds the
	// lock, or did and has not unlocked it: locks are not re-entrant.
	ErrHeld = errors.New("recipes: lock is already held by this object")
	// ErrNotHeld is returned by Unlock when the object does not hold the lock.
	ErrNotHeld = errors.New("recipes: lock is not held")
	// ErrLocked is returned by TryLock when somebody else holds or awaits the
	// lock, or a request of this call or of an earlier one was executed late, in a
	// session that was given up: its znode is in the way until that session ends.
	// So is what is still being removed in the background after an error such as ctx's.
	ErrLocked = errors.New("recipes: locked by another")
)

// LockOptions are the options of a lock. The zero value is fine.
type LockOptions struct {
	// ACL is that of the znodes made; nil: everything for everybody. All who want the lock must have the right to read
	// them: ZooKeeper tells nobody else of their end. Without it the error is zk.ErrNoAuth.
	ACL  []zk.ACL
	Data []byte // put into the lock's znode and shown by Contenders
}

// Lock is a fair mutual exclusion lock: the recipe "Locks" of the ZooKeeper
// documentation, without its holes.
//
// # Protocol
//
//  1. Create dir/_c_GUID-lock-, ephemeral and sequential. If the answer is
//     lost, fence, list, and look for the GUID: the create may have succeeded.
//  2. List dir. If its own znode is not there, delete it for certain and start over with a new GUID: the
//     session that made it has ended, if only for this client, or an operator has deleted it.
//  3. If its own sequence number is the lowest, read its own znode, leaving a
//     watch. If it is there, belongs to the present session and the session
//     has not changed state since before the listing, the lock is held.
//  4. Otherwise leave a watch on the znode with the next lower number, only on
//     that one. If it was gone already, or when the watch fires, go to 2.
//
// To unlock, delete its own znode. Where the connection is lost, deletion is
// tried again until its outcome is certain, if need be in the background: a
// znode that nobody answers for would lock everybody out for as long as the
// session lives.
//
// # What the recipe page leaves out
//
// The page does not say how to recognize one's own znode after a lost answer
// (mutant plain-create), that its own znode may be gone (no-own-check), that
// sequence numbers end: near 2^31 the server repeats them, so from there on
// contenders are ordered by the zxid that created them (string-sequence), and
// that a client can learn of the end of its session only after another has the
// lock (no-token). Against the latter nothing helps but the resource itself:
// give it Token with every write and let it refuse a lower one than it has
// seen.
//
// Belief ends early: [Lock.Lost] fires on a mere disconnect, because from then on
// the session may end at any time. The holder should stop, call Unlock and
// lock again.
//
// # Fan-out
//
// A release notifies one waiter (and the releasing client itself, of the end of
// its own znode). A client that gives up waiting notifies one.
//
// # Why it is not re-entrant
//
// Lock returns ErrHeld if the object holds the lock. To count instead, an object would
// have to tell a caller that comes again from another one, and Go does not say which
// goroutine calls. Nor would the count be of use once the lock is lost: the inner
// caller would unlock and lock again, and the outer one would never hear that somebody
// else has had the lock meanwhile. So lock in the outermost function that needs it and
// pass the *Lock to those inside, as a sign that it is held and for its Lost and Token.
//
// A Lock is for one goroutine at a time: goroutines that call it at once race. Each makes
// an object of its own, on one connection if they like; the objects exclude each other as
// those of different processes do, so a goroutine that locks two for the same dir waits
// for itself forever. The channel that Lost returns and the number that Token returns may
// be passed on.
//
// Its znodes have the format of go-zookeeper's Lock, so both can compete for one lock.
type Lock struct{ place }

// NewLock returns a lock on the znode dir, which must not be "/" and should be
// used for nothing else. Lock creates it when it is missing.
func NewLock(conn Conn, env Env, dir string, opt LockOptions) *Lock {
	return &Lock{newPlace(session{conn, env}, dir, "lock", opt, func(word string) bool { return word == "lock" })}
}

// Lock waits until the lock is held, or returns ErrHeld if the object holds it already.
// When ctx is done first it returns ctx's error at once, whether or not there is a
// connection, and the place in the queue is given up in the background. Errors of
// ZooKeeper that waiting does not cure, such as zk.ErrNoAuth, are returned as they are,
// and zk.ErrClosing after the connection was closed. Lost connections and expired
// sessions are dealt with.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, true) }

// TryLock takes the lock if it is free, and returns ErrLocked if it is not, or ErrHeld if the object holds it.
func (l *Lock) TryLock(ctx context.Context) error { return l.acquire(ctx, false) }

// Unlock releases the lock, whether or not it was lost meanwhile, or returns ErrNotHeld
// if the object does not hold it. It returns nil when its own znode is certainly gone.
// When ctx is done before that, Unlock returns ctx's error and goes on in the
// background; in any case the lock is not held any more and may be locked again.
func (l *Lock) Unlock(ctx context.Context) error { return l.release(ctx) }

// Lost returns a channel that gets one event when the lock that is held can no
// longer be relied on, and is then closed: the session was disconnected or has
// ended, or the znode was deleted by somebody else. The event has the type
// zk.EventSession, with the state, or zk.EventNodeDeleted; if the znode could not be
// looked at, its Err says why. The channel is nil, and so blocks forever, while the
// lock is not held. Nothing is sent once Unlock was called.
func (l *Lock) Lost() <-chan zk.Event { return l.held.Lost() }

// Token returns a number that is higher for each later holder of this lock (the
// zxid that created its own znode), for a resource that refuses writes with a
// lower token than it has seen; 0 while the lock is not held. The sequence
// number would not do: it restarts when dir is deleted and made again.
func (l *Lock) Token() int64 { return l.held.Token() }

// Znodes returns the paths that the object answers for: its own znode while it
// holds or awaits the lock.
func (l *Lock) Znodes() []string { return l.znodes() }

// Contenders returns the data of everyone who holds or awaits the lock, the
// holder first. It is a snapshot, perhaps of the past.
func (l *Lock) Contenders(ctx context.Context) ([][]byte, error) { return l.contenders(ctx) }
