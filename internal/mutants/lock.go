package mutants

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Lock is a lock with one flaw. Otherwise it follows the protocol of
// recipes.Lock in the plainest way.
type Lock struct {
	patient
	dir  string
	flaw Flaw

	order func(names []string) (first, ahead string, listed bool)
	any   bool   // waiters watch all
	node  string // name of its znode
	token int64
	owner int64 // the session in which it is held
	lost  chan zk.Event
	end   context.CancelFunc
}

// NewLock returns a lock on dir with the given flaw.
func NewLock(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Lock {
	l := &Lock{patient: patient{conn, env}, dir: dir, flaw: flaw}
	l.order = l.exclusive
	return l
}

var (
	errGone  = errors.New("broken: own znode is gone")
	errAgain = errors.New("broken: the session has changed state")
)

var everybody = zk.WorldACL(zk.PermAll)

// Lock waits until the lock is held.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, true) }

// TryLock returns recipes.ErrLocked when the lock is not free.
func (l *Lock) TryLock(ctx context.Context) error { return l.acquire(ctx, false) }

func (l *Lock) acquire(ctx context.Context, wait bool) error {
	if l.lost != nil {
		return recipes.ErrHeld
	}
	if !wait && l.flaw == StaleTry {
		if names, _, err := l.conn.Children(l.dir); err == nil && len(names) > 0 {
			return recipes.ErrLocked
		}
	}
	for {
		guid := l.env.UUID()
		name, err := l.create(ctx, guid)
		if err != nil {
			return err
		}
		l.node = name
		if err = l.queue(ctx, wait); err == nil {
			return nil
		}
		l.node = ""
		if l.flaw == LeakOnError && interrupted(err) {
			return err // the znode stays
		}
		l.remove(context.Background(), name)
		if err != errGone && !interrupted(err) {
			return err
		}
	}
}

func (l *Lock) create(ctx context.Context, guid string) (string, error) {
	prefix := l.dir + "/_c_" + guid + "-lock-"
	if l.flaw == ForeignDelete {
		prefix = l.dir + "/lock-"
	}
	for {
		path, err := l.conn.Create(prefix, nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
		if err == nil {
			return path[len(l.dir)+1:], nil
		}
		if err == zk.ErrNoNode {
			l.conn.Create(l.dir, nil, 0, everybody)
			continue
		}
		if !interrupted(err) {
			return "", err
		}
		if l.flaw == CancelLeak && ctx.Err() != nil {
			return "", ctx.Err() // nobody looks whether the create was executed
		}
		if err := l.session(context.Background()); err != nil {
			return "", err
		}
		if l.flaw == PlainCreate || l.flaw == LeakedLease || err == zk.ErrNoServer {
			continue // right only for a request that was never sent
		}
		if name := l.find(guid); name != "" {
			return name, nil
		}
		if l.flaw == SyncedRetry {
			return l.create(ctx, l.env.UUID())
		}
	}
}

// find looks for the znode of a create whose answer was lost.
func (l *Lock) find(guid string) string {
	for {
		err := l.refresh()
		if err == nil {
			var names []string
			names, _, err = l.conn.Children(l.dir)
			for _, name := range names {
				if strings.Contains(name, guid) {
					return name
				}
			}
		}
		if !interrupted(err) || l.session(context.Background()) != nil {
			return ""
		}
	}
}

// refresh makes sure that the next listing is complete: it is a write.
func (l *Lock) refresh() (err error) {
	if l.flaw == SyncedRetry {
		_, err = l.conn.Sync(l.dir)
	} else {
		_, err = l.conn.Multi()
	}
	return err
}

// queue waits for the turn of its znode and takes the lock.
func (l *Lock) queue(ctx context.Context, wait bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		change := l.env.SessionEvents()
		names, _, err := l.conn.Children(l.dir)
		if err != nil {
			return l.anew(err)
		}
		first, ahead, listed := l.order(names)
		if !listed && l.flaw != NoOwnCheck {
			return errGone
		}
		if l.flaw == SameSession && first != "" {
			if ok, stat, err := l.conn.Exists(l.dir + "/" + first); err == nil && ok &&
				stat.EphemeralOwner == l.conn.SessionID() {
				ahead = ""
			}
		}
		if ahead == "" {
			if err := l.take(change); err != errAgain {
				return err
			}
			continue
		}
		if !wait {
			return recipes.ErrLocked
		}
		if l.flaw == WatchFirst {
			ahead = first
		}
		if err := l.wait(ctx, l.dir+"/"+ahead); err != nil {
			return err
		}
		if l.flaw == EventLeads { // whatever the predecessor was
			if err := l.take(change); err != errAgain {
				return err
			}
		}
	}
}

// anew turns a lost connection into a fresh start.
func (l *Lock) anew(err error) error {
	if interrupted(err) && l.flaw != LeakOnError && l.session(context.Background()) == nil {
		return errGone
	}
	return err
}

// exclusive returns the first of the queue, the one before the lock's own znode ("" if that
// is the first), and whether the own znode is listed.
func (l *Lock) exclusive(names []string) (first, ahead string, listed bool) {
	for _, name := range names {
		listed = listed || name == l.node
		if first == "" || l.less(name, first) {
			first = name
		}
		if l.less(name, l.node) && (ahead == "" || l.less(ahead, name)) {
			ahead = name
		}
	}
	return first, ahead, listed
}

func (l *Lock) less(a, b string) bool {
	switch l.flaw {
	case NameSort:
		return a < b
	case StringSequence:
		return a[strings.LastIndex(a, "-"):] < b[strings.LastIndex(b, "-"):]
	}
	return number(a) < number(b)
}

// number returns the sequence number in a name.
func number(name string) int {
	i := strings.LastIndexByte(name, '-')
	if i > 0 && name[i-1] == '-' {
		i-- // it is negative
	}
	n, _ := strconv.Atoi(name[i+1:])
	return n
}

// wait waits for something to happen to the znode of a predecessor.
func (l *Lock) wait(ctx context.Context, path string) error {
	if l.any {
		return l.waitForAny(ctx)
	}
	exists, _, event, err := l.conn.ExistsW(path)
	if err != nil {
		return l.anew(err)
	}
	if !exists && l.flaw != IgnoreExists {
		return nil
	}
	_, ev, err := l.env.Await(ctx, event)
	for err == nil && ev.Type != zk.EventNodeDeleted {
		switch l.flaw {
		case WatchOnly:
			_, ev, err = l.env.Await(ctx, nil)
		case ClosedSpin:
			_, ev, err = l.env.Await(ctx, event)
		default:
			return nil
		}
	}
	return err
}

// waitForAny waits for anybody to come or go.
func (l *Lock) waitForAny(ctx context.Context) error {
	names, _, event, err := l.conn.ChildrenW(l.dir)
	if err != nil {
		return l.anew(err)
	}
	if _, ahead, listed := l.order(names); ahead == "" || !listed {
		return nil
	}
	_, _, err = l.env.Await(ctx, event)
	return err
}

// take holds the lock.
func (l *Lock) take(change <-chan zk.Event) error {
	ok, stat, gone, err := l.conn.ExistsW(l.dir + "/" + l.node)
	if err != nil {
		return l.anew(err)
	}
	if (!ok || stat.EphemeralOwner != l.conn.SessionID()) && l.flaw != NoOwnCheck {
		return errGone
	}
	if len(change) > 0 {
		return errAgain
	}
	l.token, l.owner = stat.Czxid, stat.EphemeralOwner
	l.lost = make(chan zk.Event, 1)
	ctx, cancel := context.WithCancel(context.Background())
	l.end = cancel
	lost := l.lost
	if l.flaw == ForeignDelete || l.flaw == NoOwnCheck || l.flaw == DeafHolder {
		gone = nil // these flaws never look after their own znode
	}
	l.env.Go("lock-watch", func() {
		if _, ev, err := l.env.Await(ctx, change, gone); err == nil {
			lost <- ev //zksim:ignore has room: it was made for this
		}
	})
	return nil
}

// Unlock gives the lock up.
func (l *Lock) Unlock(ctx context.Context) error {
	if l.lost == nil {
		return recipes.ErrNotHeld
	}
	name := l.node
	if l.flaw == Wedged {
		for {
			err := l.conn.Delete(l.dir+"/"+name, -1)
			if interrupted(err) && l.session(ctx) == nil {
				continue
			}
			if err != nil {
				return err // the state says "held" forever
			}
			break
		}
	}
	l.end()
	l.lost, l.node, l.token = nil, "", 0
	switch l.flaw {
	case Wedged:
		return nil
	case KeepHeld:
		l.conn.Delete(l.dir+"/"+name, -1)
		return nil
	}
	err := l.remove(ctx, name)
	if l.flaw == ForeignDelete {
		l.conn.Delete(l.dir, -1)
	}
	return err
}

// remove deletes the znode, whatever it takes.
func (l *Lock) remove(ctx context.Context, name string) error {
	for tries := 1; ; tries++ {
		err := l.conn.Delete(l.dir+"/"+name, -1)
		if err == nil || err == zk.ErrNoNode {
			return nil
		}
		if l.flaw == FewTries {
			if err == zk.ErrNoServer && tries >= 3 {
				return nil // the server is down, and so the session will end
			}
			continue
		}
		if !interrupted(err) {
			return err
		}
		if err := l.session(ctx); err != nil {
			return err
		}
	}
}

func interrupted(err error) bool {
	return err == zk.ErrConnectionClosed || err == zk.ErrNoServer || err == zk.ErrSessionExpired
}

// Lost fires when the session changes state or the lock's znode is deleted.
func (l *Lock) Lost() <-chan zk.Event { return l.lost }

// Token returns the fencing token; with the flaw NoToken there is none.
func (l *Lock) Token() int64 {
	switch l.flaw {
	case NoToken:
		return 0
	case LowToken:
		return l.token & math.MaxUint32
	}
	return l.token
}

// Znodes returns the paths that the object knows of.
func (l *Lock) Znodes() []string {
	if l.node == "" {
		return nil
	}
	return []string{l.dir + "/" + l.node}
}
