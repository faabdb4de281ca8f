package sim

import (
	"container/heap"
	"context"
	"time"

	"zksim/internal/hash"
	"zksim/model"
)

// timer is a pending wake-up of a sleeping coroutine or of a deadline context.
type timer struct {
	at    int64 // virtual time in milliseconds
	order uint64
	armed bool
	index int // in the queue
	g     *coroutine
	ctx   *deadline
}

// timerQueue is a heap, the earliest timer first; of equal ones the one that was set first.
type timerQueue []*timer

func (q timerQueue) Len() int { return len(q) }
func (q timerQueue) Less(i, k int) bool {
	return q[i].at < q[k].at || q[i].at == q[k].at && q[i].order < q[k].order
}
func (q timerQueue) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].index, q[k].index = i, k
}
func (q *timerQueue) Push(x any) {
	t := x.(*timer)
	t.index = len(*q)
	*q = append(*q, t)
}
func (q *timerQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	*q = (*q)[:last]
	return t
}

// owner returns the client of the timer.
func (t *timer) owner() *Client {
	if t.ctx != nil {
		return t.ctx.client
	}
	return t.g.client
}

// first returns the earliest timer; of several that are equally early, the one that was set first. With a client c it
// considers only those of the earliest time that are c's; nil if there are none.
func (q timerQueue) first(c *Client) *timer {
	if c == nil {
		return q[0]
	}
	var first *timer
	for _, t := range q {
		if t.at == q[0].at && t.owner() == c && (first == nil || t.order < first.order) {
			first = t
		}
	}
	return first
}

func (w *World) addTimer(t *timer, d time.Duration) {
	at := w.now + d.Milliseconds()
	if d%time.Millisecond > 0 {
		at++
	}
	w.addTimerAt(t, at)
}

func (w *World) addTimerAt(t *timer, at int64) {
	w.timerOrder++
	t.at, t.order, t.armed = at, w.timerOrder, true
	heap.Push(&w.timers, t)
}

func (w *World) removeTimer(t *timer) {
	if t.armed {
		t.armed = false
		heap.Remove(&w.timers, t.index)
	}
}

// wall returns the virtual time as the servers write it, in milliseconds since 1970.
func (w *World) wall() int64 { return Epoch.UnixMilli() + w.now }

// ReapDue returns the virtual time from which the leader may delete a container or ttl znode; model.Never if there is
// none.
func (w *World) ReapDue() int64 {
	due := w.leader().store.NextReap()
	if due == model.Never || due < Epoch.UnixMilli() {
		return due
	}
	return due - Epoch.UnixMilli()
}

// tickable reports whether time has somewhere to go: to a timer, or to the end of a ttl znode.
func (w *World) tickable() bool {
	if w.outside != nil {
		return !w.outside.Idle()
	}
	due := w.ReapDue()
	return len(w.timers) > 0 && (w.calm || w.timers[0].at != restTime) || w.now < due && due != model.Never
}

// appendTicks appends the ways in which time can pass: the earliest timer fires. If several clients have timers for
// that moment, each may be the first.
func (w *World) appendTicks(list []Transition) []Transition {
	if !w.tickable() || w.outside != nil && len(list) > 0 && w.outside.Hurried() {
		return list
	}
	n := len(list)
	if len(w.timers) > 1 {
		for _, c := range w.clients {
			if w.timers.first(c) != nil {
				list = append(list, Transition{Tick, uint32(c.id), 0})
			}
		}
	}
	if len(list) <= n+1 {
		list = append(list[:n], Transition{Kind: Tick})
	}
	return list
}

// tick fires the earliest timer, of c if it is not nil; virtual time jumps to it. If a ttl znode ends earlier, time
// only jumps there.
func (w *World) tick(c *Client) {
	if w.outside != nil {
		w.outside.Pass()
		return
	}
	var first *timer
	if len(w.timers) > 0 {
		first = w.timers.first(c)
	}
	if due := w.ReapDue(); w.now < due && (first == nil || due < first.at) {
		w.now = due
		return
	}
	if x := first.ctx; x != nil {
		x.client.ends(x)
	}
	w.removeTimer(first)
	if first.at != restTime {
		w.now = max(w.now, first.at)
	}
	if x := first.ctx; x != nil {
		x.expire()
		return
	}
	first.g.status = runnable
	first.g.client.invalidate()
}

// ends notes that a context no longer has a timer: its time is up, or code has cancelled it. Code may find that out
// without waiting for it, and may ask for the deadline.
func (c *Client) ends(x *deadline) {
	what := uint64(hash.Hash(2).Int(x.place()).Bool(x.Context.Err() == nil).Int(x.at.UnixNano()))
	c.observed = c.observed.Uint64(what)
	c.arrive(x.scope, what)
}

// timerDue reports whether a timer of c fires at or before that time.
func (w *World) timerDue(c *Client, at int64) bool {
	for _, t := range w.timers {
		if t.at <= at && t.owner() == c {
			return true
		}
	}
	return false
}

// reap deletes the first znode, by path, that the leader's container check would delete. By default that check runs
// once a minute; here it may run at any time.
func (w *World) reap() {
	path := w.dying
	if w.dying = ""; path == "" {
		path = w.leader().store.Reapable(w.wall())[0]
	}
	w.commit(nil, 0, &model.Request{Op: model.OpDeleteContainer, Path: path})
}

// deadline is a context with a virtual timer. It wraps a cancel context of the standard library, so contexts derived
// from it need no goroutine. Contexts that the standard library derives report context.Canceled, not DeadlineExceeded.
type deadline struct {
	context.Context
	end     context.CancelCauseFunc
	parent  *deadline // the one that it was derived from; nil: none
	client  *Client
	scope   *scope // of the code that made it
	timer   timer
	at      time.Time // no later than the parent's
	expired bool      // ended by its own timer or that of a parent
}

// expire ends the context and those derived from it, because its time is up.
func (d *deadline) expire() {
	if d.Context.Err() == nil {
		d.expired = true
		for _, t := range d.client.w.timers { // a context without a timer has ended
			if x := t.ctx; x != nil && x.Context.Err() == nil && x.within(d) {
				x.expired = true
			}
		}
	}
	d.end(context.DeadlineExceeded)
	d.client.markDirty()
}

// within reports whether d is x or derived from x.
func (d *deadline) within(x *deadline) bool {
	for d != nil && d != x {
		d = d.parent
	}
	return d != nil
}

// Deadline returns what the client's clock will show when the context ends.
func (d *deadline) Deadline() (time.Time, bool) {
	if d.client.w.looking {
		return d.at, true
	}
	return d.client.tellTime(d.at), true
}

// Value returns the deadline itself for its own key.
func (d *deadline) Value(key any) any {
	if key == (deadlineKey{}) {
		return d
	}
	return d.Context.Value(key)
}

// Err returns context.DeadlineExceeded after the virtual timer has fired.
func (d *deadline) Err() error {
	if d.expired {
		return context.DeadlineExceeded
	}
	return d.Context.Err()
}
