package sim

import (
	"cmp"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// Far is the far end of the connection of a remote client. Such a client is neither simulated code nor the simulated
// library; the world knows only the requests that arrive. The methods of Far are called from within those of [World]
// and [Client], and must call none of these. They may keep what they are given.
type Far interface {
	// Reply gets the answer to the request that was sent with that tag.
	Reply(tag uint64, req *model.Request, res *model.Response)
	// Event gets a watch event.
	Event(ev model.Event)
	// End says that the connection has ended: by the server, by a fault, or because the session is elsewhere.
	End()
}

// Join adds a remote client to a world, numbered after all earlier ones. The client has no connection yet.
func (w *World) Join(far Far) *Client {
	w.joined++
	c := &Client{w: w, id: w.joined}
	c.host = c
	c.reset()
	c.far = far
	i, _ := w.place(c.id)
	w.clients = slices.Insert(w.clients, i, c)
	w.History.Clients, w.History.Finished = c.id, append(w.History.Finished, false)
	return c
}

// Leave removes a remote client that has no connection and no live session.
func (w *World) Leave(c *Client) {
	if i, found := w.place(c.id); found {
		w.clients = slices.Delete(w.clients, i, i+1)
	}
}

// place returns the index of a client in the list, which is ordered by number.
func (w *World) place(id int) (int, bool) {
	if 0 < id && id <= len(w.clients) && w.clients[id-1].id == id {
		return id - 1, true
	}
	return slices.BinarySearchFunc(w.clients, id, func(c *Client, id int) int { return cmp.Compare(c.id, id) })
}

// Client returns the client with that number, 1 for c1; nil if it has left.
func (w *World) Client(id int) *Client {
	if i, found := w.place(id); found {
		return w.clients[i]
	}
	return nil
}

// Remote reports whether the client has joined by [World.Join].
func (c *Client) Remote() bool { return c.far != nil }

// Open gives a remote client without a connection one to a server, with a new session. The timeout is in milliseconds.
// A session that the client still has goes on until its timeout. Open fails with [zk.ErrNoServer] if the server has no
// leader to ask.
func (c *Client) Open(server int, timeout int32) (session int64, err error) {
	s := c.w.servers[server]
	if s.deposed || s.frozen {
		return 0, zk.ErrNoServer
	}
	c.orphan(c.silent + int64(c.timeout))
	c.owed = c.owed[:0]
	c.timeout = timeout
	c.newSession(s, timeout)
	c.attach(server)
	return c.session, nil
}

// Spent reports whether a client has had all sessions whose ids can name it. The next one would be that of another.
func (c *Client) Spent() bool { return c.sessions >= 1<<sessionBits-1 }

// Orphaned reports whether a session of a remote client goes on although the client was given another one.
func (c *Client) Orphaned() bool { return len(c.orphans) > 0 }

// Reattach gives a remote client another connection, with its present session. Its old connection, if any, ends. It
// fails with [zk.ErrSessionExpired] if the session is over, and with [zk.ErrNoServer] if the server is cut off from
// its leader or has not applied all that the client has seen, up to the zxid seen.
func (c *Client) Reattach(server int, seen int64) error {
	if err := c.movable(server, seen); err != nil {
		return err
	}
	if c.connected {
		c.cut(true)
	}
	c.attach(server)
	if !c.w.leader().store.HasSession(c.session) { // a deposed leader does not know that it has ended
		c.w.History.Add(history.Event{Kind: history.Exceeded, Client: c.number(), Step: c.w.step})
	}
	return nil
}

// movable returns why a client cannot have its session at a server; nil if it can.
func (c *Client) movable(server int, seen int64) error {
	s := c.w.servers[server]
	if c.lastZxid = max(c.lastZxid, seen); c.ahead(s) || s.frozen { // it would have to ask its leader
		return zk.ErrNoServer
	}
	if c.session == 0 || !s.authority().store.HasSession(c.session) {
		return zk.ErrSessionExpired
	}
	return nil
}

func (c *Client) attach(server int) {
	c.bound, c.asks, c.late = -1, -1, c.late[:0]
	c.connected, c.hungup, c.server = true, false, server
	c.conn.Session, c.conn.Auth = c.session, loopback
	c.told(zk.StateHasSession)
	c.invalidate()
}

// Expired says that a remote client is told that its session has ended: its next session is a new one.
func (c *Client) Expired() {
	c.session, c.lastZxid, c.lastTxn = 0, 0, 0
	c.told(zk.StateExpired)
}

// told records a state of the session in the history.
func (c *Client) told(s zk.State) {
	c.w.History.Add(history.Event{Kind: history.Session, Client: c.number(), Step: c.w.step, Op: s.String(),
		Session: c.session})
}

// Send puts a request of a remote client, which must be connected, on its way to the server.
func (c *Client) Send(tag uint64, req model.Request) {
	w := c.w
	w.hash = hashRequest(w.hash, &req)
	w.History.Add(history.Event{Kind: history.Call, Client: c.number(), Step: w.step, Op: OpName(&req), Path: req.Path})
	r := &request{req: req, sent: true, tag: tag, far: true}
	if w.injector != nil && c.left == 0 {
		w.injector.Issued(c, &r.req)
	}
	c.wire = append(c.wire, r)
	c.invalidate()
}

// forward gives the far end a message.
func (c *Client) forward(m message) {
	if m.reply == nil {
		ev := m.event
		c.w.History.Add(history.Event{Kind: history.Notify, Client: c.number(), Step: c.w.step,
			Op: history.EventName(ev.Type), Path: ev.Path, Zxid: ev.Zxid})
		c.far.Event(ev)
		return
	}
	r := m.reply
	if r.res.Zxid > 0 {
		c.lastZxid, c.lastTxn = r.res.Zxid, m.at
	}
	c.w.History.Add(history.Event{Kind: history.Reply, Client: c.number(), Step: c.w.step, Op: OpName(&r.req),
		Path: answeredPath(r), Err: r.req.Refusal(&r.res).Err()})
	c.far.Reply(r.tag, &r.req, &r.res)
}

// unanswered records that the requests of a remote client whose connection ends get no answer.
func (c *Client) unanswered() {
	lost := func(r *request) {
		c.w.History.Add(history.Event{Kind: history.Reply, Client: c.number(), Step: c.w.step, Op: OpName(&r.req),
			Path: r.req.Path, Err: zk.ErrConnectionClosed})
	}
	for _, m := range c.down {
		if m.reply != nil {
			lost(m.reply)
		}
	}
	if c.await != nil {
		lost(c.await)
	}
	for _, r := range c.wire {
		lost(r)
	}
}

// parted tells the far end that the connection has ended.
func (c *Client) parted() {
	if c.left == 0 {
		c.told(zk.StateDisconnected)
	}
	c.far.End()
}

// Bound returns the server that a fault makes a remote client connect to next; -1 if there is none.
func (c *Client) Bound() int { return c.bound }

// Unbind lets a remote client connect to any server.
func (c *Client) Unbind() { c.bound = -1 }

// Arriving reports whether something is on its way to a remote client.
func (c *Client) Arriving() bool { return len(c.down) > 0 }

// Settled reports whether nothing is on its way between a remote client and its server.
func (c *Client) Settled() bool {
	return len(c.wire) == 0 && len(c.down) == 0 && c.await == nil
}

// Advance moves virtual time on to that many milliseconds after [Epoch]. Timers do not fire.
func (w *World) Advance(ms int64) { w.now = max(w.now, ms) }

// Perform makes one of the transitions of [World.Normal] or [World.Faults] happen.
func (w *World) Perform(t Transition) { w.perform(t) }

// Trim forgets the past that nobody will ask for any more: the schedule, the events of the history, and the txns that
// all servers have applied. Steps count from 0 again. For worlds that go on without end.
func (w *World) Trim() {
	w.schedule, w.hashes, w.step = w.schedule[:0], w.hashes[:0], 0
	w.History.Events = w.History.Events[:0]
	n := w.everywhere() - w.trimmed
	w.log = slices.Delete(w.log, 0, min(n, len(w.log)))
	w.trimmed += n
}
