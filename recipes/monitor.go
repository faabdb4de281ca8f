package recipes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Overdue is an alarm of a [Monitor]: somebody has held a lock for too long.
type Overdue struct {
	Path string        // of the holder's znode
	Data []byte        // of that znode
	Held time.Duration // for at least so long
}

// MonitorOptions are the options of a monitor.
type MonitorOptions struct {
	Limit time.Duration // how long one holder may hold the lock
	// Alarm is called once for each holder that is seen to exceed the limit, also
	// where Run is called again. The monitor waits for it to return.
	Alarm func(Overdue)
}

// Monitor watches over a lock and raises an alarm when one holder holds it for too
// long, an idea of Junqueira and Reed, ZooKeeper (2013). The lock may be a [Lock], an
// [RWLock], whose readers count one by one, or a [RevocableLock].
//
// # Protocol
//
//  1. Sync, in a new session fence, list the contenders and leave a watch on the directory, or on its creation.
//  2. The holders are the first of the queue, or, if that is a reader, all readers
//     before the first writer. Note the time for those that are new.
//  3. Wait for the watch or a change of the session's state, and go to 1; or until the
//     limit of a holder is over.
//  4. Then fence and read the holder's znode. If it is there, raise the alarm.
//
// Nothing is asked for while nothing changes. Each sync or fence and what is read after it are of
// one session.
//
// # What the text leaves out
//
// A lock that is held whenever one looks is not held by one holder: the watch does not
// show each change. What is measured is the life of a znode, whose name comes once
// (mutant busy-lock). It runs from the moment when the monitor has heard of it, so that
// what it says is true, and the limit is met a little later than it might be. And a
// server that lags shows holders of the past, so the last look comes after a fence
// (mutant stale-alarm).
//
// A holder whose process hangs or whose session is about to end is still a holder. The
// monitor does not know whether a holder knows that it is one.
//
// # Fan-out
//
// Each change of the queue notifies each monitor.
//
// A Monitor is for one goroutine.
type Monitor struct {
	queue place // never taken
	opt   MonitorOptions
	seen  []holder

	session int64 // the one in which the latest look was
}

// holder is one whose time runs.
type holder struct {
	name  string
	since time.Time
	done  bool // told, or gone
	gone  bool
}

// NewMonitor returns a monitor of the lock on dir.
func NewMonitor(conn Conn, env Env, dir string, opt MonitorOptions) *Monitor {
	anyWord := func(word string) bool { return word == "lock" || word == "read" || word == "write" }
	return &Monitor{queue: newPlace(session{conn, env}, dir, "lock", LockOptions{}, anyWord), opt: opt}
}

// Run monitors the lock until ctx is done, and returns its error, or another that
// waiting does not cure, such as zk.ErrNoAuth.
func (m *Monitor) Run(ctx context.Context) error {
	var change <-chan zk.Event
	for {
		err := ctx.Err()
		if err == nil && change == nil {
			change, err = m.update(ctx)
		}
		if err == nil {
			err = m.check(ctx)
		}
		if err != nil {
			return err
		}
		changed, err := m.wait(ctx, change)
		if err != nil {
			return err
		}
		if changed {
			change = nil
		}
	}
}

// update looks who holds the lock, and leaves a watch for changes.
func (m *Monitor) update(ctx context.Context) (change <-chan zk.Event, err error) {
	defer Forget(m.queue.env)(&m.seen, &m.session, &m.queue.alarm, &change, &err)
	m.queue.alarm.set(m.queue.env)
	var queue []string
	// or a new session might show holders of the past again
	err = m.queue.freshSince(ctx, &m.session, m.queue.dir, func() (err error) {
		queue, change, err = m.list(ctx)
		return err
	}, &queue, &change)
	if err != nil {
		return nil, err
	}
	before := m.seen
	m.seen = nil
	for _, name := range holders(queue) {
		x := holder{name: name, since: m.queue.env.Now()}
		if i := slices.IndexFunc(before, func(h holder) bool { return sameHolder(h.name, name) }); i >= 0 {
			if x = before[i]; x.name != name {
				x.name, x.done, x.gone = name, x.done && !x.gone, false
			}
		}
		m.seen = append(m.seen, x)
	}
	return change, nil
}

// list returns the queue, which is empty without its znode, and what fires when it
// changes.
func (m *Monitor) list(ctx context.Context) (queue []string, change <-chan zk.Event, err error) {
	for {
		names, _, change, err := m.queue.on(ctx).ChildrenW(m.queue.dir)
		if err == nil {
			queue, err = m.queue.ordered(ctx, names)
		}
		if err != zk.ErrNoNode {
			return queue, change, err
		}
		made, _, change, err := m.queue.on(ctx).ExistsW(m.queue.dir)
		if err != nil || !made {
			return nil, change, err
		}
	}
}

// holders returns the names of those in the queue who hold the lock: the first, and
// if it reads the other readers before the next writer. The read that a waiting
// writer has made for itself is none of them.
func holders(queue []string) []string {
	n := 0
	for n < len(queue) && strings.Contains(queue[n], "-read-") {
		n++
	}
	if 1 < n && n < len(queue) && owner(queue[n-1]) == owner(queue[n]) {
		n--
	}
	return queue[:min(max(n, 1), len(queue))]
}

// sameHolder reports whether two names are of one holder. A writer has two, and deletes its read first. Only a GUID
// says that, since the names of others may be the same each time that they take the lock.
func sameHolder(a, b string) bool {
	return a == b || strings.HasPrefix(a, ticketPrefix) && owner(a) == owner(b)
}

// check raises the alarms that are due.
func (m *Monitor) check(ctx context.Context) error {
	for i := range m.seen {
		h := &m.seen[i]
		held := m.queue.env.Now().Sub(h.since)
		if h.done || held < m.opt.Limit {
			continue
		}
		path := m.queue.dir + "/" + h.name
		data, err := m.data(ctx, path)
		if err != nil && err != zk.ErrNoNode {
			return err
		}
		h.done, h.gone = true, err != nil
		if err == nil {
			m.opt.Alarm(Overdue{Path: path, Data: data, Held: held})
		}
	}
	return nil
}

// data returns what is in the znode path, which is there at some moment of the call.
func (m *Monitor) data(ctx context.Context, path string) (data []byte, err error) {
	defer Forget(m.queue.env)(&data, &err)
	err = m.queue.fresh(ctx, func() (err error) {
		data, _, err = m.queue.on(ctx).Get(path)
		return err
	}, &data)
	return data, err
}

// wait waits until the queue or the session's state changes or the next limit is
// over.
func (m *Monitor) wait(ctx context.Context, change <-chan zk.Event) (changed bool, err error) {
	defer Forget(m.queue.env)(&m.queue.alarm, &changed, &err)
	limited := ctx
	for _, h := range m.seen { // the first that is not done has been there longest
		if !h.done {
			var end context.CancelFunc
			limited, end = m.queue.env.WithTimeout(ctx, m.opt.Limit-m.queue.env.Now().Sub(h.since))
			defer end()
			break
		}
	}
	if err := m.queue.alarm.await(limited, m.queue.env, change); err != nil {
		return false, ctx.Err()
	}
	return true, nil
}
