package serve

import (
	"slices"

	"zksim/model/history"
)

// chunks are the last events, up to a limit, the oldest ones first. Neither adding nor forgetting moves any, so that no
// step takes long because there are many.
type chunks struct {
	limit     int // 0: none are kept
	list      [][]history.Event
	forgotten int
}

// parts is in how many chunks there are at most, but for small limits: when there are too many events the oldest chunk
// is forgotten.
const parts = 16

// chunkLen is how many events a chunk has.
func (c *chunks) chunkLen() int { return max(1, min(c.limit/parts, 1<<12)) }

// add adds events.
func (c *chunks) add(events []history.Event) {
	for len(events) > 0 {
		last := len(c.list) - 1
		if last < 0 || len(c.list[last]) == cap(c.list[last]) {
			c.list = append(c.list, make([]history.Event, 0, c.chunkLen()))
			last++
		}
		n := min(len(events), cap(c.list[last])-len(c.list[last]))
		c.list[last] = append(c.list[last], events[:n]...)
		events = events[n:]
		if c.len() > c.limit {
			c.forgotten += len(c.list[0])
			c.list[0] = nil
			c.list = c.list[1:]
		}
	}
}

// len is how many there are.
func (c *chunks) len() int {
	if len(c.list) == 0 {
		return 0
	}
	return (len(c.list)-1)*c.chunkLen() + len(c.list[len(c.list)-1])
}

// snapshot returns them as they are now. What is added later changes nothing of it, so that it can be read while others
// add.
func (c *chunks) snapshot() chunks {
	x := *c
	x.list = slices.Clone(c.list)
	return x
}

// all returns a copy of them.
func (c *chunks) all() []history.Event {
	events := make([]history.Event, 0, c.len())
	for _, chunk := range c.list {
		events = append(events, chunk...)
	}
	return events
}
