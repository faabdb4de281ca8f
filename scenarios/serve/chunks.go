package serve

import (
	"slices"

	"zksim/model/history"
)

// chunks keep the last events, up to two limits, oldest first. Adding and forgetting move no events, so no step takes
// long because there are many.
type chunks struct {
	limit     int // 0: keep none
	maxBytes  int // limit of the bytes of their strings
	list      [][]history.Event
	sizes     []int // bytes of strings in each chunk
	bytes     int   // in all of them
	forgotten int
}

// parts limits the number of chunks, except for small limits of events. When there are too many events, the oldest
// chunk is forgotten.
const parts = 16

// chunkLen returns the number of events in a chunk.
func (c *chunks) chunkLen() int { return max(1, min(c.limit/parts, 1<<12)) }

// add adds events.
func (c *chunks) add(events []history.Event) {
	for len(events) > 0 {
		last := len(c.list) - 1
		if last < 0 || len(c.list[last]) == cap(c.list[last]) {
			c.list, c.sizes = append(c.list, make([]history.Event, 0, c.chunkLen())), append(c.sizes, 0)
			last++
		}
		n := min(len(events), cap(c.list[last])-len(c.list[last]))
		c.list[last] = append(c.list[last], events[:n]...)
		for i := range events[:n] {
			size := len(events[i].Path) + len(events[i].Data)
			c.sizes[last] += size
			c.bytes += size
		}
		events = events[n:]
		for c.len() > c.limit || c.bytes > c.maxBytes && len(c.list) > 1 {
			c.forgotten += len(c.list[0])
			c.bytes -= c.sizes[0]
			c.list[0] = nil
			c.list, c.sizes = c.list[1:], c.sizes[1:]
		}
	}
}

// len returns the number of events.
func (c *chunks) len() int {
	if len(c.list) == 0 {
		return 0
	}
	return (len(c.list)-1)*c.chunkLen() + len(c.list[len(c.list)-1])
}

// snapshot returns the current events. Later additions do not change the snapshot, so it can be read while others add.
func (c *chunks) snapshot() chunks {
	x := *c
	x.list, x.sizes = slices.Clone(c.list), nil
	return x
}

// all returns a copy of the events.
func (c *chunks) all() []history.Event {
	events := make([]history.Event, 0, c.len())
	for _, chunk := range c.list {
		events = append(events, chunk...)
	}
	return events
}
