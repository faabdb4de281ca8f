package sim

import (
	"cmp"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/model"
)

// rearm sends SetWatches. It goes to the back of the queue, so a read that was queued earlier is answered with new data
// before the watch event comes. More watches than fit into rearmLimit are sent in several requests. They are sent at
// once here; the library waits for each answer before it queues the next one.
func (c *Client) rearm() {
	if c.leaves {
		c.endWatches(zk.ErrConnectionClosed)
		return
	}
	list := c.inMapOrder()
	n, size := 0, 0
	for i, x := range list {
		if slices.ContainsFunc(list[:i], func(y watcher) bool { return y.kind == x.kind && y.path == x.path }) {
			continue
		}
		added := rearmPathLen + len(x.path)
		if n == 0 || size+added > rearmLimit {
			c.emptyRearm(n)
			n, size = n+1, rearmHeaderLen
		}
		size += added
		l := c.rearmed[n-1].req.Watches
		switch x.kind {
		case dataWatch:
			l.Data = append(l.Data, x.path)
		case existWatch:
			l.Exist = append(l.Exist, x.path)
		case childWatch:
			l.Child = append(l.Child, x.path)
		}
	}
	for _, r := range c.rearmed[:n] {
		if c.w.injector != nil {
			c.w.injector.Issued(c, &r.req)
		}
		c.wire = append(c.wire, r)
	}
}

// The length up to which the library fills a SetWatches, so that no server refuses it, and what it counts for the
// packet and for each path (conn.go, sendSetWatches).
const (
	rearmLimit     = 128 << 10
	rearmHeaderLen = 28
	rearmPathLen   = 4
)

// emptyRearm empties the n-th request of rearm, and makes it the first time.
func (c *Client) emptyRearm(n int) {
	if n == len(c.rearmed) {
		c.rearmed = append(c.rearmed, &request{req: model.Request{Watches: &model.WatchLists{}}})
	}
	r := c.rearmed[n]
	l := r.req.Watches
	*l = model.WatchLists{RelativeZxid: c.lastZxid, Data: l.Data[:0], Exist: l.Exist[:0], Child: l.Child[:0]}
	r.req = model.Request{Op: model.OpSetWatches, Watches: l}
}

// inMapOrder returns the watchers in an order that the run draws, since the library has them in a map. Watchers of one
// path and kind keep their order. Searches use an order that does not depend on which one was set first, which is in no
// state. The result is valid until the watchers change.
func (c *Client) inMapOrder() []watcher {
	if len(c.watchers) < 2 {
		return c.watchers
	}
	list := slices.Clone(c.watchers)
	if c.w.Order < FirstDrawn {
		slices.SortStableFunc(list, func(a, b watcher) int {
			if c.w.backward() {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
		})
		return list
	}
	salt := hash.Hash(hash.Mix(c.w.Order ^ uint64(c.id) ^ uint64(c.w.committed)<<16))
	place := func(x watcher) uint64 { return uint64(salt.Int(int64(x.kind)).String(x.path)) }
	slices.SortStableFunc(list, func(a, b watcher) int { return cmp.Compare(place(a), place(b)) })
	return list
}
