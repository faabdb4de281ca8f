package sim

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// Within runs f. If ctx ends while a request of f is on its way, that request stays in the library and on the wire, and
// f goes on as if it had failed.
func (e Env) Within(ctx context.Context, f func()) bool {
	if ctx.Err() != nil {
		return false
	}
	g := e.c.here()
	g.within, g.left = ctx, false
	defer func() { g.within = nil }() // also if f panics
	f()
	return !g.left
}

// overdue reports whether g waits for an answer and may no longer do so.
func (g *coroutine) overdue() bool {
	return g.status == calling && g.within != nil && g.within.Err() != nil
}

// abandon makes those that wait for an answer of c go on without it.
func (c *Client) abandon() {
	for _, g := range c.host.coroutines {
		if g.status == calling && g.req.via == c {
			c.host.leaveRequest(g, zk.ErrConnectionClosed)
		}
	}
}

// leaveRequest lets the request of g go on without g, which continues with err. In go-zookeeper the request belongs to
// a separate goroutine. If it sets a watch, nobody has the channel.
func (c *Client) leaveRequest(g *coroutine, err error) {
	r := new(request)
	*r = g.req
	r.g = nil
	c = r.via // it may be another connection of the process
	for _, queue := range [...][]*request{c.unsent, c.wire} {
		for i, x := range queue {
			if x == &g.req {
				queue[i] = r
			}
		}
	}
	for i := range c.down {
		if c.down[i].reply == &g.req {
			c.down[i].reply = r
		}
	}
	if c.await == &g.req {
		c.await = r
	}
	if c.w.injector != nil {
		c.w.injector.Moved(c, &g.req.req, &r.req)
	}
	g.req.res = model.Response{} // r has the memory of the old response
	g.woke(-1, zk.Event{}, err)
	g.status, g.woken = runnable, true
}

// hearer returns the scope of the code that gets the channel of a watch; nil if none does.
func (r *request) hearer() *scope {
	if r.g == nil {
		return nil
	}
	return r.g.knows()
}

// unawaited handles an answer that no code waits for. AddAuth goes on in a separate goroutine of the library: its
// credentials are sent again after a reconnect.
func (c *Client) unawaited(r *request) {
	if r.req.Op == model.OpAuth && r.res.Err == model.OK {
		c.auth = append(c.auth, credential{r.req.Path, r.req.Data})
	}
}
