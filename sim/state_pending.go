package sim

import (
	"cmp"
	"context"
	"slices"

	"zksim/internal/hash"
)

// pending is a timer of a client that is set.
type pending struct {
	at  int64  // virtual time
	who uint64 // hash of what waits for it
}

// pending sets list to the timers of c in the order in which they fire.
func (c *Client) pending(list []pending) []pending {
	own := c.w.scratch[:0]
	for _, x := range c.w.timers {
		if x.owner() == c {
			own = append(own, x)
		}
	}
	slices.SortFunc(own, func(a, b *timer) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	for _, x := range own {
		list = append(list, pending{x.at, x.waiter()})
	}
	c.w.scratch = own[:0]
	return list
}

// waiter returns a hash of what waits for the timer: a coroutine, or a context.
func (t *timer) waiter() uint64 {
	if t.ctx == nil {
		return uint64(hash.Hash(1).Uint64(t.g.title))
	}
	c, h := t.ctx.client, hash.Hash(2)
	if len(c.coroutines) > 0 { // else nobody has the context
		h = h.Int(t.ctx.place()).Int(int64(t.ctx.at.Nanosecond())) // the timer is rounded up to milliseconds
		if c.w.Detail.Forget {
			h = h.Int(numberOf(t.ctx.scope))
		}
	}
	return uint64(h)
}

// place distinguishes a client's contexts whose timers are set: it is how many of them were made before d.
func (d *deadline) place() (n int64) {
	for _, t := range d.client.w.timers {
		if x := t.ctx; x != nil && x.client == d.client && x.timer.order < d.timer.order {
			n++
		}
	}
	return n
}

// deadlineKey is the key under which a context has its virtual deadline. Contexts derived from it inherit it.
type deadlineKey struct{}

// hashContext appends what code can find out about a context by itself, and when it will end.
func hashContext(h hash.Hash, ctx context.Context) hash.Hash {
	if err := ctx.Err(); err != nil {
		return h.Int(1).String(err.Error())
	}
	if d, ok := ctx.Value(deadlineKey{}).(*deadline); ok && d.timer.armed {
		return h.Int(2).Int(d.place())
	}
	return h.Int(3)
}
