package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of the locks.
var (
	// ErrHeld is returned by Lock and TryLock when the object already holds the lock, or has lost it and not unlocked:
	// locks are not re-entrant.
	ErrHeld = errors.New("recipes: lock is already held by this object")
	// ErrNotHeld is returned by Unlock when the object does not hold the lock.
	ErrNotHeld = errors.New("recipes: lock is not held")
	// ErrLocked is returned by TryLock when somebody else holds or awaits the lock. A TryLock awaits it until it
	// returns, so one that is refused may refuse others after the lock is free. ErrLocked is also returned when a request
	// of this or an earlier call was executed late, in a session that was given up, because its znode stays until that
	// session ends, and while a znode is still being removed in the background after an error such as ctx's.
	ErrLocked = errors.New("recipes: locked by another")
)

// LockOptions are the options of a lock. The zero value is fine.
type LockOptions struct {
	// ACL is the ACL of the znodes made; nil: everything for everybody. All clients that want the lock must have the
	// right to read them, because ZooKeeper tells nobody else when they end. Without it the error is zk.ErrNoAuth.
	ACL  []zk.ACL
	Data []byte // put into the lock's znode and shown by Contenders
}

// Lock is a fair mutual exclusion lock: the recipe "Locks" of the ZooKeeper
// documentation, without its holes.
//
// # Protocol
//
//  1. Create dir/_c_GUID-lock-, ephemeral and sequential. If the answer is lost, fence, list, and look for the GUID,
//     because the create may have succeeded.
//  2. List dir. If its own znode is not there, make sure that it is deleted and start over with a new GUID: the
//     session that made it has ended, if only for this client, or an operator has deleted it.
//  3. If its own sequence number is the lowest, read its own znode, leaving a watch. The lock is held if the znode is
//     there, belongs to the present session, and the session has not changed state since before the listing.
//  4. Otherwise leave a watch on the znode with the next lower number, and on no other. When the watch fires, when the
//     session has changed state since before the listing, or if the znode was already gone, go to 2.
//
// To unlock, delete its own znode. If the connection is lost, try again until the outcome is certain, if need be in
// the background: a znode that nobody answers for would lock everybody out for as long as the session lives.
//
// # What the recipe page leaves out
//
// The page does not say how to recognize one's own znode after a lost answer (mutant plain-create), nor that this
// znode may be gone (no-own-check). It does not say that sequence numbers end: near 2^31 the server repeats them, so
// from there on contenders are ordered by the zxid that created them (string-sequence). Nor does it say that a client
// may learn of the end of its session only after another client has the lock (no-token). Only the resource itself can
// help against that: give it Token with every write and let it refuse a lower token than it has seen.
//
// [Lock.Lost] fires early, on a mere disconnect, because from then on the session may end at any time. The holder
// should stop, call Unlock and lock again.
//
// # Fan-out
//
// A release notifies one waiter (and the releasing client itself, of the end of
// its own znode). A client that gives up waiting notifies one.
//
// # Why it is not re-entrant
//
// Lock returns ErrHeld if the object holds the lock. To count instead, an object would have to know whether the same
// caller calls again, and Go does not say which goroutine calls. The count would not help once the lock is lost: the
// inner caller would unlock and lock again, and the outer one would never hear that somebody else has had the lock
// meanwhile. So lock in the outermost function that needs it and pass the *Lock to the inner ones, as a sign that it
// is held and for its Lost and Token.
//
// A Lock is for one goroutine at a time: goroutines that call it at once race. Each goroutine makes an object of its
// own, on a shared connection if it likes. The objects exclude each other like objects of different processes, so a
// goroutine that locks two for the same dir waits for itself forever. The channel that Lost returns and the number
// that Token returns may be passed on.
//
// Its znodes have the format of go-zookeeper's Lock, so both can compete for one lock.
type Lock struct{ place }

// NewLock returns a lock on the znode dir, which must not be "/" and should be
// used for nothing else. Lock creates it when it is missing.
func NewLock(conn Conn, env Env, dir string, opt LockOptions) *Lock {
	return &Lock{newPlace(session{conn, env}, dir, "lock", opt, func(word string) bool { return word == "lock" })}
}

// Lock waits until the lock is held, or returns ErrHeld if the object already holds it. When ctx is done first it
// returns ctx's error at once, whether or not there is a connection, and the place in the queue is given up in the
// background. Errors of ZooKeeper that waiting does not cure, such as zk.ErrNoAuth, are returned as they are, and
// zk.ErrClosing after the connection was closed. Lost connections and expired sessions are handled.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, true) }

// TryLock takes the lock if it is free, and returns ErrLocked if it is not, or ErrHeld if the object holds it.
func (l *Lock) TryLock(ctx context.Context) error { return l.acquire(ctx, false) }

// Unlock releases the lock, even if it was lost meanwhile, or returns ErrNotHeld if the object does not hold it. It
// returns nil when its own znode is certainly gone. When ctx is done before that, Unlock returns ctx's error and goes
// on in the background; in any case the lock is no longer held and may be locked again.
func (l *Lock) Unlock(ctx context.Context) error { return l.release(ctx) }

// Lost returns a channel that gets one event when the held lock can no longer be relied on, and is then closed: the
// session was disconnected or has ended, or the znode was deleted by somebody else. The event has the type
// zk.EventSession, with the state, or zk.EventNodeDeleted; if the znode could not be looked at, its Err says why. The
// channel is nil, and so blocks forever, while the lock is not held. Nothing is sent once Unlock was called.
func (l *Lock) Lost() <-chan zk.Event { return l.held.Lost() }

// Token returns a number that is higher for each later holder of this lock (the zxid that created its own znode), for
// a resource that refuses writes with a lower token than it has seen; 0 while the lock is not held. The sequence
// number is not enough: it restarts when dir is deleted and created again.
func (l *Lock) Token() int64 { return l.held.Token() }

// Znodes returns the paths that the object answers for: its own znode while it
// holds or awaits the lock.
func (l *Lock) Znodes() []string { return l.znodes() }

// Contenders returns the data of all clients that hold or await the lock, the holder first. It is a snapshot, perhaps
// of the past.
func (l *Lock) Contenders(ctx context.Context) ([][]byte, error) { return l.contenders(ctx) }
