package recipes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Overdue is an alarm of a [Monitor]: a client has held a lock for too long.
type Overdue struct {
	Path string        // of the holder's znode
	Data []byte        // of that znode
	Held time.Duration // for at least this long
}

// MonitorOptions are the options of a monitor.
type MonitorOptions struct {
	Limit time.Duration // how long one holder may hold the lock
	// Alarm is called once for each holder that is seen to exceed the limit, even if Run is called again. The monitor
	// waits for it to return.
	Alarm func(Overdue)
}

// Monitor watches a lock and raises an alarm when one holder holds it for too long, an idea of Junqueira and Reed,
// ZooKeeper (2013). The lock may be a [Lock], an [RWLock], whose readers count one by one, or a [RevocableLock].
//
// # Protocol
//
//  1. Sync, or fence in a new session. List the contenders and leave a watch on the directory, or on its creation.
//  2. The holder is the first of the queue or, if that is a reader, the holders are all readers before the first
//     writer. Note the time for new holders.
//  3. Wait for the watch or a change of the session's state, and then go to 1; or wait until the limit of a holder is
//     over.
//  4. Then fence and read the holder's znode. If it is there, raise the alarm.
//
// No request is made while nothing changes. Each sync or fence and the reads after it are in one session.
//
// # What the text leaves out
//
// A lock that is held whenever one looks need not be held by one holder: the watch does not show each change. What is
// measured is the life of a znode, whose name comes once (mutant busy-lock). The time runs from the moment when the
// monitor hears of the znode, so an alarm is always true but may come a little late. And a server that lags shows
// past holders, so the last look comes after a fence (mutant stale-alarm).
//
// A holder whose process hangs or whose session is about to end is still a holder. The monitor cannot tell whether a
// holder knows that it is one.
//
// # Fan-out
//
// Each change of the queue notifies each monitor.
//
// A Monitor is for one goroutine.
type Monitor struct {
	queue place // only read
	opt   MonitorOptions
	seen  []holder

	session int64 // the session of the latest look
}

// holder is a holder of the lock, with the time of its first sight.
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

// Run monitors the lock until ctx is done, and returns ctx's error, or another error that waiting does not cure, such
// as zk.ErrNoAuth.
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

// update finds out who holds the lock, and leaves a watch for changes.
func (m *Monitor) update(ctx context.Context) (change <-chan zk.Event, err error) {
	defer Forget(m.queue.env)(&m.seen, &m.session, &m.queue.alarm, &change, &err)
	m.queue.alarm.set(m.queue.env)
	var queue []string
	// a new session might show past holders again
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

// list returns the queue, empty if its znode does not exist, and a channel that fires when it changes.
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

// holders returns the names in the queue that hold the lock: the first and, if that is a reader, the other readers
// before the next writer. The read znode that a waiting writer has made for itself is not one of them.
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

// sameHolder reports whether two names belong to one holder. A writer has two, and deletes its read first. Names
// without a GUID do not tell, because they may be the same each time that a client takes the lock.
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

// data returns the data of the znode path as of some moment during the call.
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
	for _, h := range m.seen { // the first that is not done has held longest
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
