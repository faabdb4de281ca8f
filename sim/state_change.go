package sim

import "slices"

// Change is what has happened to a client, whatever else was on its way to and from it.
type Change struct {
	after Part     // without what is on its way
	wire  []packet // packets that were sent
	heard bool     // a message has arrived
	cut   bool     // the connection was cut
}

// Change returns what has happened to the client between p and q; false if it could not also happen with something else
// on its way. With heard, the first message has arrived. With cut, the connection was cut if p had one and q has none.
func (p *Part) Change(q *Part, heard, cut bool) (*Change, bool) {
	c := &Change{after: *q, heard: heard, cut: cut && p.connected && !q.connected}
	if c.cut == (p.connected == q.connected) {
		return nil, false
	}
	if !c.cut {
		if len(q.wire) < len(p.wire) {
			return nil, false
		}
		c.wire = slices.Clone(q.wire[len(p.wire):])
	}
	c.after.watched, c.after.timers = slices.Clone(q.watched), slices.Clone(q.timers)
	c.after.wire, c.after.late, c.after.down = nil, nil, nil
	var x Part
	c.Apply(p, &x)
	return c, x.key == q.key
}

// Apply sets q to the part after the change has happened to p. It reuses q's memory for what is on its way.
func (c *Change) Apply(p, q *Part) {
	wire, late, down := q.wire[:0], q.late[:0], q.down[:0]
	*q = c.after
	switch {
	case c.cut:
		for _, x := range p.wire {
			if x.from = 0; x.lasting && !p.hungup && !p.seat.deposed {
				late = append(late, x)
			}
		}
	default:
		wire, late, down = append(append(wire, p.wire...), c.wire...), append(late, p.late...), append(down, p.down...)
		if c.heard {
			down = append(down[:0], p.down[1:]...)
		}
	}
	q.wire, q.late, q.down = wire, late, down
	q.seal()
}
