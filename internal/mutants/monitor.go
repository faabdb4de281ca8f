package mutants

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of monitors of locks.
const (
	// BusyLock measures how long the lock has been held, whoever holds it. Derived: the watch does not show each
	// change.
	BusyLock Flaw = 114
	// StaleAlarm believes what a lagging server says about a holder.
	StaleAlarm Flaw = 115
	// QueueTime measures from when a client is in the queue, not from when it holds the lock.
	QueueTime Flaw = 183
	// TimeAnew measures from the last change of the queue: as long as others come and go, there is no alarm.
	TimeAnew Flaw = 184
)

// Monitor is a monitor of a lock with one flaw. Otherwise it follows the protocol of recipes.Monitor in the plainest
// way, for the first of the queue.
type Monitor struct {
	queue Lock
	opt   recipes.MonitorOptions

	first string
	since time.Time
	done  bool
	seen  map[string]time.Time // QueueTime: when each was seen first
}

// NewMonitor returns a monitor of the lock on dir with the given flaw.
func NewMonitor(conn recipes.Conn, env recipes.Env, dir string, opt recipes.MonitorOptions, flaw Flaw) *Monitor {
	return &Monitor{queue: *NewLock(conn, env, dir, flaw), opt: opt, done: true,
		seen: map[string]time.Time{}}
}

// Run monitors the lock until ctx is done.
func (m *Monitor) Run(ctx context.Context) error {
	var change <-chan zk.Event
	for {
		var err error
		if change == nil {
			change, err = m.update()
		}
		if err == nil {
			err = m.check()
		}
		if interrupted(err) {
			if err = m.queue.session(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		limited, end := ctx, func() {}
		if !m.done {
			limited, end = m.queue.env.WithTimeout(ctx, m.opt.Limit-m.queue.env.Now().Sub(m.since))
		}
		_, _, err = m.queue.env.Await(limited, change)
		end()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			change = nil
		}
	}
}

// update looks who is first in the queue.
func (m *Monitor) update() (<-chan zk.Event, error) {
	names, _, change, err := m.queue.conn.ChildrenW(m.queue.dir)
	if err != nil {
		return nil, err
	}
	first, _, _ := m.queue.exclusive(names)
	same := first == m.first || m.queue.flaw == BusyLock && first != "" && m.first != ""
	if !same {
		m.since, m.done = m.queue.env.Now(), first == ""
	}
	if m.queue.flaw == TimeAnew && !m.done {
		m.since = m.queue.env.Now()
	}
	if m.queue.flaw == QueueTime {
		m.since = m.inQueue(names, first)
	}
	m.first = first
	return change, nil
}

// inQueue notes who is in the queue, and returns when first was seen there.
func (m *Monitor) inQueue(names []string, first string) time.Time {
	for _, name := range names {
		if _, ok := m.seen[name]; !ok {
			m.seen[name] = m.queue.env.Now()
		}
	}
	return m.seen[first]
}

// check raises the alarm if it is due.
func (m *Monitor) check() error {
	held := m.queue.env.Now().Sub(m.since)
	if m.done || held < m.opt.Limit {
		return nil
	}
	path := m.queue.dir + "/" + m.first
	if m.queue.flaw != StaleAlarm {
		if _, err := m.queue.conn.Sync(path); err != nil {
			return err
		}
	}
	data, _, err := m.queue.conn.Get(path)
	switch err {
	case nil:
		m.opt.Alarm(recipes.Overdue{Path: path, Data: data, Held: held})
	case zk.ErrNoNode:
	default:
		return err
	}
	m.done = true
	return nil
}
