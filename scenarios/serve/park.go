package serve

import (
	"sync"
	"time"
)

// A connection is parked when nothing comes in: it has no goroutine until the system says that there is something to
// read. On systems other than Linux a goroutine waits in its read instead, which costs a few kilobytes.

const (
	// idleTime is how long a busy connection must be silent before it is parked.
	idleTime = time.Second
	// busyTime: a connection that is woken within this time after it was parked counts as busy.
	busyTime = 100 * time.Millisecond
)

// parking has the connections that are, or were, parked.
type parking struct {
	mu     sync.Mutex
	poller *poller // nil until one was parked
	failed bool    // connections cannot be parked: the system lacks something, or everything is being closed
	conns  []*conn // by file descriptor
}

// park makes the connection go on without a goroutine. The caller must not touch it any more, unless park returns
// false.
func (c *conn) park() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !parks || c.ended != goesOn {
		return false
	}
	if !c.e.parking.add(c) {
		return false
	}
	c.parked, c.parkedAt = true, time.Now().UnixNano()
	if c.spare = nil; len(c.out) == 0 {
		c.out = nil
	}
	return true
}

// add makes the poller report when there is something to read.
func (l *parking) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed {
		return false
	}
	if l.poller == nil {
		p, err := newPoller()
		if err != nil {
			l.failed = true
			return false
		}
		l.poller = p
		c.e.running.Add(1)
		go func() {
			defer c.e.running.Done()
			p.run(l.readable)
		}()
	}
	if !l.poller.arm(c) {
		return false
	}
	for int(c.fd) >= len(l.conns) {
		l.conns = append(l.conns, nil)
	}
	l.conns[c.fd] = c
	return true
}

// readable is called when there may be something to read on a file descriptor. The descriptor may now belong to another
// connection, which then finds nothing.
func (l *parking) readable(fd int) {
	l.mu.Lock()
	var c *conn
	if fd < len(l.conns) {
		c = l.conns[fd]
	}
	l.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		c.wake()
		c.mu.Unlock()
	}
}

// wake gives a parked connection a goroutine. c.mu is held.
func (c *conn) wake() {
	if c.parked {
		c.parked = false
		go c.serve(time.Now().UnixNano()-c.parkedAt < int64(busyTime))
	}
}

// leave must be called before the connection is closed. c.mu is held.
func (c *conn) leave() {
	if c.fd > 0 {
		l := &c.e.parking
		l.mu.Lock()
		if l.conns[c.fd] == c {
			l.conns[c.fd] = nil
		}
		l.mu.Unlock()
		c.fd = 0
	}
	c.wake()
}

// close ends the poller. No connection can be parked any more. It waits for a running call of readable, so the caller
// must not hold a lock that readable takes.
func (l *parking) close() {
	l.mu.Lock()
	p := l.poller
	l.failed = true
	l.mu.Unlock()
	if p != nil {
		p.close()
	}
}
