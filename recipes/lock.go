package recipes

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Errors of the locks.
var (
	// ErrHeld is returned by Lock and TryLock when the object already holds
	// the lock: locks are not re-entrant.
	ErrHeld = errors.New("recipes: lock is already held by this object")
	// ErrNotHeld is returned by Unlock when the object does not hold the lock.
	ErrNotHeld = errors.New("recipes: lock is not held")
	// ErrLocked is returned by TryLock when somebody else holds or awaits the
	// lock.
	ErrLocked = errors.New("recipes: locked by another")

	// errGone sends an attempt back to its beginning: the own znode is gone.
	errGone = errors.New("recipes: own znode is gone")
)

// LockOptions are the options of a lock. The zero value is fine.
type LockOptions struct {
	ACL  []zk.ACL // of the znodes made; nil: everything for everybody
	Data []byte   // put into the lock's znode and shown by Contenders
}

// Lock is a fair mutual exclusion lock: the recipe "Locks" of the ZooKeeper
// documentation, without its holes.
//
// # Protocol
//
//  1. Create dir/_c_GUID-lock-, ephemeral and sequential. If the answer is
//     lost, sync, list, and look for the GUID: the create may have succeeded.
//  2. List dir. If the own znode is not there, start over with a new GUID: the
//     session that made it has ended, or an operator has deleted it.
//  3. If the own sequence number is the lowest, read the own znode, leaving a
//     watch. If it is there, belongs to the present session and the session
//     has not changed state since before the listing, the lock is held.
//  4. Otherwise leave a watch on the znode with the next lower number, only on
//     that one. If it was gone already, or when the watch fires, go to 2.
//
// To unlock, delete the own znode. Where the connection is lost, deletion is
// tried again until its outcome is certain, if need be in the background: a
// znode that nobody answers for would lock everybody out for as long as the
// session lives.
//
// # What the recipe page leaves out
//
// The page does not say how to recognize one's own znode after a lost answer
// (twin plain-create), that the own znode may be gone (no-own-check), that
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
// A Lock is for one goroutine at a time. Its znodes have the format of
// go-zookeeper's Lock, so both can compete for one lock.
type Lock struct {
	session
	dir   string
	opt   LockOptions
	node  string // own znode while queued or held
	held  *hold
	alarm alarm
}

// NewLock returns a lock on the znode dir, which must not be "/" and should be
// used for nothing else. Lock creates it when it is missing.
func NewLock(conn Conn, env Env, dir string, opt LockOptions) *Lock {
	opt.ACL = open(opt.ACL)
	return &Lock{session: session{conn, env}, dir: dir, opt: opt}
}

// Lock waits until the lock is held. When ctx is done first it returns ctx's
// error, and the place in the queue is given up. Errors of ZooKeeper that
// waiting does not cure, such as zk.ErrNoAuth, are returned as they are, and
// zk.ErrClosing after the connection was closed. Lost connections and expired
// sessions are dealt with.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, true) }

// TryLock takes the lock if it is free, and returns ErrLocked if it is not.
func (l *Lock) TryLock(ctx context.Context) error { return l.acquire(ctx, false) }

func (l *Lock) acquire(ctx context.Context, wait bool) error {
	if l.held != nil {
		return ErrHeld
	}
	for {
		name, err := l.enqueue(ctx)
		if err != nil {
			return err
		}
		l.node = l.dir + "/" + name
		err = l.queue(ctx, name, wait)
		if err == nil {
			return nil
		}
		l.node = ""
		l.abandon(l.dir + "/" + name)
		if err != errGone {
			return err
		}
	}
}

// enqueue creates the own znode and returns its name. After an error there is
// none, or its removal is under way.
func (l *Lock) enqueue(ctx context.Context) (name string, err error) {
	guid := l.env.UUID()
	prefix := l.dir + "/_c_" + guid + "-lock-"
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		path, err := l.conn.Create(prefix, l.opt.Data, zk.FlagEphemeral|zk.FlagSequence, l.opt.ACL)
		switch {
		case err == nil:
			return path[len(l.dir)+1:], nil
		case err == zk.ErrNoNode:
			err = l.makePath(ctx, l.dir, l.opt.ACL)
		case err == zk.ErrNoServer:
			err = l.await(ctx)
		case interrupted(err):
			if name, err = l.find(ctx, l.dir, guid); name != "" && err == nil {
				return name, nil
			}
			if err != nil {
				l.forget(guid)
			}
		}
		if err != nil {
			return "", err
		}
	}
}

// queue waits until name is the first of the queue, and then takes the lock. It
// returns errGone when name is not in the queue any more.
func (l *Lock) queue(ctx context.Context, name string, wait bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.alarm.set(l.env)
		ahead, err := l.predecessor(name)
		switch {
		case err != nil:
		case ahead == "":
			err = l.take(name)
			if err == nil && l.held != nil {
				return nil
			}
		case !wait:
			return ErrLocked
		default:
			err = l.awaitChange(ctx, l.dir+"/"+ahead)
		}
		if interrupted(err) {
			err = l.await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// take makes sure that the first of the queue is ours and holds the lock. It
// does nothing, without error, if the session has changed state meanwhile.
func (l *Lock) take(name string) error {
	path := l.dir + "/" + name
	ok, stat, gone, err := l.conn.ExistsW(path)
	if err != nil {
		return err
	}
	if !ok || stat.EphemeralOwner != l.conn.SessionID() {
		return errGone
	}
	if l.alarm.rang() {
		return nil
	}
	l.held = l.hold(path, stat.Czxid, &l.alarm, gone)
	return nil
}

// Unlock releases the lock, whether or not it was lost meanwhile. It returns nil
// when the own znode is certainly gone. When ctx is done before that, Unlock
// returns ctx's error and goes on in the background; in any case the lock is
// not held any more and may be locked again.
func (l *Lock) Unlock(ctx context.Context) error {
	if l.held == nil {
		return ErrNotHeld
	}
	h := l.held
	l.held, l.node = nil, ""
	h.end()
	err := l.remove(ctx, h.path)
	if err != nil && ctx.Err() != nil {
		l.abandon(h.path)
	}
	return err
}

// Lost returns a channel that gets one event when the lock that is held can no
// longer be relied on, and is then closed: the session was disconnected or has
// ended, or the znode was deleted. It is nil, and so blocks for ever, while the
// lock is not held.
func (l *Lock) Lost() <-chan zk.Event { return l.held.Lost() }

// Token returns a number that is higher for each later holder of this lock (the
// zxid that created the own znode), for a resource that refuses writes with a
// lower token than it has seen; 0 while the lock is not held. The sequence
// number would not do: it restarts when dir is deleted and made again.
func (l *Lock) Token() int64 { return l.held.Token() }

// Znodes returns the paths that the object answers for: its own znode while it
// holds or awaits the lock.
func (l *Lock) Znodes() []string {
	if l.node == "" {
		return nil
	}
	return []string{l.node}
}

// Contenders returns the data of everyone who holds or awaits the lock, the
// holder first. It is a snapshot, perhaps of the past.
func (l *Lock) Contenders(ctx context.Context) ([][]byte, error) {
	queue, err := l.contenders(ctx)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	var all [][]byte
	for _, name := range queue {
		var data []byte
		if err == nil {
			err = l.retry(ctx, func() (err error) {
				data, _, err = l.conn.Get(l.dir + "/" + name)
				return err
			})
		}
		switch err {
		case nil:
			all = append(all, data)
		case zk.ErrNoNode: // left meanwhile
			err = nil
		default:
			return nil, err
		}
	}
	return all, err
}

// contenders returns the names of the queue in order.
func (l *Lock) contenders(ctx context.Context) (queue []string, err error) {
	err = l.retry(ctx, func() error {
		names, _, err := l.conn.Children(l.dir)
		if err == nil {
			queue, err = l.ordered(names)
		}
		return err
	})
	return queue, err
}

// predecessor returns the name that is next before own in the queue, or "" if
// own is the first, or errGone.
func (l *Lock) predecessor(own string) (string, error) {
	names, _, err := l.conn.Children(l.dir)
	if err == zk.ErrNoNode {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	mine, _ := sequence(own)
	best, ahead, listed := int64(-1), "", false
	for _, name := range names {
		n, ok := sequence(name)
		if !ok {
			continue
		}
		if repeats(n) {
			if names, err = l.ordered(names); err != nil {
				return "", err
			}
			return before(names, own)
		}
		listed = listed || name == own
		if n < mine && n > best {
			best, ahead = n, name
		}
	}
	if !listed {
		return "", errGone
	}
	return ahead, nil
}

func before(queue []string, own string) (string, error) {
	for i, name := range queue {
		if name == own && i == 0 {
			return "", nil
		}
		if name == own {
			return queue[i-1], nil
		}
	}
	return "", errGone
}

// sequence returns the number that the server appended to a contender's name.
func sequence(name string) (int64, bool) {
	const digits = 10 // at least; a negative number has a sign as well
	i := strings.LastIndexByte(name, '-')
	if i > 0 && name[i-1] == '-' { // "lock--2147483648"
		i--
	}
	i -= len("lock")
	if i < 0 || len(name)-i < len("lock-")+digits || name[i:i+len("lock-")] != "lock-" {
		return 0, false
	}
	n, err := strconv.ParseInt(name[i+len("lock-"):], 10, 32)
	return n, err == nil
}

// abandon removes the own znode: at once if possible, else in the background,
// because the caller may be in a hurry but the znode must not stay.
func (l *Lock) abandon(path string) {
	err := l.conn.Delete(path, -1)
	if interrupted(err) {
		l.env.Go("lock-cleanup", func() { l.remove(context.Background(), path) })
	}
}

// forget removes, in the background, what a create with an unknown outcome may
// have left behind.
func (l *Lock) forget(guid string) {
	l.env.Go("lock-cleanup", func() {
		name, err := l.find(context.Background(), l.dir, guid)
		if err == nil && name != "" {
			l.remove(context.Background(), l.dir+"/"+name)
		}
	})
}
