package sim

import (
	"container/heap"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"zksim/model"
)

// Timing says how long things take on average in a timed run.
type Timing struct {
	Link   time.Duration // a message between client and server
	Think  time.Duration // a client, between an answer and its next request
	Read   time.Duration // the server, for a read
	Write  time.Duration // the server, for a write
	Notify time.Duration // the server, for each watch event that it sends
}

// DefaultTiming is for a server that is not slowed down by its disk, and clients in the same data centre.
var DefaultTiming = Timing{Link: 100 * time.Microsecond, Think: 20 * time.Microsecond, Read: 20 * time.Microsecond,
	Write: 50 * time.Microsecond, Notify: 5 * time.Microsecond}

// Timed is a chooser for measurements, not for finding bugs: things happen when they are due. Messages take random
// times but stay in order. There is one server, which takes one request after the other, so clients that come together
// wait for each other. There are no faults, connections are never lost, and transitions come in an order that a real
// ensemble might show on a good day. The cost of a step does not depend on the number of clients.
type Timed struct {
	Random
	Timing

	// Times is the time at which each step of the run happened.
	Times []time.Duration

	world *World
	queue dueQueue
	order uint64
	now   time.Duration
	free  time.Duration // when the server has finished what it has begun
	links []link        // by client
}

// link is what Timed knows about a client.
type link struct {
	requests []time.Duration // when those on their way to the server arrive
	arrivals []time.Duration // when messages on their way to the client arrive
	planned  []Transition    // in the queue
}

// due is something that will happen.
type due struct {
	at      time.Duration
	order   uint64
	t       Transition
	arrival bool // of a request at the server, which serves it when it is free
}

// dueQueue is a heap, the earliest first.
type dueQueue []due

func (q dueQueue) Len() int { return len(q) }
func (q dueQueue) Less(i, k int) bool {
	return q[i].at < q[k].at || q[i].at == q[k].at && q[i].order < q[k].order
}
func (q dueQueue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }
func (q *dueQueue) Push(x any)   { *q = append(*q, x.(due)) }
func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	*q = (*q)[:last]
	return d
}

// Choose implements [Chooser]. It fails with more than one server.
func (d *Timed) Choose(w *World) (Transition, bool, error) {
	if w.step == 0 {
		if len(w.servers) > 1 {
			return Transition{}, false, errors.New("sim: timed runs have one server")
		}
		d.begin(w)
	}
	if w.choosing != nil {
		d.Times = append(d.Times, d.now)
		return d.Random.Choose(w)
	}
	d.plan()
	for len(d.queue) > 0 {
		next := d.queue[0]
		if d.tick(next.at) {
			return Transition{Kind: Tick}, true, nil
		}
		heap.Pop(&d.queue)
		d.now = next.at
		if next.arrival {
			d.free = max(d.now, d.free) + d.cost(next.t)
			d.push(due{at: d.free, t: next.t})
			continue
		}
		return d.happen(next.t), true, nil
	}
	more := d.tick(math.MaxInt64)
	return Transition{Kind: Tick}, more, nil
}

func (d *Timed) begin(w *World) {
	d.world, d.queue, d.order, d.now, d.free = w, d.queue[:0], 0, 0, 0
	d.Times = d.Times[:0]
	d.links = slices.Grow(d.links[:0], len(w.clients))[:len(w.clients)]
	w.tracks, w.follows, w.listing = true, true, listing{}
	for i, c := range w.clients {
		l := &d.links[i]
		l.requests, l.arrivals, l.planned = l.requests[:0], l.arrivals[:0], l.planned[:0]
		c.invalidated = false
		c.invalidate()
	}
}

// tick reports whether a timer fires before something happens at that time. If so, it moves the time on to the timer.
func (d *Timed) tick(at time.Duration) bool {
	w := d.world
	if len(w.timers) == 0 {
		return false
	}
	fires := time.Duration(w.timers[0].at) * time.Millisecond
	if fires >= at {
		return false
	}
	d.now = max(d.now, fires)
	d.Times = append(d.Times, d.now)
	return true
}

// happen makes t the next step.
func (d *Timed) happen(t Transition) Transition {
	w, l := d.world, &d.links[t.Client-1]
	w.now = max(w.now, d.now.Milliseconds())
	l.planned = slices.DeleteFunc(l.planned, func(x Transition) bool { return x == t })
	switch t.Kind {
	case Deliver:
		l.arrivals = slices.Delete(l.arrivals, 0, 1)
	case Serve:
		l.requests = slices.Delete(l.requests, 0, 1)
	}
	d.Times = append(d.Times, d.now)
	return t
}

// plan looks at the clients that the last step has changed.
func (d *Timed) plan() {
	w := d.world
	for _, c := range w.invalidated {
		c.invalidated = false
		d.send(c)
		d.receive(c)
		c.moves = c.enabled(c.moves[:0])
		for _, t := range c.moves {
			d.schedule(c, t)
		}
	}
	w.invalidated = w.invalidated[:0]
}

// send puts new requests of c on their way.
func (d *Timed) send(c *Client) {
	l := &d.links[c.id-1]
	for len(l.requests) < len(c.wire) {
		l.requests = append(l.requests, later(l.requests, d.now+d.vary(d.Link)))
	}
}

// later returns when a message arrives that is sent after others.
func later(others []time.Duration, at time.Duration) time.Duration {
	if n := len(others); n > 0 {
		return max(at, others[n-1])
	}
	return at
}

// receive puts new messages to c on their way. Messages that are not answers are watch events, which the server sends
// one after the other.
func (d *Timed) receive(c *Client) {
	l := &d.links[c.id-1]
	for len(l.arrivals) < len(c.down) {
		sent := d.now
		if c.down[len(l.arrivals)].reply == nil {
			d.free = max(d.free, d.now) + d.Notify
			sent = d.free
		}
		l.arrivals = append(l.arrivals, later(l.arrivals, sent+d.vary(d.Link)))
	}
}

// schedule plans a transition, unless it is already planned.
func (d *Timed) schedule(c *Client, t Transition) {
	l := &d.links[c.id-1]
	if slices.Contains(l.planned, t) {
		return
	}
	x := due{t: t}
	switch t.Kind {
	case Run:
		x.at = d.now + d.vary(d.Think)
	case Connect:
		x.at = d.now + d.vary(d.Link)
	case Serve:
		x.at, x.arrival = max(d.now, l.requests[0]), true
	case Deliver:
		x.at = max(d.now, l.arrivals[0])
	default:
		return
	}
	l.planned = append(l.planned, t)
	d.push(x)
}

func (d *Timed) push(x due) {
	d.order++
	x.order = d.order
	heap.Push(&d.queue, x)
}

// cost returns the server's time for the next request of a client.
func (d *Timed) cost(t Transition) time.Duration {
	if d.world.clients[t.Client-1].wire[0].req.Op.IsWrite() {
		return d.Write
	}
	return d.Read
}

// vary draws a duration with that mean; half of it is fixed, half exponential. It computes the logarithm with integers,
// by straight lines between powers of two, because different machines round floating-point numbers differently.
func (d *Timed) vary(mean time.Duration) time.Duration {
	x := d.next() | 1
	zeros := bits.LeadingZeros64(x)
	fraction := x << zeros << 1 >> 48                            // of 65536
	log2 := time.Duration(zeros+1)<<16 - time.Duration(fraction) // -log2(x / 2^64), also of 65536
	const ln2 = 45426                                            // of 65536
	return mean/2 + mean/2*(log2*ln2>>16)>>16
}

// listing is the last list of children that was read. In a timed run with many clients they come together and all read
// the same list. The more of them there are, the longer it takes to make.
type listing struct {
	path string
	zxid int64
	res  model.Response
}

// readTimed executes a read. Several answers may share its lists, see childNames.
func (w *World) readTimed(s *server, c *Client, r *request) {
	l := &w.listing
	shared := r.req.Op == model.OpGetChildren2 && !r.req.Watch && len(c.auth) == 0
	if shared && l.path == r.req.Path && l.zxid == s.store.Zxid() && l.res.Err == model.OK {
		r.res = l.res
		return
	}
	s.store.Read(&c.conn, &r.req, &r.res)
	if shared {
		pack(r.res.Children)
		*l = listing{r.req.Path, s.store.Zxid(), r.res}
	}
}

// pack moves the names next to each other, in the order in which they will be read thousands of times. Otherwise most
// of a run's time goes into fetching them from all over the memory.
func pack(names []string) {
	all := strings.Join(names, "")
	for i, name := range names {
		names[i], all = all[:len(name)], all[len(name):]
	}
}

// childNames returns the children in an answer; they belong to the caller. In a timed run several requests may share
// the answer, and it must not keep them alive.
func (c *Client) childNames(r *request) []string {
	names := r.res.Children
	if c.w.follows {
		r.res.Children = nil
		return slices.Clone(names)
	}
	return names
}
