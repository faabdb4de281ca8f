package mutants

import (
	"context"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of read/write locks.
const (
	// SiblingWait makes a reader wait for any writer, even for those behind it, which wait for the reader. It must wait
	// for the last write ahead of it.
	SiblingWait Flaw = 15
	// Downgrade gives up the write for a new read at the end of the queue, behind the writers that wait.
	Downgrade Flaw = 16
	// WatchDirectory makes all waiting clients watch the directory.
	WatchDirectory Flaw = 110
	// ReadersQueue makes a reader wait for everybody ahead of it. It excludes as it must, but nobody shares. Derived: a
	// lock without kinds.
	ReadersQueue Flaw = 116
)

// flawed is what the other locks have in common with Lock.
type flawed = Lock

// RWLock is a read/write lock with one flaw. Otherwise it follows the protocol of recipes.RWLock in the plainest way.
type RWLock struct {
	flawed
	names []string // of its znodes
}

// NewRWLock returns a read/write lock on dir with the given flaw.
func NewRWLock(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *RWLock {
	l := &RWLock{flawed: *NewLock(conn, env, dir, flaw)}
	l.order, l.any = l.shared, flaw == WatchDirectory
	return l
}

// RLock waits until the lock is held for reading.
func (l *RWLock) RLock(ctx context.Context) error { return l.acquire(ctx, true, "read") }

// TryRLock returns recipes.ErrLocked when the lock is not free for reading.
func (l *RWLock) TryRLock(ctx context.Context) error { return l.acquire(ctx, false, "read") }

// Lock waits until the lock is held for writing.
func (l *RWLock) Lock(ctx context.Context) error { return l.acquire(ctx, true, "read", "write") }

// TryLock returns recipes.ErrLocked when the lock is not free for writing.
func (l *RWLock) TryLock(ctx context.Context) error { return l.acquire(ctx, false, "read", "write") }

func (l *RWLock) acquire(ctx context.Context, wait bool, words ...string) error {
	if l.lost != nil {
		return recipes.ErrHeld
	}
	for {
		if err := l.create(words); err != nil {
			return err
		}
		l.node = l.names[len(l.names)-1]
		err := l.queue(ctx, wait)
		if err == nil {
			return nil
		}
		l.removeOwn(context.Background())
		if err != errGone && !interrupted(err) {
			return err
		}
	}
}

// create makes a znode for each word, in one multi.
func (l *RWLock) create(words []string) error {
	guid := l.env.UUID()
	var all []interface{}
	for _, word := range words {
		all = append(all, &zk.CreateRequest{Path: l.dir + "/_c_" + guid + "-" + word + "-", Acl: everybody,
			Flags: zk.FlagEphemeral | zk.FlagSequence})
	}
	for {
		results, err := l.conn.Multi(all...)
		l.names = nil
		if err == nil {
			for _, r := range results {
				l.names = append(l.names, r.String[len(l.dir)+1:])
			}
			return nil
		}
		if !interrupted(err) {
			return err
		}
		if err := l.session(context.Background()); err != nil {
			return err
		}
		if err == zk.ErrNoServer {
			continue
		}
		for _, word := range words {
			if name := l.find(guid + "-" + word); name != "" {
				l.names = append(l.names, name)
			}
		}
		if len(l.names) == len(words) {
			return nil
		}
	}
}

// shared is the order of readers and writers: a reader's predecessor is a write.
func (l *RWLock) shared(names []string) (first, ahead string, listed bool) {
	reads := strings.Contains(l.node, "-read-") && l.flaw != ReadersQueue
	for _, name := range names {
		listed = listed || name == l.node
		if name == l.node || name == l.names[0] || reads && strings.Contains(name, "-read-") {
			continue
		}
		before := number(name) < number(l.node) || reads && l.flaw == SiblingWait
		if before && (ahead == "" || number(ahead) < number(name)) {
			ahead = name
		}
	}
	return "", ahead, listed
}

// RUnlock gives the lock up.
func (l *RWLock) RUnlock(ctx context.Context) error { return l.Unlock(ctx) }

// Unlock gives the lock up.
func (l *RWLock) Unlock(ctx context.Context) error {
	if l.lost == nil {
		return recipes.ErrNotHeld
	}
	l.end()
	l.lost, l.token = nil, 0
	return l.removeOwn(ctx)
}

func (l *RWLock) removeOwn(ctx context.Context) error {
	names := l.names
	l.names, l.node = nil, ""
	for _, name := range names {
		if err := l.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Downgrade turns the writer into a reader. It is for scenarios without faults.
func (l *RWLock) Downgrade(ctx context.Context) error {
	read, write := l.names[0], l.names[1]
	if l.flaw == Downgrade {
		path, err := l.conn.Create(l.dir+"/_c_"+l.env.UUID()+"-read-", nil, zk.FlagEphemeral|zk.FlagSequence, everybody)
		if err != nil {
			return err
		}
		if err := l.remove(ctx, read); err != nil {
			return err
		}
		read = path[len(l.dir)+1:]
	}
	l.end()
	l.names, l.node = []string{read}, read
	if err := l.take(l.env.SessionEvents()); err != nil {
		return err
	}
	return l.remove(ctx, write)
}

// Znodes returns the paths that the object knows of.
func (l *RWLock) Znodes() (paths []string) {
	for _, name := range l.names {
		paths = append(paths, l.dir+"/"+name)
	}
	return paths
}
