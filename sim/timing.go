package sim

import "slices"

// timing is what of a client counts from now: when its timers fire, in milliseconds, and, without a
// connection, when its session can end.
type timing struct {
	timers []pending
	due    int64 // 0 where it does not count
}

// pending is a timer that is set.
type pending struct {
	in    int64
	who   uint64 // hash of who waits for it
	place int    // among those of the client for the same moment
}

// timing sets t to that of c. It uses the memory of t.
func (c *Client) timing(t *timing) {
	w := c.w
	t.timers, t.due = t.timers[:0], 0
	if w.Detail.Clock != NoClock && !c.connected {
		t.due = c.expiry() - w.now
	}
	for _, x := range w.timers {
		if x.owner() != c {
			continue
		}
		place := 0
		for _, y := range w.timers {
			if y.at == x.at && y.order < x.order && y.owner() == c {
				place++
			}
		}
		t.timers = append(t.timers, pending{x.at - w.now, x.holder(), place})
	}
}

// hash does not depend on the order of the timers.
func (t *timing) hash() uint64 {
	sum := uint64(0)
	for _, x := range t.timers {
		sum += mix(mix(uint64(x.in)^x.who) ^ uint64(x.place+1))
	}
	return sum ^ mix(uint64(t.due))
}

// Due returns after how many milliseconds the session of a client without a connection can end; 0 if at once, or
// if that does not count.
func (p *Part) Due() int64 { return max(0, p.timing.due) }

// Wait sets q to the part after that many milliseconds in which nothing has happened to it. It uses the memory of q
// for what is on its way.
func (p *Part) Wait(q *Part, milliseconds int64) {
	p.pass(q, p.wire, p.late, nil)
	if !q.connected {
		q.timing.due -= milliseconds
	}
	q.timing.timers = slices.Clone(q.timing.timers)
	for i := range q.timing.timers {
		q.timing.timers[i].in -= milliseconds
	}
	q.seal()
}
