package sim

import (
	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// When a session moves to another server its old connection stays open, as with a real ensemble (seen with 3.8.0).
// There reads are answered and watches fire; the next write fails, and ends the connection without an answer, unless
// the leader refuses it before it looks for the session. At the leader, which knows where the session is, a read ends
// it as well. Such a connection is a separate client. Its number is above firstLeft, its name is what another
// connection of the process would have, and no fault strikes it.

// firstLeft is below the numbers of all connections that were left.
const firstLeft = 1 << 30

// Move is [Client.Reattach] for a remote client whose connection to another server stays open. The returned client
// replaces c from now on, with the same number and far end. c itself becomes the connection that was left, and left is
// its far end.
func (c *Client) Move(server int, seen int64, left Far) (*Client, error) {
	w := c.w
	if err := c.movable(server, seen); err != nil {
		return nil, err
	}
	n := &Client{w: w, id: c.id}
	n.host = n
	n.reset()
	n.far, n.session, n.sessions, n.timeout, n.orphans = c.far, c.session, c.sessions, c.timeout, c.orphans
	n.lastZxid, n.lastTxn, n.lefts = c.lastZxid, c.lastTxn, c.lefts+1
	n.owed = append(n.owed, c.owed...)
	if c.await != nil && c.await.req.Op.IsWrite() {
		n.owe(c.server, c.awaitTo)
	}
	c.told(zk.StateDisconnected)
	i, _ := w.place(c.id)
	w.clients[i] = n
	for k := len(w.clients) - 1; k >= 0 && w.clients[k].left > 0; k-- {
		if w.clients[k].host == c {
			w.clients[k].host = n
		}
	}
	w.lefts++
	c.id, c.left, c.host, c.far = firstLeft+w.lefts, n.lefts, n, left
	c.conn.Index = c.id
	c.slow, c.bound = false, -1
	w.clients = append(w.clients, c)
	n.attach(server)
	c.invalidate()
	return n, nil
}

// Left reports whether c is a connection that its session has left.
func (c *Client) Left() bool { return c.left > 0 }

// fenced reports whether a request on a connection that was left fails because the session is elsewhere. The end of a
// session is not checked for that, nor what fails anyway.
func (c *Client) fenced(r *model.Request) bool {
	if c.left == 0 || c.w.servers[c.server].deposed {
		return false
	}
	switch {
	case r.Op == model.OpCloseSession, c.w.leader().store.FailsAtOnce(r):
		return false
	case r.Op.IsWrite():
		return true
	}
	return c.server == c.w.lead && r.Op != model.OpAuth
}

// holders calls f with the clients that have a connection to server k with that session.
func (w *World) holders(k int, session int64, f func(c *Client)) {
	holds := func(c *Client) bool { return c.connected && c.server == k && c.session == session }
	if c := w.Owner(session); c != nil && holds(c) {
		f(c)
	}
	for i := len(w.clients) - 1; i >= 0 && w.clients[i].left > 0; i-- {
		if holds(w.clients[i]) {
			f(w.clients[i])
		}
	}
}
