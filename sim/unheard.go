package sim

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// A watch that nobody hears any more, since the code has dropped its channel, makes messages that
// change nothing. With Detail.Unheard client and server forget it at once. In a real ensemble, and
// otherwise here, such a watch can make a difference in one way only: a client that comes back names
// it to the server, and is told of a change; if a read that was waiting for the connection has left
// another watch on that znode meanwhile, this one hears of a change from before the read.

// Sweeping is what Detail.Unheard has done in a run.
type Sweeping struct {
	Times   int      // how often a client with a connection has dropped watches
	Removed []uint64 // what servers have forgotten for that: hashes of watches
	// Dropped and Awaited are hashes of client and znode: where a watch was dropped, and where a
	// read that leaves one was waiting for a connection when there was one. It must not be
	// the same.
	Dropped, Awaited []uint64
	// Mistaken is how often code has waited for a channel, or has kept one, that it had dropped: what
	// it had said that it keeps (see recipes.Env, Forget) was not all.
	Mistaken int
}

// Sweeping returns what Detail.Unheard has done up to now. It is valid until the next step.
func (w *World) Sweeping() *Sweeping { return &w.sweeping }

// reset prepares for a run, keeping memory.
func (s *Sweeping) reset() {
	*s = Sweeping{Removed: s.Removed[:0], Dropped: s.Dropped[:0], Awaited: s.Awaited[:0]}
}

// sweep drops the watches that nobody hears, if there are any: from the library, from
// the server, and what the server has sent on their account.
func (c *Client) sweep() {
	s, ended := &c.w.sweeping, len(c.coroutines) == 0
	kept := c.watchers[:0]
	for _, x := range c.watchers {
		if !ended && x.scope.left() != nil {
			kept = append(kept, x)
		} else if !ended { // else it awaits nothing any more
			s.Dropped, c.buried = append(s.Dropped, c.place(x.path)), append(c.buried, x.ch)
		}
	}
	for _, g := range c.coroutines {
		for _, ch := range g.chans {
			c.unearth(ch)
		}
	}
	swept := len(kept) < len(c.watchers)
	clear(c.watchers[len(kept):])
	if c.watchers = kept; !swept || !c.connected {
		return
	}
	s.Times++
	c.down = slices.DeleteFunc(c.down, func(m message) bool { return m.isEvent() && !c.hears(m.event) })
	store := c.w.servers[c.server].store
	for _, x := range store.Watches(&c.conn) {
		if !c.wants(x) {
			store.Unwatch(&c.conn, x)
			s.Removed = append(s.Removed, watchPrint(x))
		}
	}
}

// unearth takes note of a channel that code still has.
func (c *Client) unearth(ch <-chan zk.Event) {
	if slices.ContainsFunc(c.buried, func(x chan zk.Event) bool { return x == ch }) {
		c.w.sweeping.Mistaken++
	}
}

// place returns a hash of the client and a path.
func (c *Client) place(path string) uint64 {
	d := digest(c.id)
	d.addString(path)
	return uint64(d)
}

func watchPrint(x model.Watch) uint64 {
	d := digest(bit(x.Child))
	d.addString(x.Path)
	return uint64(d)
}

// isEvent reports whether a message is one of a watch.
func (m *message) isEvent() bool { return m.reply == nil && !m.eof }

// hears reports whether code may get to know of an event on its way: there is a channel that it has,
// or an answer on its way may bring it one.
func (c *Client) hears(ev model.Event) bool {
	return slices.ContainsFunc(c.watchers, func(x watcher) bool {
		return x.path == ev.Path && x.kind.hears(ev.Type) && x.scope.left() != nil
	}) || c.arming(func(r *request) bool { return r.req.Path == ev.Path })
}

// wants is hears for what a server holds.
func (c *Client) wants(x model.Watch) bool {
	return slices.ContainsFunc(c.watchers, func(y watcher) bool { return x.Path == y.path && x.Child == (y.kind == childWatch) }) ||
		c.arming(func(r *request) bool { return r.req.Path == x.Path && x.Child == (r.watch == childWatch) })
}

// arming reports whether an answer on its way may bring code a channel by such a request.
func (c *Client) arming(such func(*request) bool) bool {
	return slices.ContainsFunc(c.down, func(m message) bool { return m.reply != nil && m.reply.watch != noWatch && such(m.reply) })
}

// Unheard returns the next step that is not there with Detail.Unheard, if there is one: a watch event that
// nobody hears arrives, or a SetWatches that names only such watches. It needs Detail.Forget.
func (w *World) Unheard() (Transition, bool) {
	for _, c := range w.clients {
		if c.connected && c.needless && len(c.wire) > 0 && c.wire[0] == &c.setWatches {
			return Transition{Serve, uint32(c.id), 0}, true
		}
		if len(c.down) == 0 || c.paused || c.slow {
			continue
		}
		if m := &c.down[0]; m.isEvent() && !c.hears(m.event) || c.needless && m.reply == &c.setWatches {
			return Transition{Deliver, uint32(c.id), 0}, true
		}
	}
	return Transition{}, false
}
